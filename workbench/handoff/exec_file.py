"""``workbench _exec FILE``: becomes the agent's program, after looking once more where it stands.

The order lies in an owner-only file, so no prompt, key or path is on a command line that others can
read, and no shell has a say. Nothing of the workspace is written here: what happened is told to the
launcher in the package's own folder (:class:`workbench.handoff.outbox.Outbox`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from workbench.domain.record import Part
from workbench.errors import DamagedError, RefusedError, WorkbenchError
from workbench.handoff.outbox import ORDER, Outbox
from workbench.store.git import head
from workbench.store.location import locate
from workbench.text import safe

NOT_STARTED = 126
"""Exit code where the program was not started."""
OF_THE_TERMINAL = frozenset(
    {
        "TERM",
        "TERM_PROGRAM",
        "TERM_PROGRAM_VERSION",
        "COLORTERM",
        "TMUX",
        "TMUX_PANE",
        "COLUMNS",
        "LINES",
        "WINDOWID",
        "STY",
    }
)
"""What describes the terminal the program stands in, and is never carried over from another one."""
NEVER_HANDED_ON = ("WORKBENCH_HUMAN_SHELL",)
"""That a person vouched for her shell does not hold for an agent started from it."""


class Order(Part, frozen=True, kw_only=True):
    """What is to be started, and where it must stand."""

    package: str
    argv: tuple[str, ...]
    cwd: str
    """Resolved: no part of it is a link."""
    env: dict[str, str]
    whole_env: bool = False
    """Whether ``env`` is the whole environment, apart from what is the terminal's own."""
    branch: str | None = None
    head: str | None = None
    prompt_file: str
    prompt_sha256: str
    stdin: bool = False
    """The program gets the prompt file as its standard input."""
    foreground: bool = False
    """It leads a process group of its own and takes the terminal."""
    once: bool = True
    """The order is used up by being taken; a printed one only when its program starts, for a person may try again."""


def write(outbox: Outbox, order: Order) -> Path:
    """Put an order down for ``_exec``; owner-only whatever the umask."""
    # The json module alone writes what is not valid UTF-8 (paths, variables) so that it reads back the same.
    return outbox.put(ORDER, json.dumps(msgspec.to_builtins(order)).encode())


def read(path: Path) -> Order:
    """The order in ``path``.

    Raises:
        RefusedError: The file or its folder is not the owner's alone, or it is not there any more.
        DamagedError: It is not an order.
    """
    _check_private(path.parent)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as problem:
        raise RefusedError(
            f"cannot open {path}: {problem.strerror}", "the launch was taken back, or carried out already"
        ) from None
    with open(fd, "rb") as file:
        _check_private(path, os.fstat(fd))
        data = file.read()
    try:
        return msgspec.convert(json.loads(data), Order)
    except (ValueError, msgspec.ValidationError) as problem:
        raise DamagedError(f"{path} is not an order: {problem}") from None


def _check_private(path: Path, info: os.stat_result | None = None) -> None:
    info = info or os.lstat(path)
    if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
        raise RefusedError(f"{path} is no plain file in a plain folder")
    if info.st_uid != os.geteuid() or info.st_mode & 0o077:
        raise RefusedError(f"{path} may be read or changed by others", "nothing is started from it")


def run_exec(path: Path, env: Mapping[str, str] | None = None) -> int:
    """Carry out the order in ``path``: does not come back where the program starts.

    Returns:
        ``NOT_STARTED``, after saying why on standard error and, in a terminal, waiting for a key so
        that a pane does not close over it.
    """
    path = path.absolute()
    outbox = Outbox(path.parent)
    visible = os.isatty(0) and os.isatty(2)
    try:
        _check_private(path.parent)
        with outbox.begun(wait=True):
            order = read(path)
            visible = visible and not order.foreground
            if order.once:
                outbox.remove(path.name)
            outbox.say("checking")
            try:
                _become(order, _checked(order), outbox, os.environ if env is None else env)
            except (WorkbenchError, OSError) as problem:
                outbox.say("refused", _words(problem))
                raise
    except (WorkbenchError, OSError) as problem:
        print(f"workbench: not started: {safe(_words(problem))}", file=sys.stderr, flush=True)
    if visible:
        _wait_for_key()
    return NOT_STARTED


def _words(problem: WorkbenchError | OSError) -> str:
    if isinstance(problem, WorkbenchError):
        return problem.message
    return f"{problem.filename or 'the program'}: {problem.strerror or problem}"


def check_place(folder: Path, branch: str | None, commit: str | None) -> None:
    """Whether a folder still stands where a package was made.

    Raises:
        RefusedError: The folder is gone or moved, or its branch or HEAD is another.
    """
    if os.path.realpath(folder) != str(folder) or not folder.is_dir():
        raise RefusedError(f"the folder {folder} is not there any more")
    now = head(locate(folder))
    if now.branch != branch:
        raise RefusedError(f"the branch is {now.branch or 'none'}, the package was made on {branch or 'none'}")
    if now.commit != commit:
        is_, was = (now.commit or "none")[:12], (commit or "none")[:12]
        raise RefusedError(f"HEAD is {is_}, the package was made at {was}")


def _checked(order: Order) -> int:
    """Looks at folder, branch, HEAD and prompt; gives the open prompt file, at its beginning."""
    check_place(Path(order.cwd), order.branch, order.head)
    fd = os.open(order.prompt_file, os.O_RDONLY | os.O_NOFOLLOW)
    digest = hashlib.sha256()
    while chunk := os.read(fd, 1 << 20):
        digest.update(chunk)
    if digest.hexdigest() != order.prompt_sha256:
        os.close(fd)
        raise RefusedError(f"{order.prompt_file} is not the prompt of the package any more")
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def environment(order: Order, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the program: the order's over, or instead of, the present one."""
    if order.whole_env:
        kept = {name: value for name, value in env.items() if name in OF_THE_TERMINAL}
        made = {name: value for name, value in order.env.items() if name not in OF_THE_TERMINAL}
        result = {**made, **kept}
    else:
        result = {**env, **order.env}
    for name in NEVER_HANDED_ON:
        result.pop(name, None)
    result["PWD"] = order.cwd
    return result


def _become(order: Order, prompt: int, outbox: Outbox, env: Mapping[str, str]) -> None:
    if order.foreground:
        _take_terminal()
    where = f"{order.branch or 'no branch'} at {(order.head or 'no commit')[:12]}"
    print(safe(f"workbench: starting {order.argv[0]} in {order.cwd} ({where})"), file=sys.stderr, flush=True)
    os.chdir(order.cwd)
    if order.stdin:
        os.dup2(prompt, 0)
    # Python ignores these, and a program started from it would inherit that.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    made = environment(order, env)
    program = order.argv[0] if "/" in order.argv[0] else shutil.which(order.argv[0], path=made.get("PATH"))
    if program is None:
        raise RefusedError(f"there is no program {order.argv[0]!r} on PATH")
    outbox.say("exec")
    taken = outbox.get(ORDER)
    outbox.remove(ORDER)  # it starts one program, never a second one
    try:
        os.execve(program, list(order.argv), made)
    except OSError:
        if taken is not None:
            outbox.put(ORDER, taken)
        raise


def _take_terminal() -> None:
    """Make this process group the terminal's; the launcher does the same, and either may be first."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(OSError):  # there may be no terminal at all
            os.tcsetpgrp(2, os.getpgrp())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})


def _wait_for_key() -> None:
    print("press Enter to close", file=sys.stderr, flush=True)
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            terminal.read(1)
    except OSError:
        return
