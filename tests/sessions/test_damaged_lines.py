"""Damaged lines cost themselves alone, are counted, and never raise."""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_records import Script, balanced, line, read, texts

from workbench.sessions import SessionLog, open_session


def written(tmp_path: Path, *lines: bytes) -> SessionLog:
    """Two good records around the given lines."""
    script = Script()
    first, last = line(script.prompt("before")), line(script.prompt("after"))
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"\n".join([first, *lines, last, b""]))
    log = read(path)
    assert balanced(log)
    assert texts(log)[0] == "before"
    assert texts(log)[-1] == "after"
    return log


@pytest.mark.parametrize(
    ("damage", "unreadable"),
    [
        (b"", 0),
        (b"   \t\r", 0),
        (b"not json", 1),
        (b"[]", 1),
        (b"null", 1),
        (b"123", 1),
        (b'"text"', 1),
        (b"\x00" * 4096, 1),
        (b'{"type":"user","message":{"role":"us', 1),
        (b'{\n  "type": "user",\n  "uuid": "p"\n}', 4),
        (b"[" * 100_000, 1),
        (b'{"a":' * 100_000, 1),
        (b'{"type":"user","x":1e999999}', 0),
        (b'{"type":"user","content":' + b"9" * 5000 + b"}", 1),
        (b"{}", 0),
        (b'{"type":["user"]}', 0),
        (b'{"type":"user","message":{"input":{"type":["string","null"]},"x":', 1),
        (b'{"x":{"type":{"a":1}},"y":"\\q"}', 1),
        (b'{"type":"user","message":{"content":[null,1,"a",[1],{"type":["x"]}]}}', 0),
        (b'{"type":"assistant","message":{"id":[1],"usage":[],"content":{"a":1}}}', 0),
        (b'{"type":"user","uuid":5,"parentUuid":[],"cwd":{},"timestamp":7,"sessionId":null,"message":"x"}', 0),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_one_bad_line(tmp_path: Path, damage: bytes, unreadable: int) -> None:
    assert written(tmp_path, damage).info.unreadable == unreadable


def test_a_torn_record_with_a_whole_one_glued_to_it(tmp_path: Path) -> None:
    script = Script()
    torn, whole = line(script.prompt("lost")), line(script.prompt("saved", uuid="s1"))
    log = written(tmp_path, torn[:60] + whole)
    assert texts(log) == ["before", "saved", "after"]
    assert (log.info.unreadable, log.info.unreadable_lines) == (1, (2,))
    saved = log.messages[1]
    assert saved.raw is not None
    data = log.path.read_bytes()
    assert data[saved.raw.start : saved.raw.end] == whole


def test_two_whole_records_on_one_line_lose_nothing(tmp_path: Path) -> None:
    script = Script()
    one, two = line(script.prompt("one", uuid="a1")), line(script.prompt("two", uuid="a2"))
    log = written(tmp_path, one + two)
    assert texts(log) == ["before", "one", "two", "after"]
    assert log.info.unreadable == 0


def test_pieces_of_a_torn_record_are_no_records(tmp_path: Path) -> None:
    torn = b'{"uuid":"x","type":"user","message":{"role":"user","content":[{"type":"text","text":"inner"}],"mo'
    log = written(tmp_path, torn)
    assert texts(log) == ["before", "after"]
    assert log.info.unreadable == 1


def test_nul_around_a_record_is_stripped(tmp_path: Path) -> None:
    record = line(Script().prompt("saved", uuid="s1"))
    log = written(tmp_path, b"\x00" * 50 + record + b"\x00" * 50)
    assert texts(log) == ["before", "saved", "after"]


def test_bom_and_crlf(tmp_path: Path) -> None:
    script = Script()
    script.prompt("one")
    script.prompt("two")
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + script.data().replace(b"\n", b"\r\n"))
    log = read(path)
    assert texts(log) == ["one", "two"]
    assert log.info.unreadable == 0


def test_invalid_bytes_and_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    log = written(
        tmp_path,
        b'{"type":"user","uuid":"i1","message":{"role":"user","content":"caf\xe9!"}}',
        b'{"type":"user","uuid":"i2","message":{"role":"user","content":"half \\ud83d emoji \\ud83d\\ude00"}}',
    )
    assert texts(log)[1:3] == ["caf\ufffd!", "half \ufffd emoji \U0001f600"]
    for message in log.messages:
        message.text.encode("utf-8")


def test_separators_inside_strings_split_nothing(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x00h"
    log = written(tmp_path, line(Script().prompt(text, uuid="s1")))
    assert texts(log)[1] == text


def test_a_long_clipped_text_with_invalid_bytes_is_read_whole(tmp_path: Path) -> None:
    body = b"x\xff" * 20_000
    log = written(tmp_path, b'{"type":"user","uuid":"i1","message":{"role":"user","content":"' + body + b'"}}')
    assert log.body(log.messages[1]) == "x\ufffd" * 20_000


def test_a_file_of_metadata_only(tmp_path: Path) -> None:
    script = Script()
    script.meta("summary", summary="A talk", leafUuid="x")
    script.meta("ai-title", aiTitle="A title")
    log = script.read(tmp_path)
    assert (len(log.messages), log.info.metadata, log.info.title) == (0, 2, "A title")


@pytest.mark.parametrize("odd", ['["string","null"]', '{"a":1}', "null", "7", "[[]]"])
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_record_caught_in_mid_write_may_hold_types_of_any_type(tmp_path: Path, agent: str, odd: str) -> None:
    first = {
        "claude": '{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"content":"hello"}}',
        "codex": '{"timestamp":"","type":"response_item","payload":{"type":"message","role":"user",'
        '"content":[{"type":"input_text","text":"hello"}]}}',
    }[agent]
    path = tmp_path / "torn.jsonl"
    path.write_text(f'{first}\n{{"type":"assistant","input":{{"schema":{{"type":{odd}}},"payload":{{}},"a":\n{first}')
    log = open_session(path, agent)
    log.refresh()
    assert log.info.unreadable == 1
    assert "hello" in [message.text for message in log.messages]


def test_a_record_that_is_read_with_damage_ends_where_it_ends_whatever_ends_its_line(tmp_path: Path) -> None:
    record = b'{"type":"user","uuid":"u","sessionId":"s","message":{"content":"a \xff b"}}'
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(record + b"\r\n")
    whole = read(path).messages[0]
    path.write_bytes(record)
    log = read(path)
    with path.open("ab") as file:
        file.write(b"\r\n")
    log.refresh()
    assert (whole.text, whole.span) == (log.messages[0].text, log.messages[0].span)
