"""Artifacts that sessions show: who wrote which file when, by the hash of the content where anything holds it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from claude_records import Script, call
from shop import attach, edit, opened, session_of, task_of

from workbench.errors import NotFoundError, RefusedError
from workbench.services import produced, sessions
from workbench.services.produced import SeenArtifact


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def found(repo: Path) -> dict[str, SeenArtifact]:
    return {one.key: one for one in produced.of_current(opened(repo))}


def test_a_file_that_was_written_whole_is_known_by_its_content(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx, outputs=[{"key": "ui", "path": "src/new.ts"}])
    script = Script(cwd=str(repo))
    script.prompt("write it")
    path = str(repo / "src/new.ts")
    for number, text in enumerate(("one\n", "two\n" * 4000)):
        script.say(f"m{number}", call(f"c{number}", "Write", file_path=path, content=text))
        twin = {"type": "create" if not number else "update", "filePath": path, "content": text, "structuredPatch": []}
        script.result(f"c{number}", "done", twin=twin)
    sessions.attach(ctx, task, str(script.write(tmp_path)))
    shown = found(repo)["ui"]
    assert [(v.number, v.op, v.sha256, v.by) for v in shown.versions] == [
        (1, "create", digest("one\n"), "agent:claude"),
        (2, "update", digest("two\n" * 4000), "agent:claude"),
    ]
    assert produced.read(shown, 1)[1] == b"one\n"
    assert produced.read(shown)[1] == b"two\n" * 4000  # from the session: the file itself was never there
    assert shown.versions[0].source == f"claude:{script.session}#{script.records[2]['uuid']}"
    assert found(repo)["ui"].id == shown.id
    with pytest.raises(NotFoundError):
        produced.read(shown, 3)


def test_a_file_that_a_patch_added_is_known_by_its_content(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    session.patch(
        "e1", "*** Begin Patch\n*** Add File: src/n.ts\n+a\n+b\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch"
    )
    changes = {
        str(repo / "src/n.ts"): {"type": "add", "content": "a\nb\n"},
        str(repo / "src/a.ts"): {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": None},
    }
    session.event("patch_apply_end", call_id="e1", success=True, changes=changes)
    session.output("e1", "Exit code: 0\nOutput:\nSuccess.", custom=True)
    attach(ctx, task, session, tmp_path)
    shown = found(repo)
    assert shown["src/n.ts"].versions[0].sha256 == digest("a\nb\n")
    assert produced.read(shown["src/n.ts"])[1] == b"a\nb\n"


def test_an_edit_is_known_by_the_file_while_that_is_as_it_was_left(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "src/a.ts")
    edit(session, 2, "src/a.ts")
    attach(ctx, task, session, tmp_path)
    first, second = found(repo)["src/a.ts"].versions
    assert (first.sha256, second.sha256) == (None, digest("one\n"))
    assert produced.read(found(repo)["src/a.ts"])[1] == b"one\n"
    with pytest.raises(RefusedError, match="only the edit"):
        produced.read(found(repo)["src/a.ts"], 1)
    (repo / "src/a.ts").write_text("another\n")
    assert found(repo)["src/a.ts"].versions[1].sha256 is None
    (repo / "src/a.ts").unlink()
    with pytest.raises(RefusedError):
        produced.read(found(repo)["src/a.ts"])


def test_files_elsewhere_and_failed_edits_are_none(repo: Path, tmp_path: Path) -> None:
    ctx = opened(repo)
    task = task_of(ctx)
    session = session_of(repo)
    edit(session, 1, "/srv/elsewhere/x.ts")
    session.patch("e2", "*** Begin Patch\n*** Update File: src/b.ts\n@@\n-x\n+y\n*** End Patch")
    session.event("patch_apply_end", call_id="e2", success=False, changes={})
    session.output("e2", "Exit code: 1\nOutput:\nno such line", custom=True)
    attach(ctx, task, session, tmp_path)
    assert found(repo) == {}


def test_nothing_where_there_is_no_task(repo: Path) -> None:
    assert produced.of_current(opened(repo)) == ()
