"""Makes small Claude Code session files; every text in them is made up here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.domain.message import Message
from workbench.sessions import SessionLog, open_session

SESSION = "11111111-2222-4333-8444-555555555555"
Record = dict[str, Any]


class Script:
    """Writes a conversation record by record; each hangs on the one before unless told otherwise."""

    def __init__(self, session: str = SESSION, cwd: str = "/srv/shop") -> None:
        self.session = session
        self.cwd = cwd
        self.records: list[Record] = []
        self.last: str | None = None
        self._count = 0

    def add(self, type_: str, *, uuid: str | None = None, parent: Any = ..., **fields: Any) -> Record:
        self._count += 1
        record: Record = {
            "parentUuid": self.last if parent is ... else parent,
            "isSidechain": False,
            "type": type_,
            "uuid": uuid or f"u{self._count:03}",
            "timestamp": f"2026-03-01T10:00:{self._count % 60:02}.000Z",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.0",
            "gitBranch": "main",
        } | fields
        self.records.append(record)
        self.last = record["uuid"]
        return record

    def prompt(self, text: Any, **fields: Any) -> Record:
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def say(
        self, message_id: str, *blocks: Any, usage: Any = None, model: str = "claude-x", **fields: Any
    ) -> list[Record]:
        """One line for each block, as the program writes them."""
        made = []
        for block in blocks:
            content = [{"type": "text", "text": block}] if isinstance(block, str) else [block]
            message = {"id": message_id, "role": "assistant", "model": model, "content": content}
            if usage is not None:
                message["usage"] = usage
            made.append(self.add("assistant", message=message, **fields))
        return made

    def result(
        self, call_id: str, content: Any = "", *, error: bool | None = None, twin: Any = None, **fields: Any
    ) -> Record:
        block: Record = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if error is not None:
            block["is_error"] = error
        if twin is not None:
            fields["toolUseResult"] = twin
        return self.add("user", message={"role": "user", "content": [block]}, **fields)

    def meta(self, type_: str, **fields: Any) -> None:
        self.records.append({"type": type_, "sessionId": self.session} | fields)

    def data(self) -> bytes:
        return b"".join(line(record) + b"\n" for record in self.records)

    def write(self, folder: Path, name: str | None = None) -> Path:
        path = folder / (name or f"{self.session}.jsonl")
        path.write_bytes(self.data())
        return path

    def read(self, folder: Path, name: str | None = None) -> SessionLog:
        return read(self.write(folder, name))


def line(record: Record) -> bytes:
    """A record as the program writes it: UTF-8, and escapes only where that cannot say it."""
    try:
        return json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(record).encode()


def call(call_id: str, name: str, **args: Any) -> Record:
    return {"type": "tool_use", "id": call_id, "name": name, "input": args}


def bash(call_id: str, command: str) -> Record:
    return call(call_id, "Bash", command=command)


def finished(**more: Any) -> Record:
    """The structured twin of a shell command that ran to its end."""
    return {"stdout": "", "stderr": "", "interrupted": False, "isImage": False} | more


def read(path: Path, agent: str | None = None) -> SessionLog:
    log = open_session(path, agent)
    log.refresh()
    return log


def by_kind(log: SessionLog, kind: str) -> list[Message]:
    return [message for message in log.messages if message.kind == kind]


def texts(log: SessionLog) -> list[str]:
    return [message.text for message in log.messages if not message.hidden]


def balanced(log: SessionLog) -> bool:
    info = log.info
    return info.records == info.with_messages + info.metadata + info.unknown + info.unreadable
