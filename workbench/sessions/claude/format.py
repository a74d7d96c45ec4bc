"""Claude Code's format: how its files are told from others, and what their names say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.sessions.claude import beside
from workbench.sessions.claude.reader import ClaudeReader
from workbench.sessions.claude.records import CHAIN, METADATA, is_record
from workbench.sessions.claude.state import Hints
from workbench.sessions.salvage import salvage

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_ENVELOPE = re.compile(rb'"type"\s*:\s*"(?:user|assistant|attachment|progress)"')


class ClaudeFormat:
    """See :class:`workbench.sessions.model.Format`."""

    agent = "claude"

    def recognises(self, lines: Sequence[bytes]) -> bool:
        """Whether the first lines of a file are Claude Code's."""
        claims = [claim for line in lines for claim in _claims(line)]
        return True in claims and False not in claims

    def reader(self, path: Path) -> ClaudeReader:
        """An empty reader for the file at ``path``."""
        name = path.name.removesuffix(".jsonl")
        fixed = name.startswith("agent-")
        return ClaudeReader(Hints(session=name, fixed=fixed, name=name if names_session(name) and not fixed else ""))

    def children(self, path: Path, named: Sequence[str]) -> list[Path]:
        """The files of the session's sub-agents."""
        return beside.children(path, named)

    def outside(self, path: Path, name: str) -> Path | None:
        """The file that holds an output too large for the session's own."""
        return beside.outside(path, name)

    def given(self, path: Path) -> Sequence[tuple[str, str]]:
        """Nothing: these files hold neither the system prompt nor the tools."""
        return ()


def names_session(name: str) -> bool:
    """Whether the name of a file, without its ending, is the id of its session."""
    return _UUID.fullmatch(name) is not None or name.startswith("agent-")


def _claims(line: bytes) -> list[bool | None]:
    """What each record of a line says: ours, another agent's, or nothing."""
    found = salvage(line, is_record).records
    if not found and _ENVELOPE.search(line) is not None and b'"parentUuid"' in line:
        # The first line may be longer than what is looked at here.
        return [True]
    return [_claim(msgspec.json.decode(record)) for record, _start, _end in found]


def _claim(record: Any) -> bool | None:
    message = record.get("message")
    kind = record["type"] if isinstance(record.get("type"), str) else ""
    if "systemPayload" in record or (isinstance(message, dict) and "parts" in message):
        # Another agent keeps its own messages in the same envelope.
        return False
    if kind in ("user", "assistant"):
        return True if isinstance(message, dict) and "content" in message else None
    if kind in METADATA:
        return is_record(record) or None
    known = kind in CHAIN and "uuid" in record and ("parentUuid" in record or "sessionId" in record)
    return known or None
