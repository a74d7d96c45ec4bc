"""Codex's format: how its files are told from others, and what their names say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.sessions.codex import beside, given
from workbench.sessions.codex.reader import CodexReader
from workbench.sessions.codex.records import ENVELOPES, ITEMS, is_record
from workbench.sessions.codex.state import Hints
from workbench.sessions.salvage import salvage

_NAME = re.compile(
    r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?:.*-)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
    re.IGNORECASE,
)
_ENVELOPE = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"')


class CodexFormat:
    """See :class:`workbench.sessions.model.Format`."""

    agent = "codex"

    def recognises(self, lines: Sequence[bytes]) -> bool:
        """Whether the first lines of a file are Codex's."""
        return any(_ours(line) for line in lines)

    def reader(self, path: Path) -> CodexReader:
        """An empty reader for the file at ``path``."""
        return CodexReader(hints_of(path))

    def children(self, path: Path, named: Sequence[str]) -> list[Path]:
        """The files of the session's sub-agents."""
        return beside.children(path, named)

    def outside(self, path: Path, name: str) -> Path | None:
        """Outputs stand in the session file itself."""
        return None

    def given(self, path: Path) -> Sequence[tuple[str, str]]:
        """The instructions and the client's tools that the first record states."""
        return given.given(path)


def hints_of(path: Path) -> Hints:
    """What the name of a file says of its session."""
    name = path.name.removesuffix(".zst").removesuffix(".jsonl")
    found = _NAME.fullmatch(name)
    identity = found[1].lower() if found else ""
    return Hints(session=identity or name, fixed=False, name=identity)


def _ours(line: bytes) -> bool:
    if _ENVELOPE.search(line[:4096]) is not None and b'"payload"' in line[:4096]:
        # The first line may be longer than what is looked at here.
        return True
    found = salvage(line, is_record).records
    return any(_claim(msgspec.json.decode(record), whole=start == 0) for record, start, _end in found)


def _claim(record: Any, *, whole: bool) -> bool:
    """Whether a record is ours; items without envelope stand in what programs send to the model as well."""
    if isinstance(record.get("payload"), dict):
        return record.get("type") in ENVELOPES
    if "record_type" in record:
        return bool(record["record_type"] == "state")
    if record.get("type") in ITEMS:
        return whole and ("call_id" in record or "role" in record or "summary" in record)
    return isinstance(record.get("id"), str) and "instructions" in record and "timestamp" in record
