"""Goes on with a session as its agent would: lines appended to its file, in the agent's own format, dated now."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol


class Talk(Protocol):
    """A session file that grows."""

    path: Path

    def person(self, text: str) -> None:
        """The person says something."""

    def agent(self, text: str) -> None:
        """The agent says something."""

    def tool(self, output: str) -> None:
        """A command's output comes back."""


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class _File:
    def __init__(self, path: Path) -> None:
        self.path = path

    def _add(self, *records: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))


class ClaudeTalk(_File):
    """A session of Claude Code that is there already."""

    def _say(self, type_: str, message: dict[str, Any]) -> None:
        known = [json.loads(line) for line in self.path.read_bytes().splitlines()]
        last = [record for record in known if record.get("uuid")][-1]
        kept = {name: last[name] for name in ("cwd", "sessionId", "version") if name in last}
        head = {"parentUuid": last["uuid"], "isSidechain": False, "userType": "external", "type": type_}
        self._add({**head, **kept, "uuid": str(uuid.uuid4()), "timestamp": stamp(), "message": message})

    def person(self, text: str) -> None:
        self._say("user", {"role": "user", "content": text})

    def agent(self, text: str) -> None:
        block = {"type": "text", "text": text}
        self._say("assistant", {"id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "model": "m", "content": [block]})

    def tool(self, output: str) -> None:
        call = f"toolu_{uuid.uuid4().hex}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat notes.txt"}}
        self._say("assistant", {"id": f"msg_{call}", "role": "assistant", "model": "m", "content": [use]})
        back = {"type": "tool_result", "tool_use_id": call, "content": output}
        self._say("user", {"role": "user", "content": [back]})


class CodexTalk(_File):
    """A session of Codex, begun here."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        name = "01900000-0000-7000-8000-00000000c0de"
        super().__init__(folder / f"rollout-2026-03-01T10-00-00-{name}.jsonl")
        meta = {"id": name, "timestamp": stamp(), "cwd": str(cwd), "cli_version": "0.140.0", "source": "cli"}
        self.path.touch()
        self._add(self._record("session_meta", meta))

    def _record(self, type_: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": stamp(), "type": type_, "payload": payload}

    def _message(self, role: str, kind: str, text: str, event: str) -> None:
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        self._add(self._record("response_item", item), self._record("event_msg", {"type": event, "message": text}))

    def person(self, text: str) -> None:
        self._message("user", "input_text", text, "user_message")

    def agent(self, text: str) -> None:
        self._message("assistant", "output_text", text, "agent_message")

    def tool(self, output: str) -> None:
        call = f"call_{uuid.uuid4().hex}"
        use = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": call}
        back = {"type": "function_call_output", "call_id": call, "output": output}
        self._add(self._record("response_item", use), self._record("response_item", back))
