"""Codex's tools: what kind of call, which command, which paths, which plan."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

import msgspec

from workbench.domain.message import PlanItem, ToolKind
from workbench.sessions.codex import patches

_KINDS: dict[str, ToolKind] = {
    "exec_command": "execute",
    "shell": "execute",
    "shell_command": "execute",
    "local_shell": "execute",
    "container.exec": "execute",
    "write_stdin": "execute",
    "bash": "execute",
    "apply_patch": "edit",
    "read_file": "read",
    "view_image": "read",
    "read": "read",
    "grep_files": "search",
    "list_dir": "search",
    "tool_search": "search",
    "web_search": "fetch",
    "update_plan": "todo",
    "spawn_agent": "task",
    "wait_agent": "task",
    "send_input": "task",
    "close_agent": "task",
}
_SHELLS = ("sh", "bash", "zsh", "dash", "fish")
_STATUSES = ("pending", "in_progress", "completed")
Status = Literal["pending", "in_progress", "completed"]

# A snippet of the program's script runtime calls the tools as functions of one object. Patterns begin with the letters
# that they are found by: these are looked for quickly, and only then whether they begin a word.
_SCRIPT_CALL = re.compile(r"tools(?<!\wtools)\s*(?:\.\s*(\w+)|\[\s*[\"'](\w+)[\"']\s*\])\s*\(")
_STRING = r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`)"""
_COMMAND = re.compile(rf"""cmd(?<!\wcmd)["']?\s*:\s*{_STRING}""")
_STEP = re.compile(rf"""["']?\bstep["']?\s*:\s*{_STRING}""")
_STATUS = re.compile(r"""["']?\bstatus["']?\s*:\s*["'](\w+)["']""")


_LOOSE = json.JSONDecoder(strict=False)
_decode = msgspec.json.Decoder().decode


class Call(msgspec.Struct, frozen=True, gc=False):
    """What the arguments of a call say."""

    kind: ToolKind
    args: Any = None
    text: str = ""
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    plan: tuple[PlanItem, ...] | None = None
    single: bool = True
    """Whether it is one call; a script may make several, or none."""
    process: str | None = None
    """The running process that it goes on with."""


def understand(name: str, namespace: Any, given: Any) -> Call:
    """A call by its name and arguments, which come as JSON, as JSON in a string, or as plain text.

    Args:
        name: The tool.
        namespace: What it is part of; a server's tools name the server here.
        given: The arguments as recorded.
    """
    if name == "exec" and isinstance(given, str):
        return _script(given)
    args = parsed(given)
    text = given if isinstance(given, str) else msgspec.json.encode(given, order="sorted").decode()
    kind = _KINDS.get(name.lower(), "other")
    if name.startswith("mcp__") or (isinstance(namespace, str) and namespace.startswith("mcp__")):
        kind = "mcp"
    if kind == "execute":
        return _execute(args, text)
    if kind == "edit":
        patch = _patch(args)
        return Call(kind, args, text, paths=patches.paths(patch))
    if kind == "todo":
        return Call(kind, args, text, plan=plan_of(args))
    path = args.get("path") or args.get("file_path") if isinstance(args, dict) else None
    return Call(kind, args, text, paths=(path,) if isinstance(path, str) and path else ())


def parsed(given: Any) -> Any:
    """Arguments as recorded; JSON in a text is what it stands for."""
    if not isinstance(given, str):
        return given
    try:
        value = _decode(given)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return given
    return value if isinstance(value, (dict, list)) else given


class Run(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The arguments of a call that runs one command; all that it may have are read, so that it is JSON throughout."""

    cmd: str
    workdir: Any = msgspec.UNSET
    yield_time_ms: Any = None
    max_output_tokens: Any = None
    tty: Any = None
    shell: Any = None
    login: Any = None
    justification: Any = None
    prefix_rule: Any = None
    sandbox_permissions: Any = None
    additional_permissions: Any = None
    cwd: Any = msgspec.UNSET
    working_directory: Any = msgspec.UNSET

    def folder(self) -> str | None:
        """The same as :func:`folder_in`."""
        for folder in (self.workdir, self.cwd, self.working_directory):
            if folder is not msgspec.UNSET:
                return folder if type(folder) is str and folder else None
        return None


_decode_run = msgspec.json.Decoder(Run).decode


def run_in(given: str) -> Run | None:
    """A plain command that arguments as recorded say to run; None where they say anything else."""
    try:
        run = _decode_run(given)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return run if run.cmd and "*** Begin Patch" not in run.cmd else None


def _execute(args: Any, text: str) -> Call:
    fields = args if isinstance(args, dict) else {}
    command = shell_line(fields.get("cmd", fields.get("command")))
    process = fields.get("session_id")
    return Call(
        "execute",
        args,
        text,
        command,
        folder_in(fields),
        patches.paths(command) if command and "*** Begin Patch" in command else (),
        None,
        True,
        str(process) if isinstance(process, (int, str)) and command is None else None,
    )


def folder_in(args: dict[str, Any]) -> str | None:
    """The folder that a command is to run in, where its call says so."""
    folder = args.get("workdir", args.get("cwd", args.get("working_directory")))
    return folder if isinstance(folder, str) and folder else None


def shell_line(command: Any) -> str | None:
    """A command as the line that was meant: what a shell is given by ``-c``, without the shell around it."""
    if isinstance(command, str):
        return command or None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return None
    program = command[0].rpartition("/")[2]
    if len(command) == 3 and program in _SHELLS and command[1] in ("-c", "-lc", "-ic"):
        return str(command[2])
    return " ".join(_quoted(word) for word in command)


def _quoted(word: str) -> str:
    import shlex  # only for argument lists, which current versions no longer write

    return shlex.quote(word)


def _patch(args: Any) -> str:
    if isinstance(args, str):
        return args
    if isinstance(args, dict):
        for key in ("input", "patch"):
            if isinstance(args.get(key), str):
                return str(args[key])
    return ""


def _script(snippet: str) -> Call:
    """A snippet for the script runtime: read as a call of its own where it plainly makes exactly one."""
    named = [found[1] or found[2] for found in _SCRIPT_CALL.finditer(snippet)]
    if len(named) != 1:
        return Call("other", snippet, snippet, single=False)
    name = named[0]
    kind = "mcp" if name.startswith("mcp__") else _KINDS.get(name, "other")
    if kind == "execute":
        found = _COMMAND.search(snippet)
        command = _literal(found[1]) if found else None
        return Call("execute" if command else "other", snippet, snippet, command=command, single=command is not None)
    if kind == "edit":
        paths = patches.paths(snippet.replace("\\n", "\n"))
        return Call(kind, snippet, snippet, paths=paths)
    if kind == "todo":
        return Call(kind, snippet, snippet, plan=_script_plan(snippet))
    return Call(kind, snippet, snippet)


def _literal(text: str) -> str | None:
    """The value of a string as a script writes it; None where it is not plainly a constant."""
    body = text[1:-1]
    if text[0] == "`":
        return None if "${" in body else body.replace("\\`", "`").replace("\\\\", "\\")
    if "\\" not in body:
        return body
    if text[0] == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    try:
        value = _LOOSE.decode(f'"{body}"')
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _script_plan(snippet: str) -> tuple[PlanItem, ...] | None:
    items = []
    steps = list(_STEP.finditer(snippet))
    for number, step in enumerate(steps):
        text = _literal(step[1])
        end = steps[number + 1].start() if number + 1 < len(steps) else len(snippet)
        # The status stands after its step, or before it in the same pair of braces.
        begin = snippet.rfind("{", 0, step.start())
        status = _STATUS.search(snippet, step.end(), end) or _STATUS.search(snippet, max(begin, 0), step.start())
        if text is not None:
            items.append(PlanItem(text=text, status=_status(status[1] if status else None)))
    return tuple(items) or None


def plan_of(args: Any) -> tuple[PlanItem, ...] | None:
    """The whole plan that a call sets; None where it holds none."""
    rows = args.get("plan") if isinstance(args, dict) else None
    if not isinstance(rows, list):
        return None
    return tuple(
        PlanItem(text=row["step"], status=_status(row.get("status")))
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("step"), str)
    )


def _status(value: Any) -> Status:
    return cast("Status", value) if isinstance(value, str) and value in _STATUSES else "pending"
