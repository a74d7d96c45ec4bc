"""Two copies of a workspace merge record by record: in either order the same, nothing lost, contradictions shown."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task
from tests.store.test_workspace import envelope, event
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Act, Alias, Source
from workbench.domain.ids import new_id
from workbench.domain.note import Note
from workbench.domain.record import Stamp
from workbench.domain.task import DoneItem, PendingItem
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, RefusedError, UsageError, VersionConflictError
from workbench.services import handover, merging, packages, tasks
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.store import Workspace
from workbench.store.form import storable

STAMP = Stamp(by=PERSON, at=AT)


def opened(folder: Path) -> Context:
    return open_context(folder, env=os.environ)


def put(folder: Path, *records: Any) -> None:
    with opened(folder).workspace.transaction(PERSON, "put") as tx:
        for record in records:
            tx.put(record)


def merged(folder: Path, other: Path) -> merging.Merged:
    return merging.merge_copy(opened(folder), other)


def picture(folder: Path) -> dict[str, Any]:
    """All that a copy says, but in which order its lines came there."""
    workspace = opened(folder).workspace
    records = workspace.load()
    kinds = ("tasks", "attempts", "facts", "notes", "artifacts", "aliases")
    return {
        **{kind: storable(workspace.documents(kind)) for kind in kinds},
        "evidence": records.evidence,
        "trims": dict(records.trims),
        "packages": dict(records.packages),
        "prompts": {name: workspace.prompt(name) for name in records.packages},
        "blobs": workspace.blobs(),
        "log": sorted(change.id for change in workspace.changes() if not change.command.startswith("merge")),
        "damaged": records.damaged,
    }


@pytest.fixture
def copies(tmp_path: Path) -> Callable[[Callable[[Path], None], Callable[[Path], None]], tuple[Path, Path]]:
    """Two copies of one beginning, each changed by itself, merged both ways: the two results."""

    def make(ours: Callable[[Path], None], theirs: Callable[[Path], None]) -> tuple[Path, Path]:
        base = tmp_path / "base"
        if not base.exists():
            base.mkdir()
            init(base, env=os.environ)
        one, other = tmp_path / "one", tmp_path / "other"
        for folder, change in ((one, ours), (other, theirs)):
            shutil.copytree(base, folder)
            change(folder)
        before = [tmp_path / "one before", tmp_path / "other before"]
        for folder, kept in zip((one, other), before, strict=True):
            shutil.copytree(folder, kept)
        merged(one, before[1])
        merged(other, before[0])
        return one, other

    return make


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    init(folder, env=os.environ)
    return folder


Copies = Callable[[Callable[[Path], None], Callable[[Path], None]], tuple[Path, Path]]


def test_different_records_of_every_kind_all_survive(base: Path, copies: Copies) -> None:
    task = make_task()
    put(base, task)

    def change(folder: Path) -> None:
        name = folder.name
        fact = make_fact(f"key.{name}", name)
        note = Note(id=new_id(), key=f"note.{name}", value=[name], written=STAMP)
        with opened(folder).workspace.transaction(PERSON, "all") as tx:
            for record in (make_task(name), fact, note, Alias(id=new_id(), alias=f"a-{name}", canonical="shelf")):
                tx.put(record)
            tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, text=name, at=AT))
            tx.append_trim("claude:S", Trim(id=new_id(), act="drop", messages=(name,), by=PERSON, at=AT))
            package = envelope(task.id)
            tx.add_package(package, f"prompt of {name}".encode(), event())
            tx.append_status(package.id, event("rejected"))
            tx.put_blob(name.encode())

    one, other = copies(change, change)
    assert picture(one) == picture(other)
    records = opened(one).workspace.load()
    assert sorted(t.title for t in records.tasks.values()) == ["Build the shelf", "one", "other"]
    assert len(records.facts) == len(records.notes) == len(records.aliases) == len(records.packages) == 2
    assert sorted(line.text for line in records.evidence) == ["one", "other"]
    assert sorted(m for line in records.trims["claude:S"] for m in line.messages) == ["one", "other"]
    assert len(opened(one).workspace.blobs()) == 2
    assert records.damaged == ()


def test_different_fields_of_one_record_are_both_taken(base: Path, copies: Copies) -> None:
    task = make_task("Old")
    pending = tuple(PendingItem(id=new_id(), text=text, at=AT) for text in ("a", "b"))
    put(base, task.with_(state=task.state.with_(pending=pending)))

    def rename(folder: Path) -> None:
        now = opened(folder).workspace.load().tasks[task.id]
        more = PendingItem(id=new_id(), text="c", at="2026-03-01T11:00:00Z")
        put(folder, now.with_(title="New", state=now.state.with_(pending=(*now.state.pending, more))))

    def finish(folder: Path) -> None:
        now = opened(folder).workspace.load().tasks[task.id]
        done = (DoneItem(id=new_id(), text="a", at=AT),)
        put(folder, now.with_(slug="slug-2", state=now.state.with_(pending=now.state.pending[1:], done=done)))

    one, other = copies(rename, finish)
    assert picture(one) == picture(other)
    after = opened(one).workspace.load().tasks[task.id]
    assert (after.title, after.slug, after.contests) == ("New", "slug-2", {})
    assert [item.text for item in after.state.pending] == ["b", "c"]
    assert [item.text for item in after.state.done] == ["a"]
    assert after.version == 3


def test_one_field_changed_on_both_sides_is_contested(base: Path, copies: Copies) -> None:
    fact = make_fact("shelf.width", "80 cm")
    put(base, fact)

    def to(value: str) -> Callable[[Path], None]:
        return lambda folder: put(folder, opened(folder).workspace.load().facts[fact.id].with_(value=value))

    one, other = copies(to("90 cm"), to("70 cm"))
    assert picture(one) == picture(other)
    after = opened(one).workspace.load().facts[fact.id]
    claims = after.contests["value"]
    assert {claim.value for claim in claims} == {"90 cm", "70 cm"}
    smallest = min(claims, key=lambda claim: claim.change)
    assert (claims[0], after.value) == (smallest, smallest.value)
    known = {change.id for change in opened(one).workspace.changes()}
    assert {claim.change for claim in claims} <= known


def test_whoever_sets_a_contested_field_decides_it(base: Path, copies: Copies) -> None:
    task = make_task("Old")
    put(base, task)

    def change(folder: Path) -> None:
        put(folder, task.with_(title=f"Title {folder.name}", slug=f"slug-{folder.name}"))

    one, other = copies(change, change)
    now = opened(one).workspace.load().tasks[task.id]
    assert set(now.contests) == {"title", "slug"}
    put(one, now.with_(title="Decided"))
    after = opened(one).workspace.load().tasks[task.id]
    assert (after.title, set(after.contests)) == ("Decided", {"slug"})
    merged(other, one)
    assert opened(other).workspace.load().tasks[task.id] == after


def test_the_same_change_on_both_sides_contests_nothing(base: Path, copies: Copies) -> None:
    fact = make_fact("shelf.width", "80 cm", sources=(Source(by=PERSON, at=AT),))
    put(base, fact)

    def same(folder: Path) -> None:
        mine = Source(type="file", ref=folder.name, at=AT)
        now = opened(folder).workspace.load().facts[fact.id]
        put(folder, now.with_(value="90 cm", sources=(*now.sources, mine)))

    one, other = copies(same, same)
    assert picture(one) == picture(other)
    after = opened(one).workspace.load().facts[fact.id]
    assert (after.value, after.contests) == ("90 cm", {})
    assert sorted(source.ref or "" for source in after.sources) == ["", "one", "other"]


def test_two_successors_of_one_fact_are_contested(base: Path, copies: Copies) -> None:
    accepted = (Act(act="accepted", by=PERSON, at=AT),)
    blue = make_fact("ui.color", "blue", acts=accepted)
    put(base, blue)

    def succeed(folder: Path) -> None:
        put(folder, make_fact("ui.color", folder.name, acts=accepted, supersedes=(blue.id,)))

    one, other = copies(succeed, succeed)
    assert picture(one) == picture(other)
    registry = opened(one).workspace.load().registry
    assert sorted(str(head.value) for head in registry.heads("ui.color")) == ["one", "other"]
    assert {registry.lifecycle(head.id) for head in registry.heads("ui.color")} == {"contested"}
    assert registry.lifecycle(blue.id) == "superseded"


def test_what_is_contested_is_told(base: Path, tmp_path: Path) -> None:
    accepted = (Act(act="accepted", by=PERSON, at=AT),)
    note = Note(id=new_id(), key="plan", value="a", written=STAMP)
    put(base, note)
    other = tmp_path / "other"
    shutil.copytree(base, other)
    for folder in (base, other):
        put(folder, make_fact("ui.color", folder.name, acts=accepted), note.with_(value=folder.name))
    done = merged(base, other)
    assert {(row.record, row.field) for row in done.contested if row.record.startswith("notes")} == {
        (f"notes/{note.id}", "value")
    }
    (about,) = [row for row in done.contested if row.record.startswith("facts")]
    assert (about.field, {claim["value"] for claim in about.claims}) == ("ui.color", {"base", "other"})
    assert merged(base, other).contested == [row for row in done.contested if row.record.startswith("notes")]


def test_two_running_attempts_are_contested_until_a_person_ends_one(base: Path, copies: Copies) -> None:
    task = make_task()
    put(base, task)

    def take(folder: Path) -> None:
        ctx = opened(folder)
        tasks.take(ctx, ctx.workspace.load().tasks[task.id], executor=f"agent:{folder.name}")

    one, other = copies(take, take)
    assert picture(one) == picture(other)
    ctx = opened(one)
    after = ctx.workspace.load().tasks[task.id]
    both = {claim.value for claim in after.contests["running"]}
    assert both == set(ctx.workspace.load().attempts)
    assert after.running == after.contests["running"][0].value
    with pytest.raises(VersionConflictError):
        tasks.take(ctx, after)
    with pytest.raises(RefusedError):
        tasks.close(ctx, after, "complete", "done")
    kept = next(iter(both - {after.running}))
    tasks.end_attempt(ctx, ctx.workspace.load().attempts[str(after.running)], "cancelled", "the other goes on")
    settled = ctx.workspace.load().tasks[task.id]
    assert (settled.running, settled.contests) == (kept, {})
    # The decision reaches the other copy like any other change.
    merged(other, one)
    assert opened(other).workspace.load().tasks[task.id] == settled


def test_while_the_running_attempt_is_contested_nothing_is_handed_over(base: Path, copies: Copies) -> None:
    ctx = opened(base)
    task = tasks.new(ctx, {"title": "Shelf", "objective": "build it"})
    waiting = packages.prepare(ctx, task, "codex")

    def take(folder: Path) -> None:
        there = opened(folder)
        tasks.take(there, there.workspace.load().tasks[task.id], executor=f"agent:{folder.name}")

    one, _ = copies(take, take)
    ctx = opened(one)
    now = ctx.workspace.load()
    both = [claim.value for claim in now.tasks[task.id].contests["running"]]
    with pytest.raises(RefusedError) as caught:
        handover.confirm(ctx, waiting.id, "print", override="whatever changed")
    assert "contested" in caught.value.message
    assert sorted(caught.value.details["contested"]) == sorted(both)
    assert ctx.workspace.load().packages[waiting.id].status == "pending"
    tasks.end_attempt(ctx, now.attempts[str(both[1])], "cancelled", "the other goes on")
    assert ctx.workspace.load().tasks[task.id].running == both[0]
    assert handover.confirm(ctx, waiting.id, "print", override="the attempt").package.status == "launched"


def test_an_attempt_that_ended_elsewhere_does_not_contest(base: Path, copies: Copies) -> None:
    task = make_task()
    put(base, task)
    tasks.take(opened(base), task, executor="agent:first")

    def hand_on(folder: Path) -> None:
        ctx = opened(folder)
        now = ctx.workspace.load()
        tasks.end_attempt(ctx, now.attempts[str(now.tasks[task.id].running)], "cancelled", "")
        if folder.name == "one":
            tasks.take(ctx, ctx.workspace.load().tasks[task.id], executor="agent:second")

    one, other = copies(hand_on, hand_on)
    after = opened(one).workspace.load()
    running = after.tasks[task.id].running
    assert "running" not in after.tasks[task.id].contests
    assert running is not None
    assert after.attempts[running].executor == "agent:second"
    assert opened(other).workspace.load().tasks[task.id] == after.tasks[task.id]


def test_merging_again_finds_nothing_new(base: Path, copies: Copies) -> None:
    task = make_task("Old")
    put(base, task)

    def title(folder: Path) -> None:
        put(folder, opened(folder).workspace.load().tasks[task.id].with_(title=folder.name))

    one, other = copies(title, title)
    settled = picture(one)
    count = len(list(opened(one).workspace.changes()))
    again = merged(one, other)
    assert again.records == again.lines == again.contents == 0
    assert picture(one) == settled
    merged(one, other)
    assert len(list(opened(one).workspace.changes())) == count + again.changes + 1
    # What is decided afterwards in one copy goes over to the other, and stays decided.
    now = opened(one).workspace.load().tasks[task.id]
    assert now.contests
    put(one, now.with_(title="Decided", contested=msgspec.UNSET))
    merged(other, one)
    after = opened(other).workspace.load().tasks[task.id]
    assert (after.title, after.contests) == ("Decided", {})


def test_the_logs_fold_and_the_newest_come_first(base: Path, copies: Copies) -> None:
    put(base, make_task())
    one, other = copies(lambda f: put(f, make_fact("a", f.name)), lambda f: put(f, make_fact("b", f.name)))
    changes = list(opened(one).workspace.changes())
    assert [c.command.split()[0] for c in changes] == ["merge", "put", "put", "put"]
    assert {c.id for c in changes[1:]} == {c.id for c in list(opened(other).workspace.changes())[1:]}
    assert not any(c.taken_in for c in changes)


def test_what_one_copy_took_back_is_gone_unless_the_other_changed_it(base: Path, copies: Copies) -> None:
    untouched, changed = make_fact("a"), make_fact("b")
    put(base, untouched, changed)

    def remove(folder: Path) -> None:
        with opened(folder).workspace.transaction(PERSON, "undo") as tx:
            tx.remove("facts", untouched.id)
            tx.remove("facts", changed.id)

    one, other = copies(remove, lambda f: put(f, changed.with_(value="later")))
    for folder in (one, other):
        assert {f.id: f.value for f in opened(folder).workspace.load().facts.values()} == {changed.id: "later"}


def test_the_same_alias_in_both_copies_is_one_record(base: Path, copies: Copies) -> None:
    def name(folder: Path) -> None:
        put(folder, Alias(id=new_id(), alias="w", canonical=f"to.{folder.name}"))

    one, other = copies(name, name)
    assert picture(one) == picture(other)
    (alias,) = opened(one).workspace.load().aliases.values()
    assert {claim.value for claim in alias.contests["canonical"]} == {"to.one", "to.other"}


def test_damage_on_either_side_is_told_and_kept(base: Path, tmp_path: Path) -> None:
    mine, theirs, fine = make_fact("a", 1), make_fact("b", 1), make_fact("c", 1)
    put(base, mine, theirs, fine)
    other = tmp_path / "other"
    shutil.copytree(base, other)
    put(other, mine.with_(value=2), fine.with_(value=2))
    broken = base / ".workbench" / "facts" / "a" / f"{mine.id}.json"
    broken.write_bytes(b"<<<<<<< mine\n")
    (other / ".workbench" / "facts" / "b" / f"{theirs.id}.json").write_bytes(b"")
    done = merged(base, other)
    assert {damage.path for damage in done.damaged} == {f"facts/a/{mine.id}.json", f"other/facts/b/{theirs.id}.json"}
    assert broken.read_bytes() == b"<<<<<<< mine\n"
    facts = opened(base).workspace.load().facts
    assert {f.key: f.value for f in facts.values()} == {"b": 1, "c": 2}


def test_what_a_killed_writer_committed_in_the_other_copy_is_taken(base: Path, tmp_path: Path) -> None:
    from tests.store.test_faults import committed_only

    task = make_task("Old")
    put(base, task)
    other = tmp_path / "other"
    shutil.copytree(base, other)
    committed_only(opened(other).workspace, task.with_(title="Committed"))
    before = sorted(p for p in other.rglob("*"))
    merged(base, other)
    assert opened(base).workspace.load().tasks[task.id].title == "Committed"
    assert sorted(p for p in other.rglob("*")) == before


def test_only_a_person_merges_and_only_another_copy(base: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        merged(base, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError):
        merged(base, tmp_path / "empty")
    with pytest.raises(UsageError):
        merged(base, base)
    ctx = opened(base)
    agent = replace(ctx, actor=replace(ctx.actor, name="agent:claude"))
    with pytest.raises(RefusedError):
        merging.merge_copy(agent, tmp_path / "empty")


def test_a_backup_of_the_folder_alone_is_a_copy(base: Path, tmp_path: Path) -> None:
    fact = make_fact("a", 1)
    put(base, fact)
    shutil.copytree(base / ".workbench", tmp_path / "backup")
    put(base, fact.with_(value=2))
    merged(base, tmp_path / "backup")
    assert opened(base).workspace.load().facts[fact.id].value == 2
    Workspace.open(merging.copy_at(opened(base), tmp_path / "backup"), read_only=True).load()


@pytest.mark.parametrize("place", ["blobs/FILE", "blobs", "history/FILE", "history", "evidence/FILE", "facts/FILE",
                                   "packages/FILE/prompt.md", "tasks"])  # fmt: skip
def test_a_link_in_the_other_copy_is_told_and_left_and_the_rest_is_taken(
    base: Path, tmp_path: Path, place: str
) -> None:
    """Whatever lies behind it may be anybody's: it is not opened."""
    other, outside = tmp_path / "other", tmp_path / "outside"
    shutil.copytree(base, other)
    outside.mkdir()
    (outside / "f").write_text('{"id": "0123456789", "text": "of somebody else"}\n')
    fact = make_fact("theirs", 1)
    put(other, fact)
    name = "a" * 64 if place.startswith("blobs") else f"{fact.id}.jsonl"
    if place == "facts/FILE":
        name = "linked"
    if place.startswith("packages"):
        task = make_task()
        made = envelope(task.id)
        put(other, task)
        with opened(other).workspace.transaction(PERSON, "package") as tx:
            tx.add_package(made, b"hello", event())
        name = made.id
    link = other / ".workbench" / place.replace("FILE", name)
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "f" if "FILE" in place else outside)
    done = merged(base, other)
    (told,) = [damage for damage in done.damaged if damage.path.startswith(f"other/{place.split('/')[0]}")]
    assert "link" in told.message
    assert opened(base).workspace.load().facts[fact.id].value == 1
    everything = b"".join(p.read_bytes() for p in (base / ".workbench").rglob("*") if p.is_file())
    assert b"somebody else" not in everything


def test_copies_of_messages_of_both_are_kept(base: Path, copies: Copies) -> None:
    def keep(folder: Path) -> None:
        line = {"id": f"m-{folder.name}", "session": "claude:1", "text": "token ghp_" + "a1" * 18}
        path = folder / ".workbench" / "history" / "claude.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b'{"id": "both"}\n' + msgspec.json.encode(line) + b"\n")
        put(folder, make_fact(folder.name, 1))

    one, other = copies(keep, keep)
    told = []
    for folder in (one, other):
        lines = (folder / ".workbench" / "history" / "claude.jsonl").read_bytes().splitlines()
        told.append(sorted(str(msgspec.json.decode(line)["id"]) for line in lines))
    assert told == [["both", "m-one", "m-other"]] * 2
    assert b"ghp_a1a1" not in lines[-1]


def test_without_a_readable_log_nothing_is_merged(base: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(base, other)
    put(other, make_fact("theirs", 1))
    (log,) = (other / ".workbench" / "changes").iterdir()
    log.rename(tmp_path / "log")
    log.symlink_to(tmp_path / "log")
    with pytest.raises(RefusedError, match="the log of other"):
        merged(base, other)
    assert not opened(base).workspace.load().facts
