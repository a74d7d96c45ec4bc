"""Makes small Codex session files; every text in them is made up here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from claude_records import line, read

from workbench.sessions import SessionLog

SESSION = "019a0000-0000-7000-8000-000000000001"
"""An id of version 7, as the program makes them: its first twelve digits are a time."""
Record = dict[str, Any]


def identity(moment: int) -> str:
    """An id that was made at a time; larger is later."""
    digits = f"{0x019A00000000 + moment:012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-{moment:012x}"


class Rollout:
    """Writes a conversation record by record."""

    def __init__(self, session: str = SESSION, cwd: str = "/srv/shop", **meta: Any) -> None:
        self.session = session
        self.records: list[Record] = []
        self._count = 0
        self._used = 0
        fields = {"id": session, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": cwd, "cli_version": "0.140.0"}
        self.add("session_meta", **(fields | {"source": "cli", "git": {"branch": "main"}} | meta))

    def add(self, type_: str, **payload: Any) -> Record:
        self._count += 1
        at = f"2026-03-01T10:{self._count // 60:02}:{self._count % 60:02}.000Z"
        record = {"timestamp": at, "type": type_, "payload": payload}
        self.records.append(record)
        return record

    def item(self, type_: str, **payload: Any) -> Record:
        return self.add("response_item", **{"type": type_, **payload})

    def event(self, type_: str, **payload: Any) -> Record:
        return self.add("event_msg", **{"type": type_, **payload})

    def done(self, type_: str, **item: Any) -> Record:
        return self.event("item_completed", item={"type": type_, **item})

    def turn(self, number: int = 1, cwd: str | None = None, model: str = "gpt-x") -> None:
        self.event("task_started", turn_id=identity(number), model_context_window=100_000)
        self.add("turn_context", turn_id=identity(number), model=model, **({"cwd": cwd} if cwd else {}))

    def given(self, text: str, *more: str, role: str = "user", **fields: Any) -> Record:
        parts = [{"type": "input_text", "text": words} for words in (text, *more)]
        return self.item("message", role=role, content=parts, **fields)

    def prompt(self, text: str) -> None:
        """A person's words, as the program writes them: the item, and beside it the event."""
        self.given(text)
        self.event("user_message", message=text, images=[])

    def say(self, text: str, *, event: bool = True, **fields: Any) -> None:
        if event:
            self.event("agent_message", message=text)
        self.item("message", role="assistant", content=[{"type": "output_text", "text": text}], **fields)

    def call(self, call_id: str, name: str, **arguments: Any) -> Record:
        return self.item("function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)

    def run(self, call_id: str, command: str, **more: Any) -> Record:
        return self.call(call_id, "exec_command", cmd=command, **more)

    def output(self, call_id: str, output: Any, *, custom: bool = False) -> Record:
        return self.item(
            "custom_tool_call_output" if custom else "function_call_output", call_id=call_id, output=output
        )

    def patch(self, call_id: str, text: str) -> Record:
        return self.item("custom_tool_call", name="apply_patch", input=text, call_id=call_id, status="completed")

    def script(self, call_id: str, snippet: str) -> Record:
        return self.item("custom_tool_call", name="exec", input=snippet, call_id=call_id)

    def used(self, tokens: int, output: int = 10, cached: int = 0, limits: Any = None) -> Record:
        """A request was made: what it used, and what the session has used so far."""
        self._used += tokens + output
        last = {"input_tokens": tokens, "cached_input_tokens": cached, "output_tokens": output}
        total = {"input_tokens": self._used, "total_tokens": self._used}
        info = {"last_token_usage": last, "total_token_usage": total, "model_context_window": 100_000}
        return self.event("token_count", info=info, rate_limits=limits)

    def again(self) -> None:
        """The last record once more, as the program repeats its counts."""
        self.records.append(json.loads(json.dumps(self.records[-1])))

    def data(self) -> bytes:
        return b"".join(line(record) + b"\n" for record in self.records)

    @property
    def name(self) -> str:
        return f"rollout-2026-03-01T10-00-00-{self.session}.jsonl"

    def write(self, folder: Path, name: str | None = None) -> Path:
        path = folder / (name or self.name)
        path.write_bytes(self.data())
        return path

    def read(self, folder: Path, name: str | None = None) -> SessionLog:
        return read(self.write(folder, name))


def ended(code: int, text: str = "") -> str:
    """What the model is told of a command that ended."""
    head = f"Chunk ID: ab12\nWall time: 0.5 seconds\nProcess exited with code {code}\nOriginal token count: 3\n"
    return f"{head}Output:\n{text}"
