"""Claude Code's tools: what kind of call, which command, which paths, which plan."""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern
from typing import Any, Literal, cast

import msgspec

from workbench.domain.message import AS_ARGUED, PlanItem, ToolCall, ToolKind, WrittenCall
from workbench.sessions.texts import ARGS_LIMIT, shortened

written = msgspec.json.Encoder(order="sorted").encode
"""Arguments as the text of their call."""
_as_it_came = msgspec.json.Encoder().encode

_KINDS: dict[str, ToolKind] = {
    "Bash": "execute",
    "bash": "execute",
    "PowerShell": "execute",
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "web_search": "fetch",
    "web_fetch": "fetch",
    "Task": "task",
    "Agent": "task",
    "TodoWrite": "todo",
    "TodoRead": "todo",
    "TaskCreate": "todo",
    "TaskUpdate": "todo",
    "TaskList": "todo",
    "TaskGet": "todo",
}
WAITING = frozenset({"BashOutput", "TaskOutput"})
"""Tools that ask how a command in the background goes on."""
APART = WAITING | {"TodoWrite"}
"""Tools whose calls mean more than they say."""
_TASK_KEYS = ("bash_id", "task_id", "shell_id")
_PATH_KEYS = ("file_path", "notebook_path", "path")
_STATUSES = ("pending", "in_progress", "completed")
Status = Literal["pending", "in_progress", "completed"]


def tool_kind(name: str) -> ToolKind:
    """The neutral kind of a tool."""
    return _KINDS.get(name) or ("mcp" if name.startswith("mcp__") else "other")


def command_of(kind: ToolKind, args: Any) -> str | None:
    """The command line of a call that runs one."""
    command = args.get("command") if kind == "execute" and isinstance(args, dict) else None
    return command if isinstance(command, str) else None


def made(call_id: str, name: str, kind: ToolKind, args: Any, data: bytes, text: str, command: str | None) -> ToolCall:
    """A call; its arguments are not held a second time where its text tells them as they came.

    Args:
        call_id: Its id.
        name: The tool.
        kind: The neutral kind of it.
        args: The arguments.
        data: The same, :func:`written`.
        text: The same, decoded.
        command: The command line.
    """
    paths = () if command is not None and len(args) == 1 else paths_of(args)
    if len(data) > ARGS_LIMIT and len(text) > ARGS_LIMIT:
        return ToolCall(call_id, intern(name), kind, shortened(args), command, paths)
    held = AS_ARGUED if command is not None and args.get("command") is command else command
    if _as_it_came(args) != data or (held == AS_ARGUED and "cmd" in args):
        return ToolCall(call_id, intern(name), kind, args, command, paths)
    return WrittenCall(call_id, intern(name), kind, text, held, paths)


def called(call_id: str, name: str, args: Any) -> tuple[ToolCall, str]:
    """A call and its text, by what its record says of it alone."""
    kind = tool_kind(name)
    data = written(args)
    text = data.decode()
    alone = kind == "execute" and type(args) is dict and len(args) == 1 and type(args.get("command")) is str
    if alone and len(data) <= ARGS_LIMIT:  # sorted, a single argument is as it came
        return WrittenCall(call_id, intern(name), kind, text, AS_ARGUED), text
    return made(call_id, name, kind, args, data, text, command_of(kind, args)), text


def task_of(name: str, args: Any) -> str | None:
    """The command in the background that a call asks after."""
    if name not in WAITING or type(args) is not dict:
        return None
    return next((value for key in _TASK_KEYS if type(value := args.get(key)) is str), None)


def paths_of(args: Any) -> tuple[str, ...]:
    """Paths that the arguments of a call name."""
    if type(args) is not dict:
        return ()
    for key in _PATH_KEYS:
        if type(path := args.get(key)) is str and path:
            return (path,)
    return ()


def todos(args: Any) -> tuple[PlanItem, ...] | None:
    """The whole plan that a ``TodoWrite`` call sets; None where it holds none."""
    rows = args.get("todos") if isinstance(args, dict) else None
    if not isinstance(rows, list):
        return None
    return tuple(
        PlanItem(text=row["content"], status=_status(row.get("status")), id=_id(row.get("id")))
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("content"), str)
    )


def created(plan: Sequence[PlanItem], args: Any, task: Any) -> tuple[PlanItem, ...] | None:
    """The plan after a ``TaskCreate`` that came back with ``task``."""
    text = task.get("subject") if isinstance(task, dict) else None
    if not isinstance(text, str):
        text = args.get("subject") if isinstance(args, dict) else None
    number = _id(task.get("id")) if isinstance(task, dict) else None
    if not isinstance(text, str) or number is None:
        return None
    return (*(item for item in plan if item.id != number), PlanItem(text=text, id=number))


def updated(plan: Sequence[PlanItem], args: Any) -> tuple[PlanItem, ...] | None:
    """The plan after a ``TaskUpdate`` that succeeded; None where it names no item of the plan."""
    number = _id(args.get("taskId")) if isinstance(args, dict) else None
    if number is None or all(item.id != number for item in plan):
        return None
    if args.get("status") == "deleted":
        return tuple(item for item in plan if item.id != number)
    subject = args.get("subject")
    return tuple(
        item
        if item.id != number
        else item.with_(
            text=subject if isinstance(subject, str) else item.text,
            status=_status(args["status"]) if "status" in args else item.status,
        )
        for item in plan
    )


def _status(value: Any) -> Status:
    return cast("Status", value) if isinstance(value, str) and value in _STATUSES else "pending"


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
