"""Sessions that their agent has compressed are read like any other, in whichever form they lie there."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from claude_records import balanced, read, texts
from codex_records import SESSION, Rollout

from workbench.errors import StorageError
from workbench.sessions import discover, open_session


def conversation(count: int = 3) -> Rollout:
    session = Rollout()
    for number in range(count):
        session.prompt(f"question {number}")
        session.say(f"answer {number} " + "x" * 20_000)
    return session


def pack(path: Path) -> Path:
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    return packed


def test_the_same_messages(tmp_path: Path) -> None:
    path = conversation().write(tmp_path)
    plain = read(path)
    packed = pack(path)
    path.unlink()
    log = read(packed)
    assert list(log.messages) == list(plain.messages)
    assert log.info.id == SESSION
    assert balanced(log)
    clipped = log.messages[-1]
    assert clipped.clipped
    assert log.body(clipped) == f"answer 2 {'x' * 20_000}"


def test_a_session_is_followed_through_both_forms(tmp_path: Path) -> None:
    session = conversation()
    path = session.write(tmp_path)
    log = read(path)
    seen = list(log.messages)
    packed = pack(path)
    path.unlink()
    log.refresh()
    assert list(log.messages) == seen
    assert log.body(seen[-1]).endswith("x")
    session.prompt("one more")
    session.write(tmp_path)
    # Both are there for a moment: the plain one counts.
    assert log.refresh().reset
    assert texts(log)[-1] == "one more"
    packed.unlink()
    assert log.refresh().appended == 0


def test_a_path_that_was_noted_before_it_was_packed_still_opens(tmp_path: Path) -> None:
    path = conversation().write(tmp_path)
    pack(path)
    path.unlink()
    assert len(read(path).messages) == 6


def test_what_is_no_such_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / (conversation().name + ".zst")
    path.write_bytes(b'{"type":"session_meta","payload":{"id":"x"}}\n')
    with pytest.raises(StorageError, match="unpack"):
        open_session(path)
    plain = conversation().write(tmp_path)
    whole = pack(plain).read_bytes()
    plain.unlink()
    path.write_bytes(whole[:12] + b"\xff" * 40)
    log = open_session(path, "codex")
    with pytest.raises(StorageError, match="unpack"):
        log.refresh()


def test_discovery_sees_each_session_once_in_either_form(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "03" / "01"
    day.mkdir(parents=True)
    path = conversation().write(day)
    env = {"CODEX_HOME": str(tmp_path), "HOME": str(tmp_path / "nobody")}
    pack(path)
    (both,) = discover([Path("/srv/shop")], env)
    assert both.path == path
    path.unlink()
    (packed,) = discover([Path("/srv/shop")], env)
    assert (packed.id, packed.title, packed.path.suffix) == (SESSION, "question 0", ".zst")
