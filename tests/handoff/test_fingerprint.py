"""What a package rests on, and each way in which it can cease to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.contract import Contract, VariableSpec
from workbench.domain.evidence import Evidence, FileHash
from workbench.domain.fact import Act, Fact, Registry, Source
from workbench.domain.note import Guideline, Note, Role
from workbench.domain.package import Difference
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, DoneItem, PendingItem, Started, Task, TaskState
from workbench.domain.trimming import Trim
from workbench.handoff.files import MOST_FILES, beneath, hashes, rests_on
from workbench.handoff.fingerprint import Basis, compare, files_of, take

AT = "2026-03-01T10:00:00Z"
STAMP = Stamp(by="human:dev", at=AT)


@dataclass(frozen=True)
class Held:
    evidence: Evidence
    valid: bool = True
    changed: tuple[str, ...] = ()


def fact(
    id_: str, value: object, *, accepted: bool = True, by: str = "human:dev", at: str = AT, **more: object
) -> Fact:
    acts = (Act(act="accepted", by=by, at=at),) if accepted else ()
    source = Source(type="session", by=by, at=at)
    return Fact(id=id_, key="ui.color", value=value, sources=(source,), acts=acts, observed_at=at, **more)  # type: ignore[arg-type]


def basis() -> Basis:
    state = TaskState(
        updated_at=AT,
        variables={"tool": "vite"},
        done=(DoneItem(id="d1", text="layout"),),
        pending=(PendingItem(id="p1", text="write tests"), PendingItem(id="p2", text="offered", accepted=False)),
    )
    task = Task(
        id="t1", slug="t", title="T", contract=Contract(objective="o", targets=("a.py",)), state=state, created=STAMP
    )
    build = Evidence(
        id="e1",
        kind="command",
        task="t1",
        argv=("npm", "test"),
        exit_code=0,
        files=(FileHash(path="a.py", sha256="1"),),
    )
    version = ArtifactVersion(number=1, sha256="a" * 64, size=3, path="out/x", made=STAMP)
    return Basis(
        task=task,
        registry=Registry([fact("f1", "blue")]),
        running=Attempt(id="r1", task="t1", executor="agent:claude", started=STAMP),
        guidelines=(Guideline(id="g1", text="never push"),),
        role=Role(id="ro", name="builder", responsibility="build"),
        notes=(Note(id="n1", key="api", value={"port": 1}, written=STAMP),),
        trims={"claude:s": (Trim(id="x1", act="drop", messages=("m1",), by="human:dev", at=AT),)},
        artifacts=(Artifact(id="ar", key="ui", task="t1", versions=(version,)),),
        evidence=(Held(build),),
        files={"a.py": "1" * 64, "gone.py": None},
        branch="main",
        head="c" * 40,
        sessions={"claude:s": 10},
    )


def changes(before: Basis, now: Basis) -> list[tuple[str, str, str | None, str | None]]:
    return [(d.code, d.subject, d.was, d.now) for d in compare(take(before), take(now))]


def with_state(**changed: object) -> Callable[[Basis], Basis]:
    return lambda b: replace(b, task=b.task.with_(state=b.task.state.with_(**changed)))


def with_facts(*facts: Fact) -> Callable[[Basis], Basis]:
    return lambda b: replace(b, registry=Registry(facts))


CASES: list[tuple[Callable[[Basis], Basis], list[tuple[str, str, str | None, str | None]]]] = [
    (with_facts(fact("f1", "blue", statement="it is blue")), [("fact_changed", "ui.color", "blue #", "blue #")]),
    (
        with_facts(fact("f1", "blue"), fact("f2", "green", at="2026-03-01T11:00:00Z", supersedes=("f1",))),
        [("fact_changed", "ui.color", "blue", "green")],
    ),
    (
        with_facts(fact("f1", "blue"), fact("f2", "green", accepted=False, at="2026-03-01T12:00:00Z")),
        [("fact_changed", "ui.color", "blue", "blue (challenged); green (proposed)")],
    ),
    (
        with_facts(fact("f1", "blue"), fact("f2", "green")),
        [("fact_contested", "ui.color", None, "blue | green")],
    ),
    (with_facts(), [("fact_changed", "ui.color", "blue", None)]),
    (
        lambda b: replace(b, guidelines=()),
        [("guideline_changed", "guideline of workspace: never push", "never push", None)],
    ),
    (
        lambda b: replace(b, role=Role(id="ro", name="builder", responsibility="build and test")),
        [("guideline_changed", "role builder", "build", "build and test")],
    ),
    (with_state(variables={"tool": "webpack"}), [("state_changed", "variable tool", "vite", "webpack")]),
    (
        with_state(pending=(), done=(DoneItem(id="d1", text="layout"), DoneItem(id="p1", text="write tests"))),
        [("state_changed", "item p1", "pending: write tests", "done (reported): write tests")],
    ),
    (
        with_state(pending=(PendingItem(id="p1", text="write tests", started=Started(by="agent:claude", at=AT)),)),
        [("state_changed", "item p1", "pending: write tests", "pending, started: write tests")],
    ),
    (
        lambda b: replace(b, notes=(Note(id="n2", key="api", value={"port": 2}, supersedes=("n1",), written=STAMP),)),
        [("note_changed", "note api", '{"port":1}', '{"port":2}')],
    ),
    (
        lambda b: replace(b, trims={"claude:s": (*b.trims["claude:s"], trim("x2", "drop", "m2", after="x1"))}),
        [("trim_changed", "cuts of claude:s", "1 drop", "2 drop")],
    ),
    (
        lambda b: replace(
            b, task=b.task.with_(plan_revision=2, contract=b.task.contract.with_(variables={"n": VariableSpec()}))
        ),
        [("contract_revised", "contract", "revision 1", "revision 2")],
    ),
    (
        lambda b: replace(b, files={"a.py": "2" * 64, "gone.py": None}),
        [("file_changed", "a.py", "1" * 12, "2" * 12)],
    ),
    (lambda b: replace(b, files={"gone.py": None}), [("file_missing", "a.py", "1" * 12, None)]),
    (
        lambda b: replace(b, files={**b.files, "gone.py": "3" * 64}),
        [("file_changed", "gone.py", None, "3" * 12)],
    ),
    (lambda b: replace(b, branch="other"), [("branch_or_head_moved", "branch", "main", "other")]),
    (lambda b: replace(b, head="d" * 40), [("branch_or_head_moved", "HEAD", "c" * 12, "d" * 12)]),
    (lambda b: replace(b, worktree="side"), [("branch_or_head_moved", "worktree", None, "side")]),
    (
        lambda b: replace(
            b,
            artifacts=(
                b.artifacts[0].with_(
                    versions=(*b.artifacts[0].versions, ArtifactVersion(number=2, sha256="b", size=1, made=STAMP))
                ),
            ),
        ),
        [("artifact_superseded", "artifact ui (ar)", "version 1", "version 2")],
    ),
    (
        lambda b: replace(b, evidence=(Held(b.evidence[0].evidence, False, ("a.py",)),)),
        [("evidence_stale", "npm test (e1)", "exit 0, holds", "exit 0, stale: a.py")],
    ),
    (
        lambda b: replace(b, running=None),
        [("attempt_not_current", "running attempt", "r1 by agent:claude", None)],
    ),
    (
        lambda b: replace(b, sessions={"claude:s": None}),
        [("source_session_missing", "claude:s", "present", None)],
    ),
    (lambda b: replace(b, sessions={"claude:s": 12}), [("new_messages", "claude:s", "10", "12")]),
]


def trim(id_: str, act: str, message: str, after: str | None = None) -> Trim:
    return Trim(id=id_, after=after, act=act, messages=(message,), by="human:dev", at=AT)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "expected"), CASES, ids=lambda value: value[0][0] if isinstance(value, list) else ""
)
def test_each_change_is_named_by_its_code(
    change: Callable[[Basis], Basis], expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    found = changes(basis(), change(basis()))
    if expected[0][2] == "blue #":  # the same to the eye: the digests tell them apart
        assert [(f[0], f[1]) for f in found] == [(expected[0][0], expected[0][1])]
        assert found[0][2] != found[0][3]
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("change", "expected"), CASES, ids=lambda value: value[0][0] if isinstance(value, list) else ""
)
def test_only_new_messages_go_on(
    change: Callable[[Basis], Basis], expected: list[tuple[str, str, str | None, str | None]]
) -> None:
    stops = [d.stops for d in compare(take(basis()), take(change(basis())))]
    assert stops == [expected[0][0] != "new_messages"]


def test_nothing_changed_nothing_said() -> None:
    assert compare(take(basis()), take(basis())) == ()


LATER = "2027-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "change",
    [
        with_state(updated_at=LATER, pending=(PendingItem(id="p1", text="write tests", at=LATER),)),
        with_state(pending=(PendingItem(id="p1", text="write tests"), PendingItem(id="p9", text="x", accepted=False))),
        with_facts(fact("f1", "blue").with_(sources=(Source(by="human:dev", at=AT), Source(by="agent:x", at=LATER)))),
        lambda b: replace(
            b,
            trims={
                "claude:s": (
                    *b.trims["claude:s"],
                    trim("x2", "drop", "m2", "x1"),
                    trim("x3", "pin", "m3", "x2"),
                    trim("x4", "restore", "m2", "x3"),
                    trim("x5", "unpin", "m3", "x4"),
                )
            },
        ),
    ],
    ids=["times", "offers", "one more source", "cut and restored"],
)
def test_what_leaves_the_content_alone_makes_no_difference(change: Callable[[Basis], Basis]) -> None:
    assert changes(basis(), change(basis())) == []


def test_a_session_that_comes_back_does_not_stop() -> None:
    away = replace(basis(), sessions={"claude:s": None})
    assert compare(take(away), take(basis())) == (
        Difference(code="new_messages", subject="claude:s", was=None, now="present", stops=False),
    )


def test_contested_before_and_settled_now_is_a_changed_fact() -> None:
    contested = replace(basis(), registry=Registry([fact("f1", "blue"), fact("f2", "green")]))
    settled = replace(basis(), registry=Registry([fact("f1", "blue"), fact("f2", "green", supersedes=("f1",))]))
    assert [d.code for d in compare(take(contested), take(settled))] == ["fact_changed"]


def test_values_are_readable_however_long() -> None:
    long = replace(basis(), registry=Registry([fact("f1", "x" * 5000)]))
    longer = replace(basis(), registry=Registry([fact("f1", "x" * 5000 + "y")]))
    (difference,) = compare(take(long), take(longer))
    assert difference.was != difference.now
    assert len(difference.was or "") < 120


def test_files_beneath_targets(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "node_modules").mkdir()
    for name in ("src/a.py", "src/deep/b.py", "src/node_modules/x.js", "out.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "src" / "link").symlink_to("/etc")
    (tmp_path / "src" / "passwd").symlink_to("/etc/passwd")
    watched = beneath(tmp_path, ("src/", "missing.py", "../outside", "/etc/passwd"))
    assert watched.paths == ("missing.py", "src/a.py", "src/deep/b.py")
    assert watched.left_off == ()
    assert beneath(tmp_path, (".",)).paths == ("out.txt", "src/a.py", "src/deep/b.py")


def test_files_are_taken_from_contract_evidence_artifacts_and_before(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    made = basis()
    watched = rests_on(tmp_path, made.task, made.evidence, made.artifacts, ("old.py", "/abs", "../up"))
    assert watched.paths == ("a.py", "old.py", "out/x")
    found = hashes(tmp_path, watched.paths)
    assert found["old.py"] is None
    assert len(found["a.py"] or "") == 64
    assert files_of(take(replace(made, files=found))) == watched.paths


def test_a_huge_folder_is_left_off_by_name(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}").touch()
    watched = beneath(tmp_path, (".",))
    assert len(watched.paths) == MOST_FILES
    assert watched.left_off == (".",)
