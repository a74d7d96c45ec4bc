"""An old value comes back through nothing: every kind of source is tried with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.compiler.make import (
    DEV,
    SESSION,
    at,
    fact,
    item,
    material,
    message,
    ran,
    request,
    said,
    stamp,
    task,
)
from tests.compiler.reading import sections, unmarked
from workbench.compiler import Compiled, EvidenceItem, Material, Staleness, WorktreeState, compile_package
from workbench.domain.contract import AcceptanceItem, Contract
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Act, Fact, Registry, Source
from workbench.domain.note import Guideline, Note
from workbench.domain.task import DoneItem, PendingItem, TaskState
from workbench.domain.trimming import Fate, Trim
from workbench.tokens import counter

O200K = counter("o200k")
OLD = fact("f000000001", "label.ink", "crimson", sources=(said(f"{SESSION}#m1", "crimson ink", 1),))
CHALLENGER = fact(
    "f000000002",
    "label.ink",
    "teal",
    state="proposed",
    day=5,
    sources=(said(f"{SESSION}#m7", "make the ink teal, not crimson", 5),),
)
SUCCESSOR = fact("f000000003", "label.ink", "teal", day=5, supersedes=("f000000001",))
UNSETTLED, SETTLED = [OLD, CHALLENGER], [OLD, SUCCESSOR]


def everywhere() -> Material:
    """The old value in every field that a person or an agent writes."""
    contract = Contract(
        objective="Print all labels in crimson.",
        targets=("art/crimson/",),
        acceptance=(AcceptanceItem(id="acc0000001", text="the label is crimson", evidence="a crimson print"),),
    )
    state = TaskState(
        updated_at=at(4),
        variables={"shade": "crimson", "note": "dark\ncrimson"},
        done=(DoneItem(id="d1", text="mixed crimson", at=at(2)),),
        pending=(PendingItem(id="p1", text="order crimson ink", qualifiers=("crimson only",), at=at(2)),),
    )
    trimmed = message(3, "a story")
    trim = Trim(id="t1", act="summarise", messages=("m3",), by=DEV, at=at(6), text="crimson it was")
    run = ran("e1", "make crimson", 2, excerpt="error: wanted crimson\nerror: got grey")
    claim = Evidence(id="e2", kind="claim", task="task000001", text="all crimson now", executor="agent:x", at=at(4))
    return material(
        task=task(contract, state, title="Crimson labels"),
        guidelines=(Guideline(id="g1", text="Love crimson."),),
        evidence=(EvidenceItem(run, True), EvidenceItem(claim, True), EvidenceItem(ran("e3", "cp crimson x", 0), True)),
        notes=(
            Note(id="n1", key="shade", value="crimson", written=stamp()),
            Note(id="n2", key="t", value={"ink": "crimson"}, kind="structure", written=stamp()),
        ),
        history=(
            item(message(1, "please")),
            item(message(2, "Done, everything is CRIMSON now.", origin="agent")),
            item(trimmed, Fate("summarised", "project", False, trim)),
            item(message(4, "Summary: crimson labels", origin="agent", kind="compaction")),
            item(message(5, "pinned: crimson is lovely\nreally"), Fate(memory="project", pinned=True)),
            item(message(6, "crimson rules", origin="human"), Fate(memory="guideline")),
            item(message(7, "make the ink teal, not crimson")),
            item(message(8, "unrelated words")),
        ),
        worktree=WorktreeState("crimson", "c" * 40, ("art/crimson/a.svg",)),
    )


def compiled(of: Material, facts: list[Fact], **options: object) -> Compiled:
    of = replace(of, registry=Registry(facts))
    outcome = compile_package(of, request(**({"budget": 9000} | options)), O200K)  # type: ignore[arg-type]
    assert isinstance(outcome, Compiled)
    return outcome


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("facts", [UNSETTLED, SETTLED], ids=["unsettled", "settled"])
@pytest.mark.parametrize("strategy", ["recent", "summary_recent", "evidence", "evidence_role"])
def test_the_old_value_stands_only_where_it_is_marked(facts: list[Fact], strategy: str, language: str) -> None:
    prompt = compiled(everywhere(), facts, strategy=strategy, language=language).prompt
    assert "crimson" in prompt.casefold()
    assert unmarked(prompt, "crimson") == []


def test_without_the_change_nothing_is_marked() -> None:
    prompt = compiled(everywhere(), [OLD]).prompt
    assert "history" not in prompt
    assert "- objective: Print all labels in crimson." in prompt


def test_an_unsettled_correction_goes_out_with_both_values_and_neither_as_holding() -> None:
    of = replace(everywhere(), task=task(Contract(objective="Print labels")))
    found = sections(compiled(of, UNSETTLED).prompt)
    told = "\n".join(found["settle"])
    assert "label.ink = crimson: challenged, do not build on it" in told
    assert "label.ink = teal: changed 2026-05-05 10:05 by the person, not yet confirmed" in told
    assert "label.ink" not in "\n".join(found["holds"])


def test_a_settled_one_leaves_the_new_value_alone() -> None:
    of = replace(everywhere(), task=task(Contract(objective="Print labels")))
    found = sections(compiled(of, SETTLED).prompt)
    assert "label.ink = teal" in found["holds"]
    assert found["settle"] == ["none"]


def test_what_is_left_out_says_so_and_what_is_needed_is_marked() -> None:
    package = compiled(everywhere(), SETTLED)
    reasons = {row.id: row.reason for row in package.manifest}
    left_out = {name for name, reason in reasons.items() if reason == "states_superseded"}
    assert left_out == {f"{SESSION}#{m}" for m in ("m1", "m2", "m4", "m7")} | {"t1", "n1", "n2", "e2"}
    mark = "history: was crimson, now teal since 2026-05-05 10:05"
    assert f"- ({mark}) objective: Print all labels in crimson." in package.prompt
    history = sections(package.prompt)["history"]
    assert any(mark in line and "m5" in line for line in history)
    assert "  really" in history
    assert "error: wanted crimson" in history


def test_a_message_cited_by_an_old_fact_is_left_out_whatever_it_says() -> None:
    of = material(history=(item(message(1, "as I said")), item(message(2, "something else"))))
    reasons = {row.id: row.reason for row in compiled(of, SETTLED).manifest}
    assert reasons[f"{SESSION}#m1"] == "states_superseded"
    assert reasons[f"{SESSION}#m2"] is None


def test_statements_and_reasons_of_what_holds_do_not_bring_it_back() -> None:
    new = SUCCESSOR.with_(statement="teal instead of crimson", reason="crimson faded")
    prompt = compiled(material(), [OLD, new], budget=9000).prompt
    assert "label.ink = teal" in prompt
    assert unmarked(prompt, "crimson") == []


def test_a_rejected_value_needs_its_key_beside_it() -> None:
    no = fact("f000000009", "label.glue", "acrylic", state="rejected")
    of = material(history=(item(message(1, "acrylic sheets")), item(message(2, "glue: acrylic"))))
    reasons = {row.id: row.reason for row in compiled(of, [no]).manifest}
    assert reasons[f"{SESSION}#m1"] is None
    assert reasons[f"{SESSION}#m2"] == "states_superseded"


@pytest.mark.parametrize(
    ("old", "new", "text", "states"),
    [
        (3000, 8080, "it took 3000 ms", False),
        (3000, 8080, "the port is 3000", True),
        (3000, 8080, "one port\nand 3000 rows", False),
        ("blue", "dark blue", "dark blue it is", False),
        ("blue", "dark blue", "blue it is", True),
        ("blue", "green", "a blueprint", False),
        ("BLUE", "green", "Blue!", True),
        ("蓝色", "绿色", "主题改成蓝色吧", True),
        ("蓝色", "绿色", "主题改成绿色吧", False),
        (True, False, "true enough", False),
        (True, False, "port = true", True),
        ("ｂｌｕｅ", "green", "blue", True),
    ],
)
def test_what_counts_as_stating_a_value(old: object, new: object, text: str, states: bool) -> None:
    chain = [fact("f1", "server.port", old), fact("f2", "server.port", new, day=2, supersedes=("f1",))]
    assert bool(Staleness(Registry(chain), ("workspace",)).stated(text)) is states


def test_a_value_that_another_key_holds_needs_its_own_key_beside_it() -> None:
    facts = [*SETTLED, fact("f9", "paper.edge", "crimson")]
    staleness = Staleness(Registry(facts), ("workspace",))
    assert not staleness.stated("the edge is crimson")
    assert staleness.stated("the ink is crimson")


def test_an_alias_names_the_key_too() -> None:
    old = Fact(id="f1", key="dye", value=7, acts=(Act(act="accepted", by=DEV, at=at(1)),), sources=(Source(by=DEV),))
    facts = [old, fact("f2", "label.ink", 8, supersedes=("f1",))]
    staleness = Staleness(Registry(facts, {"dye": "label.ink"}), ("workspace",))
    assert staleness.stated("dye 7")
    assert staleness.stated("ink 7")
    assert not staleness.stated("page 7")


def test_contested_values_both_go_to_settle() -> None:
    facts = [fact("f1", "a.b", "one", day=1), fact("f2", "a.b", "two", day=2)]
    told = sections(compiled(material(), facts).prompt)["settle"]
    assert [line for line in told if "contested" in line and "one" in line]
    assert [line for line in told if "contested" in line and "two" in line]


def test_an_agents_proposal_leaves_the_fact_holding_and_stands_beside_it() -> None:
    facts = [fact("f1", "a.b", "one"), proposal("fact")]
    package = compiled(material(), facts)
    found = sections(package.prompt)
    assert "a.b = one" in found["holds"]
    assert (
        "- a.b = two: proposed by agent:claude 2026-05-09 10:05, undecided; a.b = one holds until then"
        in found["settle"]
    )
    rows = {row.id: row for row in package.manifest}
    assert (rows["f2"].tier, rows["f2"].score) == (rows["f1"].tier, rows["f1"].score)


def proposal(kind: str) -> Fact:
    source = said("claude:x#y", "two", 9, by="agent:claude").with_(quote=None)
    return fact("f2", "a.b", "two", state="proposed", day=9, kind=kind, sources=(source,))


def test_a_proposed_constraint_is_kept_to_until_a_person_decides() -> None:
    package = compiled(material(), [proposal("constraint")])
    assert "keep to this until a person decides: a.b = two" in "\n".join(sections(package.prompt)["settle"])
    assert next(row for row in package.manifest if row.id == "f2").tier == "high"
    against = compiled(material(), [fact("f1", "a.b", "one", kind="constraint"), proposal("constraint")])
    assert {row.id: row.tier for row in against.manifest if row.id in ("f1", "f2")} == {
        "f1": "required",
        "f2": "required",
    }
    assert "- a.b = one" in sections(against.prompt)["keep"]
