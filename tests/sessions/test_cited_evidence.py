"""What sessions show can be cited; cited, it is stored with its files, and outlives the session file."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop import attach, build, card, edit, opened, session_of, task_of

from workbench.domain.delta import delta_from
from workbench.domain.task import Task
from workbench.errors import NotFoundError
from workbench.services import evidence, history, state
from workbench.services.context import Context


def done(ctx: Context, task: Task, item: str, *names: str) -> tuple[str, tuple[str, ...]]:
    """Close an item with evidence; how it is known, and by what."""
    state.update(ctx, task, delta_from({"done": [{"item": item, "evidence": list(names)}]}))
    found = next(row for row in ctx.workspace.load().tasks[task.id].state.done if row.text == item)
    return found.known, found.evidence


def ids(ctx: Context, kind: str) -> list[str]:
    return [row.evidence.id for row in card(ctx).evidence if row.evidence.kind == kind]


@pytest.fixture
def task(repo: Path, tmp_path: Path) -> Task:
    ctx = opened(repo)
    made = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "src/a.ts")
    build(session, 1, 0, "built")
    session.call("p1", "update_plan", plan=[{"step": "build", "status": "completed"}])
    session.output("p1", "Plan updated")
    attach(ctx, made, session, tmp_path)
    return ctx.workspace.load().tasks[made.id]


def test_a_command_that_a_session_shows_verifies_an_item(repo: Path, tmp_path: Path, task: Task) -> None:
    ctx = opened(repo)
    (seen,) = ids(ctx, "command")
    assert done(ctx, task, "the build passes", seen[:6]) == ("verified", (seen,))
    (stored,) = ctx.workspace.load().evidence
    assert (stored.id, stored.argv, stored.exit_code) == (seen, ("npm", "run", "build"), 0)
    assert [file.path for file in stored.files] == ["src/a.ts", "src/b.ts"]
    assert ids(opened(repo), "command") == [seen]  # once, though the session shows it still
    for path in tmp_path.glob("rollout-*.jsonl"):
        path.unlink()
    later = opened(repo)
    assert ids(later, "command") == [seen]
    assert "built" in history.body(later, task, stored.source or "")
    (repo / "src/b.ts").write_text("two\n")
    (row,) = [row for row in card(opened(repo)).evidence if row.evidence.kind == "command"]
    assert (row.valid, row.changed) == (False, ("src/b.ts",))


def test_a_changed_file_verifies_and_hides_nothing_else_of_its_message(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    files = "".join(f"*** Update File: src/{name}.ts\n@@\n-one\n+two\n" for name in "ab")
    session.patch("e1", f"*** Begin Patch\n{files}*** End Patch")
    session.output("e1", "Exit code: 0\nOutput:\nSuccess.", custom=True)
    attach(ctx, task, session, tmp_path)
    both = ids(ctx, "file_change")
    assert len(both) == 2
    assert done(ctx, task, "a is changed", both[0]) == ("verified", (both[0],))
    assert sorted(ids(opened(repo), "file_change")) == sorted(both)


def test_what_changed_since_is_kept_as_stale_and_verifies_nothing(repo: Path, task: Task) -> None:
    (repo / "src/a.ts").write_text("another\n")
    ctx = opened(repo)
    (seen,) = ids(ctx, "command")
    assert done(ctx, task, "the build passes", seen) == ("reported", (seen,))
    (row,) = evidence.judged(ctx, ctx.workspace.load().evidence)
    assert (row.valid, row.changed) == (False, ("src/a.ts",))


def test_a_plan_is_a_claim_and_can_be_cited_as_that(repo: Path, task: Task) -> None:
    ctx = opened(repo)
    (plan,) = ids(ctx, "claim")
    assert done(ctx, task, "the build passes", plan) == ("reported", (plan,))


def test_naming_it_twice_stores_it_once(repo: Path, task: Task) -> None:
    ctx = opened(repo)
    (seen,) = ids(ctx, "command")
    done(ctx, task, "the build passes", seen)
    done(ctx, task, "it was built", seen)
    assert [line.id for line in ctx.workspace.load().evidence] == [seen]


def test_what_nobody_shows_is_not_found_and_nothing_is_stored(repo: Path, task: Task) -> None:
    ctx = opened(repo)
    for name in ("zzzzzzzzzz", "", "-"):
        with pytest.raises(NotFoundError):
            done(ctx, task, "the build passes", name)
    assert ctx.workspace.load().evidence == ()
