"""Text from files and agents is data in every print: shown as stored, and nothing of it reaches the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Shell

HOSTILE = [
    "[red]x[/]",
    "[@click=app.bell]",
    "[/nope]",
    "[x] done",
    "\x1b[2J\x1b]52;c;UFdO\x07",
    "a\x00b",
    "\x9b2J",
    "\u202eevil",
    "rm -rf /\rls",
    "$(touch owned); `id`",
]
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def filled(shell: Shell, tmp_path: Path) -> Shell:
    """A workspace with hostile text in every field that a person or an agent can write."""
    text = " | ".join(HOSTILE)
    shell("init")
    draft = tmp_path / "draft.json"
    draft.write_text(
        json.dumps(
            {
                "title": text,
                "objective": text,
                "targets": ["src/"],
                "acceptance": [text],
                "constraints": [{"key": "a.rule", "value": text, "statement": text}],
            }
        )
    )
    shell("task", "new", "--file", str(draft))
    fact = tmp_path / "value.json"
    fact.write_text(json.dumps(text))
    shell(
        "fact",
        "propose",
        "a.key",
        fact.read_text(),
        "--statement",
        text.replace("\x00", ""),
        "--quote",
        text.replace("\x00", ""),
    )
    shell("fact", "propose", "a.key", json.dumps(text + "!"), "--as", "agent:claude")
    rows = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": text}},
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "message": {
                "id": "m1",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [
                    {"type": "text", "text": text},
                    {"type": "tool_use", "id": "t1", "name": text, "input": {"command": text}},
                ],
            },
        },
        {
            "type": "user",
            "uuid": "u3",
            "parentUuid": "u2",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": True}],
            },
        },
    ]
    session = tmp_path / "session.jsonl"
    common = {
        "sessionId": "0b5c1e9e-6f6d-4f3e-9a51-1f0f3b8f7a11",
        "cwd": str(shell.folder),
        "version": "2.1.0",
        "isSidechain": False,
        "userType": "external",
        "timestamp": "2026-03-01T10:00:00.000Z",
    }
    session.write_text("".join(json.dumps({**common, **row}) + "\n" for row in rows))
    shell("session", "attach", "@", str(session))
    shell("handoff", "prepare", "@", "--to", "codex")
    return shell


COMMANDS = [
    ("status",),
    ("task", "list"),
    ("task", "show", "@"),
    ("fact", "list", "--all"),
    ("fact", "history", "a.key"),
    ("attempt", "list", "@"),
    ("history", "show", "@"),
    ("history", "suggest", "@"),
    ("compile", "@", "--to", "codex"),
    ("compile", "@", "--to", "codex", "--prompt-only"),
    ("handoff", "list"),
    ("log",),
]


def test_nothing_from_data_drives_the_terminal_and_markup_is_shown_as_stored(filled: Shell):
    seen = ""
    for words in COMMANDS:
        done = filled(*words)
        assert not DRIVES.search(done.out.replace("\t", "")), words
        assert not DRIVES.search(done.err.replace("\t", "")), words
        seen += done.out
    for literal in ("[red]x[/]", "[@click=app.bell]", "[/nope]", "[x] done"):
        assert literal in seen


def test_json_holds_what_is_stored_and_no_raw_control_character(filled: Shell):
    done = filled("fact", "list", "--json")
    assert not DRIVES.search(done.out)
    assert " | ".join(HOSTILE) in [f["value"] for f in done.json["facts"]]


def test_nothing_of_it_was_run(filled: Shell):
    assert not list(filled.folder.rglob("owned"))


def test_a_secret_in_a_session_reaches_neither_package_nor_workspace(shell: Shell, tmp_path: Path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shell("init")
    shell("task", "new", "Deploy", "--objective", "Deploy it.")
    session = tmp_path / "session.jsonl"
    session.write_text(
        json.dumps(
            {
                "type": "user",
                "uuid": "u1",
                "parentUuid": None,
                "sessionId": "0b5c1e9e-6f6d-4f3e-9a51-1f0f3b8f7a12",
                "cwd": str(shell.folder),
                "version": "2.1.0",
                "isSidechain": False,
                "userType": "external",
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": {"role": "user", "content": f"Use the token {secret} and deploy the page to the test host."},
            }
        )
        + "\n"
    )
    shell("session", "attach", "@", str(session))
    assert "deploy the page" in shell("compile", "@", "--to", "codex", "--prompt-only").out
    shell("handoff", "prepare", "@", "--to", "codex")
    shell("fact", "propose", "deploy.note", f"uses {secret}")
    for path in (shell.folder / ".workbench").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
