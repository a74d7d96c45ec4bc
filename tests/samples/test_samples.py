"""Every sample becomes a workspace that works: told by the store, in a folder of its own, at the present time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.times import instant
from workbench.errors import NotFoundError, RefusedError
from workbench.resources import data_folder
from workbench.services import facts, packages, tasks
from workbench.services.context import Context, open_context
from workbench.services.demo import copy_demo, names
from workbench.services.sessions import attached
from workbench.services.viewing import build_view

NOW = datetime(2027, 5, 4, 15, 30, tzinfo=UTC)
SAMPLES = names()


def opened(folder: Path) -> Context:
    return open_context(folder, env=dict(os.environ), now=NOW, yes=True)


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(sample: str, tmp_path: Path) -> Path:
    return copy_demo(sample, tmp_path / "a folder", os.environ, NOW)


@pytest.fixture
def theme(tmp_path: Path) -> Path:
    """The sample in which the person took a colour back."""
    return copy_demo("todo-theme", tmp_path / "theme", os.environ, NOW)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def strings(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for value in document:
            yield from strings(value)
    elif isinstance(document, str):
        yield document


def stored(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every text in the record files of the copy."""
    for path in sorted((folder / ".workbench").rglob("*.json*")):
        for line in [path.read_bytes()] if path.suffix == ".json" else path.read_bytes().split(b"\n"):
            for text in strings(json.loads(line)) if line.strip() else ():
                yield path, text


def test_the_copy_is_a_repository_of_its_own_with_one_commit(sample: str, folder: Path) -> None:
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "1"
    source = data_folder("sample_workspaces") / sample
    committed = {p.relative_to(source / "project").as_posix() for p in (source / "project").rglob("*") if p.is_file()}
    assert set(git(folder, "ls-files").split()) == committed
    left = {
        p.relative_to(source / "uncommitted").as_posix() for p in (source / "uncommitted").rglob("*") if p.is_file()
    }
    status = git(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert {line[3:] for line in status} == left


def test_nothing_is_damaged_and_no_placeholder_is_left(folder: Path) -> None:
    assert opened(folder).workspace.load().damaged == ()
    left = [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts and b"{{" in p.read_bytes()]
    assert left == []


def test_the_story_ends_a_few_minutes_ago(folder: Path) -> None:
    times = [m for _, text in stored(folder) for m in re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+Z", text)]
    records = [instant(t) for t in times if instant(t) <= NOW]
    assert NOW - max(records) < timedelta(minutes=10)
    sessions = [m.at for m in messages(folder) if m.at]
    assert timedelta(0) < NOW - max(map(instant, sessions)) < timedelta(minutes=10)


def messages(folder: Path) -> list[Any]:
    ctx = opened(folder)
    records = ctx.workspace.load()
    found = [s for task in records.tasks.values() for s in attached(ctx, records, task)]
    assert found
    assert all(s.state is not None for s in found)
    return [m for s in found if s.state is not None for m in s.state.messages]


def test_sessions_name_the_folder_they_lie_in_and_are_read_without_loss(folder: Path) -> None:
    ctx = opened(folder)
    records = ctx.workspace.load()
    for task in records.tasks.values():
        for session in attached(ctx, records, task):
            assert session.state is not None
            assert session.state.info.cwd == str(folder)
            assert session.state.info.name == session.ref.name
            assert (session.state.info.unreadable, session.state.info.unknown) == (0, 0)


def test_every_message_that_a_record_names_exists_and_says_what_is_quoted(folder: Path) -> None:
    known = {message.ref: message for message in messages(folder)}
    named = {text for _, text in stored(folder) if re.fullmatch(r"[a-z]+:[0-9a-f-]{36}#.+", text)}
    assert named
    assert named <= set(known)
    records = opened(folder).workspace.load()
    for fact in records.facts.values():
        for source in fact.sources:
            if source.ref in known and source.quote:
                assert source.quote in known[source.ref].text
    for session, trims in records.trims.items():
        for trim in trims:
            assert {f"{session}#{message}" for message in trim.messages} <= set(known)


def test_evidence_and_artifacts_rest_on_files_as_they_are(folder: Path) -> None:
    records = opened(folder).workspace.load()
    newest = [max(a.versions, key=lambda v: v.number) for a in records.artifacts.values()]
    assert newest
    for version in newest:
        content = (folder / str(version.path)).read_bytes()
        assert (version.sha256, version.size) == (hashlib.sha256(content).hexdigest(), len(content))


def test_what_the_sessions_wrote_is_what_lies_in_the_folder(folder: Path) -> None:
    """The last write or edit of every file, replayed, gives the file of the sample."""
    after: dict[str, str] = {}
    for path in sorted((folder / "agents").rglob("*.jsonl")):
        for line in filter(None, path.read_text("utf-8").split("\n")):
            done = json.loads(line).get("toolUseResult")
            if not isinstance(done, dict) or "filePath" not in done:
                continue
            if "oldString" in done:
                assert after.get(done["filePath"], done["originalFile"]) == done["originalFile"]
                after[done["filePath"]] = done["originalFile"].replace(done["oldString"], done["newString"])
            else:
                after[done["filePath"]] = done["content"]
    assert after
    for name, content in after.items():
        assert Path(name).read_text("utf-8") == content, name


def test_its_packages_wait_and_rest_on_what_is_there(folder: Path) -> None:
    ctx = opened(folder)
    waiting = ctx.workspace.load().packages.values()
    assert [p.status for p in waiting] == ["pending"] * len(waiting)
    for package in waiting:
        assert [d for d in packages.check(ctx, package.envelope.id) if d.stops] == []
        target = tasks.resolve(ctx, package.envelope.task).contract.targets[0]
        file = next(p for p in sorted((folder / target).rglob("*")) if p.is_file())
        file.write_bytes(file.read_bytes() + b"\n")
        differences = packages.check(opened(folder), package.envelope.id)
        assert ("file_changed", file.relative_to(folder).as_posix()) in {(d.code, d.subject) for d in differences}


def sections(prompt: str) -> dict[str, str]:
    """The prompt by heading."""
    parts = re.split(r"^# (.*)$", prompt, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_a_value_that_the_person_took_back_is_stated_nowhere_as_holding(theme: Path) -> None:
    ctx = opened(theme)
    records = ctx.workspace.load()
    challenged = [f for f in records.facts.values() if records.registry.lifecycle(f.id) == "challenged"]
    assert challenged
    for package in records.packages.values():
        parts = sections(ctx.workspace.prompt(package.envelope.id).decode())
        for fact in challenged:
            word = re.compile(rf"\b{re.escape(str(fact.value))}\b", re.I)
            found = {heading.split(":")[0] for heading, body in parts.items() if word.search(body)}
            assert found
            assert found <= {"To settle", "History"}


def test_settling_what_is_challenged_makes_its_packages_stale(theme: Path) -> None:
    ctx = opened(theme)
    registry = ctx.workspace.load().registry
    for fact in registry.facts.values():
        if registry.lifecycle(fact.id) == "challenged":
            [proposal] = registry.standing(fact.id).by
            facts.confirm(ctx, proposal, expect=f"{fact.id}@{fact.version}")
    settled = opened(theme)
    assert {settled.workspace.load().registry.lifecycle(f) for f in registry.facts} <= {"active", "superseded"}
    for package in settled.workspace.load().packages.values():
        codes = {d.code for d in packages.check(settled, package.envelope.id) if d.stops}
        assert "fact_changed" in codes


def test_something_is_interrupted_something_is_red_and_something_is_large_enough_to_trim(theme: Path) -> None:
    ctx = opened(theme)
    card = build_view(ctx)
    assert card.task is not None
    assert card.task.interrupted
    assert card.task.failure is not None
    assert card.task.failure.exit_code
    kept = [m for m in card.history.messages if m.fate.disposition == "kept"]
    assert max(m.tokens for m in kept) > card.history.tokens_kept / 2
    assert {m.fate.disposition for m in card.history.messages} >= {"kept", "dropped", "summarised"}


def test_two_copies_tell_the_same_story(sample: str, tmp_path: Path) -> None:
    first, second = (copy_demo(sample, tmp_path / name, os.environ, NOW) for name in ("one", "two"))
    for table in ("tasks", "facts", "notes", "artifacts", "attempts"):
        one, two = (getattr(opened(f).workspace.load(), table) for f in (first, second))
        assert one == two
        assert one
    assert git(first, "rev-parse", "HEAD") == git(second, "rev-parse", "HEAD")


def test_it_goes_to_a_new_folder_in_the_current_one_and_overwrites_nothing(
    sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = copy_demo(sample, None, os.environ, NOW)
    before = fingerprint(first)
    second = copy_demo(sample, None, os.environ, NOW)
    assert (first, second) == (tmp_path / f"workbench-demo-{sample}", tmp_path / f"workbench-demo-{sample}-2")
    assert fingerprint(first) == before


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(RefusedError, match="not an empty folder"):
        copy_demo(None, tmp_path, os.environ, NOW)
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_the_installation_is_never_written_to() -> None:
    installed = data_folder("sample_workspaces")
    before = fingerprint(installed)
    with pytest.raises(RefusedError, match="inside the installed program"):
        copy_demo(None, installed / "copy", os.environ, NOW)
    assert fingerprint(installed) == before


def test_an_unknown_name_lists_the_samples(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        copy_demo("no-such-sample", tmp_path / "x", os.environ, NOW)
    assert caught.value.details["candidates"] == SAMPLES
    assert not (tmp_path / "x").exists()


def test_without_git_it_is_a_plain_folder_with_the_same_records(sample: str, tmp_path: Path) -> None:
    folder = copy_demo(sample, tmp_path / "plain", {**os.environ, "PATH": str(tmp_path)}, NOW)
    assert not (folder / ".git").exists()
    assert opened(folder).workspace.load().tasks


def test_without_git_it_never_shares_a_surrounding_workspace(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(RefusedError, match="would share the workspace"):
        copy_demo(None, tmp_path / "inner", {**os.environ, "PATH": str(tmp_path / "nothing")}, NOW)
    assert not (tmp_path / "inner").exists()
    assert not (tmp_path / ".workbench").exists()


def test_no_hook_or_template_of_the_person_runs(home: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "commit-msg"):
        (hooks / name).write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[core]\n\thooksPath = {hooks}\n[commit]\n\tgpgSign = true\n[init]\n\ttemplateDir = {tmp_path}\n")
    folder = copy_demo(None, tmp_path / "demo", os.environ, NOW)
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "1"
    assert not (tmp_path / "ran").exists()


def test_a_read_only_installation_gives_a_copy_that_can_be_edited(folder: Path) -> None:
    files = [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts]
    assert all(p.stat().st_mode & stat.S_IWUSR for p in files)
