"""Codex sessions of any size, made up here and always the same.

What records there are, in which order, how many of each and how long, is what long real sessions show: a third of the
requests call several tools at once, the counts of a request come before its results, most thoughts are encrypted, and
of the bytes four in five are outputs, which versions of the program write twice where they note how a command ended.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

SESSION = "019a0000-0000-7000-8000-000000000001"
FOLDER = "/srv/shop"
_TEXT = "the build fails because a name in the filter has no type and the choice is lost after every reload"
_WORDS = _TEXT.split()
_SECRET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
Payload = dict[str, object]
Rows = Iterator[tuple[str, Payload]]


def name_of(session: str = SESSION) -> str:
    """What the program calls the file of a session."""
    return f"rollout-2026-03-01T10-00-00-{session}.jsonl"


def make_codex(size: int, folder: Path, *, items: bool = False) -> Path:
    """A session of so many bytes; ``items``: as current versions write it, else as they did for a year before."""
    path, written = folder / name_of(), 0
    with path.open("wb") as file:
        for number, (kind, payload) in enumerate((_Items if items else _Events)().records()):
            if written >= size:
                break
            line = {"timestamp": _moment(number), **({"ordinal": number} if items else {})}
            line |= {"type": kind, "payload": payload}
            written += file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return path


class _Session(ABC):
    """What the versions have in common."""

    def __init__(self) -> None:
        self._chance = random.Random(1)
        self._count = 0
        self._used = [0, 0, 0]

    def records(self) -> Rows:
        """One after the other, without end."""
        meta = {"id": SESSION, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": FOLDER, "originator": "codex-tui"}
        yield "session_meta", meta | {"cli_version": "0.130.0", "source": "cli", "git": {"branch": "main"}}
        turn = 0
        while True:
            turn += 1
            name = f"{0x19A00000000 + turn:012x}"
            name = f"{name[:8]}-{name[8:]}-7000-8000-{turn:012x}"
            yield "event_msg", {"type": "task_started", "turn_id": name, "model_context_window": 258_400}
            setting = {"mode": "default", "settings": {"model": "gpt-x", "developer_instructions": self.words(250)}}
            yield "turn_context", {"turn_id": name, "cwd": FOLDER, "model": "gpt-x", "collaboration_mode": setting}
            yield from self.prompt(self.words(12))
            for _request in range(self._chance.choice([1, 4, 12, 24])):
                yield from self.request()
            yield from self.say(self.words(60))
            yield from self.counted()
            yield "event_msg", {"type": "task_complete", "turn_id": name, "last_agent_message": "done"}

    def request(self) -> Rows:
        """What the model answers with, and what its calls bring back."""
        if self._chance.random() < 0.4:
            yield "response_item", self.thought()
        if self._chance.random() < 0.5:
            yield from self.say(self.words(30))
        calls = [self.next_name("call") for _ in range(self._chance.choice([1, 1, 2, 3, 4]))]
        for call in calls:
            yield from self.call(call)
        yield from self.counted()
        for call in calls:
            lines = self._chance.choice([5, 20, 80, 150, 300])
            yield from self.output(call, "\n".join(self.words(10) for _ in range(lines)) + "\n")

    @abstractmethod
    def prompt(self, text: str) -> Rows:
        """What the person typed."""

    @abstractmethod
    def say(self, text: str) -> Rows:
        """What the agent answered."""

    @abstractmethod
    def call(self, name: str) -> Rows:
        """A command that it calls for."""

    @abstractmethod
    def output(self, name: str, text: str) -> Rows:
        """What the command brought back."""

    def thought(self) -> Payload:
        """What is thought stands in the file, but cannot be read."""
        secret = "".join(self._chance.choices(_SECRET, k=60)) * self._chance.choice([15, 18, 20, 24, 110])
        return {"type": "reasoning", "summary": [], "content": None, "encrypted_content": secret}

    def words(self, count: int) -> str:
        return " ".join(self._chance.choices(_WORDS, k=count))

    def next_name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._chance.getrandbits(96):024x}"

    def usage(self) -> tuple[Payload, Payload]:
        """Of the last request, and of all."""
        last = [20_000 + self._count % 900, 19_000, 90]
        self._used = [before + more for before, more in zip(self._used, last, strict=True)]
        return _tokens(last), _tokens(self._used)

    def counted(self) -> Rows:
        """How many tokens a request took, and what is left of the allowances."""
        last, total = self.usage()
        info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 258_400}
        share = self._count // 50 % 100
        first = {"used_percent": float(share), "window_minutes": 300, "resets_at": 1_775_690_267}
        second = {"used_percent": 6.0, "window_minutes": 10_080, "resets_at": 1_776_277_067}
        limits = {"limit_id": "codex", "limit_name": None, "primary": first, "secondary": second, "credits": None}
        yield "event_msg", {"type": "token_count", "info": info, "rate_limits": limits | {"plan_type": "plus"}}


class _Events(_Session):
    """Items, and events beside them that say the same again."""

    def prompt(self, text: str) -> Rows:
        yield "response_item", _message("user", text)
        yield "event_msg", {"type": "user_message", "message": text, "images": [], "local_images": []}

    def say(self, text: str) -> Rows:
        yield "event_msg", {"type": "agent_message", "message": text, "phase": "commentary", "memory_citation": None}
        yield "response_item", _message("assistant", text) | {"phase": "commentary"}

    def call(self, name: str) -> Rows:
        given = {"cmd": f"npm test -- {self._count}", "workdir": FOLDER, "yield_time_ms": 1000}
        arguments = json.dumps(given | {"max_output_tokens": 8000}, separators=(",", ":"))
        yield (
            "response_item",
            {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": name},
        )

    def output(self, name: str, text: str) -> Rows:
        ended = {"type": "exec_command_end", "call_id": name, "process_id": str(self._count), "turn_id": SESSION}
        ended |= {"command": ["/bin/bash", "-lc", "npm test"], "cwd": FOLDER, "source": "unified_exec_startup"}
        ended |= {"parsed_cmd": [{"type": "unknown", "cmd": "npm test"}], "stdout": "", "stderr": ""}
        ended |= {"aggregated_output": text, "exit_code": 0, "duration": {"secs": 0, "nanos": 8208}}
        yield "event_msg", ended | {"formatted_output": "", "status": "completed"}
        head = (
            "Command: /bin/bash -lc npm test\nChunk ID: b5a9ac\nWall time: 0.0000 seconds\nProcess exited with code 0\n"
        )
        told = f"{head}Original token count: {len(text) // 4}\nOutput:\n{text}"
        yield "response_item", {"type": "function_call_output", "call_id": name, "output": told}


class _Items(_Session):
    """Items with names of their own, and what was done told in one family of events; commands run from scripts."""

    def prompt(self, text: str) -> Rows:
        yield "response_item", _message("user", text) | self._named("msg")
        item = {"type": "UserMessage", "id": self.next_name("u"), "content": [{"type": "text", "text": text}]}
        yield "event_msg", self._done(item)

    def say(self, text: str) -> Rows:
        name = self.next_name("msg")
        yield "event_msg", self._done({"type": "AgentMessage", "id": name, "content": [{"type": "Text", "text": text}]})
        yield "response_item", _message("assistant", text) | self._named("msg") | {"id": name, "status": "completed"}

    def call(self, name: str) -> Rows:
        if self._count % 3:
            given = json.dumps({"cmd": f"npm test -- {self._count}"}, separators=(",", ":"))
            call = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": name}
            yield "response_item", call | self._named("fc")
        else:
            snippet = f'const r = await tools.exec_command({{cmd: "npm test {self._count}"}}); text(r.output);'
            call = {"type": "custom_tool_call", "status": "completed", "call_id": name, "name": "exec"}
            yield "response_item", call | self._named("ctc") | {"namespace": "functions", "input": snippet}

    def output(self, name: str, text: str) -> Rows:
        item = {"type": "CommandExecution", "id": name, "process_id": str(self._count), "cwd": f"file://{FOLDER}"}
        item |= {"command": ["/bin/bash", "-lc", "npm test"], "source": "unified_exec_startup", "status": "completed"}
        item |= {"parsed_cmd": [{"type": "unknown", "cmd": "npm test"}], "aggregated_output": text, "exit_code": 0}
        yield "event_msg", self._done(item | {"duration": {"secs": 0, "nanos": 11987}})
        head = "Chunk ID: c4fae0\nWall time: 0.0000 seconds\nProcess exited with code 0\n"
        told = f"{head}Original token count: {len(text) // 4}\nOutput:\n{text}"
        yield "response_item", {"type": "function_call_output", "call_id": name, "output": told} | self._named("fco")

    def counted(self) -> Rows:
        last, total = self.usage()
        usage = {"thread_id": SESSION, "turn_id": SESSION, "response_id": self.next_name("resp"), "usage": last}
        yield "token_usage_record", usage | {"turn_token_usage": total, "thread_token_usage": total}
        info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 258_400}
        limits = dict.fromkeys(("primary", "secondary", "credits", "plan_type", "rate_limit_reached_type"))
        yield "event_msg", {"type": "token_count", "info": info, "rate_limits": {"limit_id": "codex"} | limits}

    def thought(self) -> Payload:
        return super().thought() | {"id": self.next_name("rs")}

    def _named(self, kind: str) -> Payload:
        note = {"turn_id": SESSION, "create_time": 1796041627.934432}
        return {"id": self.next_name(kind), "internal_chat_message_metadata_passthrough": note}

    def _done(self, item: Payload) -> Payload:
        done = {"type": "item_completed", "thread_id": SESSION, "turn_id": SESSION, "item": item}
        return done | {"started_at_ms": 1796041627851, "completed_at_ms": 1796041627851}


def _moment(number: int) -> str:
    """Ten records a second."""
    seconds, part = divmod(number, 10)
    return f"2026-03-01T{10 + seconds // 3600 % 14}:{seconds // 60 % 60:02}:{seconds % 60:02}.{part}00Z"


def _message(role: str, text: str) -> Payload:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _tokens(given: list[int]) -> Payload:
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    return dict(zip(names, given, strict=True)) | {"reasoning_output_tokens": 0, "total_tokens": given[0] + given[2]}
