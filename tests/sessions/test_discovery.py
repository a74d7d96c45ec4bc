"""Sessions are found by the folders that their records name, and only heads and tails are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claude_records import SESSION, Script

from workbench.sessions import discover

OTHER = SESSION.replace("1", "9")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "shop-app"
    (folder / "web").mkdir(parents=True)
    return folder


def place(root: Path, script: Script, project: str = "whatever", name: str | None = None) -> Path:
    folder = root / "projects" / project
    folder.mkdir(parents=True, exist_ok=True)
    return script.write(folder, name)


def talk(cwd: Path | str, session: str = SESSION, text: str = "make it green") -> Script:
    script = Script(session, str(cwd))
    script.meta("mode", mode="normal")
    script.prompt(text)
    script.say("m1", "ok")
    return script


def env(root: Path) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(root)}


def test_by_the_records_never_by_the_name(tmp_path: Path, repo: Path) -> None:
    root = tmp_path / "config"
    place(root, talk(repo / "web"), "-some-other-name")
    place(root, talk("/elsewhere/entirely", OTHER), str(repo).replace("/", "-"))
    (found,) = discover([repo], env(root))
    assert (found.name, found.title, found.cwd) == (f"claude:{SESSION}", "make it green", str(repo / "web"))
    assert found.updated_at == "2026-03-01T10:00:02.000Z"
    assert found.started_at == "2026-03-01T10:00:01.000Z"
    assert found.size == found.path.stat().st_size


def test_a_folder_with_the_same_beginning_is_another(tmp_path: Path, repo: Path) -> None:
    root = tmp_path / "config"
    place(root, talk(str(repo) + "-2"))
    assert discover([repo], env(root)) == []


def test_the_usual_places(tmp_path: Path, repo: Path) -> None:
    home = tmp_path / "home"
    place(home / ".claude", talk(repo))
    place(home / ".config" / "claude", talk(repo, OTHER))
    assert {s.id for s in discover([repo], {"HOME": str(home)})} == {SESSION, OTHER}
    assert discover([repo], {"HOME": str(tmp_path / "nobody")}) == []


def test_newest_first_and_no_subagents(tmp_path: Path, repo: Path) -> None:
    root = tmp_path / "config"
    old, new = talk(repo), talk(repo, OTHER)
    new.records[-1]["timestamp"] = "2026-03-02T09:00:00+00:00"
    place(root, old)
    place(root, new)
    place(root, talk(repo), name="agent-abc.jsonl")
    assert [s.id for s in discover([repo], env(root))] == [OTHER, SESSION]


def test_a_session_that_moved_into_the_folder_counts(tmp_path: Path, repo: Path) -> None:
    script = talk("/elsewhere")
    script.prompt("x" * 200_000)
    script.cwd = str(repo)
    script.say("m2", "moved")
    script.meta("custom-title", customTitle="The move")
    root = tmp_path / "config"
    place(root, script)
    (found,) = discover([repo], env(root))
    assert (found.cwd, found.title) == (str(repo), "The move")


def test_a_large_file_is_read_at_both_ends_only(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = talk(repo)
    for number in range(3000):
        script.say(f"m{number}", "x" * 500)
    root = tmp_path / "config"
    path = place(root, script)
    read = 0
    real = os.pread

    def counted(descriptor: int, count: int, offset: int) -> bytes:
        nonlocal read
        data = real(descriptor, count, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counted)
    assert len(discover([repo], env(root))) == 1
    assert read < 100_000 < path.stat().st_size


def test_a_first_record_larger_than_the_window(tmp_path: Path, repo: Path) -> None:
    script = Script(cwd=str(repo))
    script.records = []
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 100_000}}
    record = script.prompt([picture, {"type": "text", "text": "look at this"}])
    record["cwd"] = record.pop("cwd")
    root = tmp_path / "config"
    place(root, script)
    (found,) = discover([repo], env(root))
    assert found.title == "look at this"


def test_damaged_files_hide_nothing_else(tmp_path: Path, repo: Path) -> None:
    root = tmp_path / "config"
    place(root, talk(repo))
    folder = root / "projects" / "broken"
    folder.mkdir()
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "garbage.jsonl").write_bytes(bytes(range(256)) * 16)
    (folder / "folder.jsonl").mkdir()
    (folder / "notes.txt").write_text("x")
    assert len(discover([repo], env(root))) == 1


def test_a_link_to_the_folder_is_the_folder(tmp_path: Path, repo: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repo)
    root = tmp_path / "config"
    place(root, talk(repo))
    assert len(discover([link], env(root))) == 1
    place(root, talk(link))
    assert len(discover([repo], env(root))) == 1
