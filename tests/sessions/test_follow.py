"""Following a file: only what is new is read, and nothing is read wrongly on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claude_records import Script, balanced, bash, finished, line, read, texts

from workbench.errors import NotFoundError, StorageError, UsageError
from workbench.sessions import SessionLog, open_session
from workbench.sessions.claude.format import ClaudeFormat


def script_of(count: int) -> Script:
    script = Script()
    for number in range(count):
        script.prompt(f"question {number}")
        script.say(f"m{number}", f"answer {number}")
    return script


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_only_new_bytes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = script_of(3000)
    path = script.write(tmp_path)
    log = read(path)
    size = path.stat().st_size
    assert size > 1_000_000
    script.records.clear()
    script.prompt("one more")
    append(path, script.data())
    read_bytes = 0
    real_open = Path.open
    real_pread = os.pread

    class Counted:
        def __init__(self, file: object) -> None:
            self.file = file

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def read(self, count: int) -> bytes:
            nonlocal read_bytes
            data = self.file.read(count)
            read_bytes += len(data)
            return data

        def __getattr__(self, name: str) -> object:
            return getattr(self.file, name)

    def counted_pread(descriptor: int, count: int, offset: int) -> bytes:
        nonlocal read_bytes
        data = real_pread(descriptor, count, offset)
        read_bytes += len(data)
        return data

    monkeypatch.setattr(Path, "open", lambda self, *args, **kwargs: Counted(real_open(self, *args, **kwargs)))
    monkeypatch.setattr(os, "pread", counted_pread)
    assert log.refresh().appended == 1
    assert read_bytes <= 256 << 10 < size
    read_bytes = 0
    assert log.refresh().appended == 0
    assert read_bytes == 0


def test_an_unfinished_line_waits(tmp_path: Path) -> None:
    script = script_of(1)
    path = script.write(tmp_path)
    log = read(path)
    new = line(script.prompt("gr\u00fcn, bitte"))
    cut = new.index("\u00fc".encode()) + 1
    append(path, new[:cut])
    assert log.refresh().appended == 0
    assert log.info.unfinished == cut
    append(path, new[cut:])
    assert log.refresh().appended == 1
    assert log.info.unfinished == 0
    append(path, b"\n")
    assert log.refresh().appended == 0
    assert log.messages[-1].text == "gr\u00fcn, bitte"
    assert len(log.messages) == 3


def test_a_torn_last_line_is_reported_and_hides_nothing(tmp_path: Path) -> None:
    script = script_of(2)
    path = tmp_path / "torn.jsonl"
    path.write_bytes(script.data()[:-40])
    log = read(path)
    assert texts(log) == ["question 0", "answer 0", "question 1"]
    assert log.info.unfinished > 0
    assert balanced(log)


def test_a_line_that_only_seemed_complete_is_read_again(tmp_path: Path) -> None:
    script = script_of(1)
    path = tmp_path / "glued.jsonl"
    first, second = (line(record) for record in script.records)
    path.write_bytes(first)
    log = read(path)
    assert len(log.messages) == 1
    append(path, second)
    assert log.refresh().reset
    append(path, b"\n")
    log.refresh()
    assert texts(log) == texts(read(path)) == ["question 0", "answer 0"]


def test_blanks_after_a_complete_line_are_its_end(tmp_path: Path) -> None:
    script = script_of(1)
    path = tmp_path / "crlf.jsonl"
    path.write_bytes(line(script.records[0]))
    log = read(path)
    for piece in (b"\r", b"\n", line(script.records[1]) + b"\r\n"):
        append(path, piece)
        assert not log.refresh().reset
    assert list(log.messages) == list(read(path).messages)


def test_a_truncated_file_is_read_anew(tmp_path: Path) -> None:
    path = script_of(3).write(tmp_path)
    log = read(path)
    path.write_bytes(script_of(1).data())
    refresh = log.refresh()
    assert (refresh.reset, refresh.appended) == (True, 2)
    assert texts(log) == ["question 0", "answer 0"]


def test_a_file_replaced_by_another_is_read_anew(tmp_path: Path) -> None:
    path = script_of(2).write(tmp_path)
    log = read(path)
    other = tmp_path / "new"
    other.write_bytes(script_of(4).data())
    other.replace(path)
    assert log.refresh().reset
    assert len(log.messages) == 8


def test_a_file_rewritten_in_place_is_read_anew(tmp_path: Path) -> None:
    script = script_of(2)
    path = script.write(tmp_path)
    log = read(path)
    script.records[0]["message"]["content"] = "another question, longer than before"
    script.prompt("and more")
    path.write_bytes(script.data())
    assert log.refresh().reset
    assert texts(log)[0] == "another question, longer than before"


def test_a_file_that_is_gone_leaves_what_was_read(tmp_path: Path) -> None:
    path = script_of(1).write(tmp_path)
    log = read(path)
    path.unlink()
    assert log.refresh() == log.refresh()
    assert len(log.messages) == 2


def test_a_long_text_is_cut_in_memory_and_read_whole_from_the_file(tmp_path: Path) -> None:
    script = script_of(1)
    long = "\u7eff\u8272 " * 40_000
    script.prompt(long + "<system-reminder>x</system-reminder>")
    script.prompt(long)
    path = script.write(tmp_path)
    log = read(path)
    first, second = log.messages[2], log.messages[-1]
    assert first.clipped
    assert len(first.text) == 16_384
    assert log.body(second) == long
    assert log.body(first) == long + "<system-reminder>x</system-reminder>"
    assert log.body(log.messages[0]) == "question 0"
    path.write_bytes(b"{}\n" * 100)
    assert log.body(second) == second.text
    path.unlink()
    assert log.body(second) == second.text


def test_a_line_beyond_the_limit_is_skipped_and_counted(tmp_path: Path) -> None:
    script = script_of(1)
    script.prompt("x" * 5000)
    script.prompt("after")
    path = script.write(tmp_path)
    for chunk in (64, 1000, 100_000):
        log = SessionLog(path, ClaudeFormat(), chunk=chunk, line_limit=2000)
        log.refresh()
        assert texts(log) == ["question 0", "answer 0", "after"]
        assert (log.info.oversized, log.info.unreadable, log.info.unreadable_lines) == (1, 1, (3,))
        assert balanced(log)


def test_chunks_of_any_size_give_the_same(tmp_path: Path) -> None:
    script = script_of(3)
    script.say("m9", bash("c1", "ls"))
    script.result("c1", "x", error=False, twin=finished())
    path = script.write(tmp_path)
    whole = read(path)
    for chunk in (1, 7, 100, 4096):
        log = SessionLog(path, ClaudeFormat(), chunk=chunk)
        log.refresh()
        assert list(log.messages) == list(whole.messages)
        assert log.info == whole.info


def test_opening(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        open_session(tmp_path / "absent.jsonl")
    with pytest.raises(StorageError):
        open_session(tmp_path)
    strange = tmp_path / "strange.jsonl"
    strange.write_text('{"type":"weather","payload":{}}\n')
    with pytest.raises(UsageError, match=r"strange\.jsonl"):
        open_session(strange)
    with pytest.raises(UsageError, match="nobody"):
        open_session(strange, "nobody")
    assert read(strange, "claude").info.unknown == 1


def test_another_agent_with_the_same_envelope_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    head = '{"uuid":"a","parentUuid":null,"sessionId":"s","type":"%s","message":{"role":"user","%s":[]}}\n'
    path.write_text(head % ("user", "parts"))
    with pytest.raises(UsageError):
        open_session(path)
    path.write_text(head % ("user", "content"))
    assert open_session(path).refresh().appended == 0


def test_a_first_line_longer_than_the_head_is_recognised(tmp_path: Path) -> None:
    script = Script()
    script.prompt("x" * 600_000)
    assert len(script.read(tmp_path).messages) == 1
