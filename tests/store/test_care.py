"""Looking a workspace over, clearing it up, and packing a bundle that gives nothing away."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import run as run
from tests.store.conftest import AT, PERSON, make_fact, make_task
from tests.store.test_settling import somebody_waits
from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.ids import new_id
from workbench.domain.record import Stamp
from workbench.domain.trimming import Trim
from workbench.errors import StorageError
from workbench.services import care
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.store import examine
from workbench.store.changelog import ChangeLog

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    init(folder, env=os.environ)
    return open_context(folder, env=os.environ)


def by_name(ctx: Context) -> dict[str, bool]:
    return {check.name: check.ok for check in care.doctor(ctx)}


def test_a_healthy_workspace_is_well(ctx: Context) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(make_task())
    found = by_name(ctx)
    assert all(found.values())
    assert {"modes", "lock", "journal", "records", "packages", "contents", "file system", "hand edits"} <= set(found)


def test_modes_git_and_leftovers_are_put_right(ctx: Context, tmp_path: Path) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        task = tx.put(make_task())
    root = ctx.workspace.root
    path = root / "tasks" / f"{task.id}.json"
    path.chmod(0o644)
    (root / "facts").chmod(0o755)
    (root / "tasks" / ".half.0123abcd.tmp").write_bytes(b"{")
    assert by_name(ctx)["modes"] is True, "nobody else comes as far as that"
    root.chmod(0o755)
    assert by_name(ctx)["modes"] is False
    done, after = care.doctor_fix(ctx)
    assert {f"tasks/{task.id}.json", "facts", "tasks", None} <= {check.path for check in done}
    assert all(check.ok for check in after)
    assert path.stat().st_mode & 0o777 == 0o600
    assert root.stat().st_mode & 0o777 == 0o700
    assert not list(root.rglob("*.tmp"))


def test_a_record_that_vanished_is_brought_back(ctx: Context) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        kept, removed = tx.put(make_fact("a")), tx.put(make_fact("b"))
    with ctx.workspace.transaction(PERSON, "undo") as tx:
        tx.remove("facts", removed.id)
    (ctx.workspace.root / "facts" / "a" / f"{kept.id}.json").unlink()
    assert ctx.workspace.load().facts == {}
    assert not all(check.ok for check in care.doctor(ctx))
    done, after = care.doctor_fix(ctx)
    assert [check.path for check in done] == [f"facts/a/{kept.id}.json"]
    assert all(check.ok for check in after)
    assert ctx.workspace.load().facts == {kept.id: kept}


def test_a_committed_change_is_completed(ctx: Context) -> None:
    from tests.store.test_faults import committed_only

    task = make_task("Committed")
    committed_only(ctx.workspace, task)
    assert by_name(ctx)["journal"] is False
    _, after = care.doctor_fix(ctx)
    assert all(check.ok for check in after)
    assert (ctx.workspace.root / "tasks" / f"{task.id}.json").exists()


def test_what_others_are_writing_at_this_moment_is_no_damage(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with somebody_waits(ctx.workspace), ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(make_task("Committed"))
    # While it waits before it judges, the other writers have their turn.
    monkeypatch.setattr(examine, "sleep", lambda seconds: ctx.workspace.complete(), raising=False)
    assert not ctx.workspace.journal.position().settled
    assert all(by_name(ctx).values())


def test_a_record_that_comes_while_others_are_read_is_not_gone(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ChangeLog.latest
    came: list[str] = []

    def latest(log: ChangeLog) -> dict[tuple[str, str], Any]:
        if not came:
            with open_context(ctx.location.base, env=os.environ).workspace.transaction(PERSON, "put") as tx:
                came.append(tx.put(make_task()).id)
        return real(log)

    monkeypatch.setattr(ChangeLog, "latest", latest)
    assert all(by_name(ctx).values())
    assert came


def test_contents_that_nothing_refers_to_go(ctx: Context) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        version = ArtifactVersion(
            number=1, sha256=tx.put_blob(b"kept"), size=4, kept=True, made=Stamp(by=PERSON, at=AT)
        )
        tx.put(Artifact(id=new_id(), key="a", versions=(version,)))
        trimmed = tx.put_blob(b"trimmed away")
        line = Trim(id=new_id(), act="externalise", messages=("m",), by=PERSON, at=AT, blobs={"m": trimmed})
        tx.append_trim("claude:1", line)
        spare = tx.put_blob(b"for nothing")
    prompt = ctx.workspace.root / "packages" / new_id() / "prompt.md"
    prompt.parent.mkdir()
    prompt.write_bytes(b"of a package that was never committed")
    check = care.gc(ctx)
    assert "1 of 3 removed, 11 bytes freed" in check.detail
    assert set(ctx.workspace.blobs()) == {version.sha256, trimmed}
    assert spare not in ctx.workspace.blobs()
    assert not prompt.parent.exists()
    assert "0 of 2 removed" in care.gc(ctx).detail
    assert [change.command for change in ctx.workspace.changes()] == ["put"]


def test_a_changed_content_and_a_changed_prompt_are_noticed(ctx: Context) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        name = tx.put_blob(b"content")
    (ctx.workspace.root / "blobs" / name).write_bytes(b"other")
    assert by_name(ctx)["content"] is False


def test_the_bundle_tells_what_is_wrong_and_nothing_else(ctx: Context, run: Run, tmp_path: Path) -> None:
    secret, private = "ghp_" + "a1B2" * 10, "the plan for the shelf"
    with ctx.workspace.transaction(PERSON, f"fact propose {private}", private) as tx:
        tx.put(make_fact("plan", private))
        task = tx.put(make_task(private))
    damaged = ctx.workspace.root / "tasks" / f"{task.id}.json"
    damaged.write_bytes(b'{"token": "' + secret.encode() + b'", broken in ' + str(tmp_path).encode())
    target = tmp_path / "report.zip"
    answer = run("doctor", "--bundle", str(target), "--json")
    assert answer.code == 6
    assert target.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(target) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert set(parts) == set(answer.json["bundle"])
    assert {"about.json", "checks.json", "files.json", "changes.jsonl", f"damaged/tasks/{task.id}.json"} == set(parts)
    whole = b"".join(parts.values())
    for hidden in (secret, private, str(ctx.location.base), os.environ["HOME"]):
        assert hidden.encode() not in whole
    assert b"masked" in parts[f"damaged/tasks/{task.id}.json"]
    (change,) = [json.loads(line) for line in parts["changes.jsonl"].splitlines()]
    assert change["command"] == "fact propose"
    assert run("doctor", "--bundle", str(target)).code == 2


@pytest.mark.parametrize("where", ["inside", "inside by a link", "no folder", "a folder", "a link", "there already"])
def test_a_bundle_goes_nowhere_but_to_a_new_file(ctx: Context, run: Run, tmp_path: Path, where: str) -> None:
    root = ctx.workspace.root
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "old.zip").write_text("mine")
    places = {
        "inside": root / "tasks" / "b.zip",
        "inside by a link": tmp_path / "link" / "b.zip",
        "no folder": tmp_path / "no" / "such" / "b.zip",
        "a folder": tmp_path,
        "a link": tmp_path / "dangling",
        "there already": tmp_path / "old.zip",
    }
    before = sorted(tmp_path.rglob("*"))
    refused = run("doctor", "--bundle", str(places[where]), "--json")
    assert (refused.code, refused.error["code"]) == (2, "usage")
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "old.zip").read_text() == "mine"


def test_the_command_line_answers_in_its_shapes(ctx: Context, run: Run, tmp_path: Path) -> None:
    checks = run("doctor", "--json").json["checks"]
    assert all(set(check) >= {"name", "ok", "detail"} for check in checks)
    assert run("fact", "propose", "db.password", "Tr0ub4dor-and-3 x").code == 0
    assert run("purge").code == 2
    assert run("purge", "--secret", "nowhere to be found", "--yes").code == 3
    assert run("gc", "--json").json["checks"][0]["ok"] is True
    other = tmp_path / "other"
    other.mkdir()
    init(other, env=os.environ)
    done = run("merge", str(other), "--yes", "--json")
    assert done.code == 0
    assert done.json == {
        "merged": {"records": 0, "lines": 0, "changes": 0, "contents": 0}, "contested": [], "damaged": []
    }  # fmt: skip
    assert run("merge", str(tmp_path / "nowhere"), "--yes").code == 3


def test_a_path_that_is_too_long_for_the_system_is_said_to_be(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(make_task())
    real = os.lstat

    def lstat(path: Any, **more: Any) -> os.stat_result:
        if str(path).endswith(".json"):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        return real(path, **more)

    monkeypatch.setattr(os, "lstat", lstat)
    assert [check.name for check in care.doctor(ctx) if "too long" in check.detail] != []
    with pytest.raises(StorageError) as caught:
        care.gc(ctx)
    assert "shorter path" in caught.value.hint
