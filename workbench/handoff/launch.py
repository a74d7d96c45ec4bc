"""Starting the receiver: a plan that a person can read first, and its execution.

The plan is made from data alone; the one thing looked up is where the program lies. What is shown is
what runs: the argument list, the folder, and the additions to the environment.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from workbench.agents.program import AgentProgram, LaunchInput, installed
from workbench.domain.package import Envelope, LaunchWay
from workbench.errors import NotBuiltError, NotFoundError, RefusedError, UsageError
from workbench.handoff import clipboard, exec_file, foreground, tmux
from workbench.handoff.outbox import COMMAND, ORDER, Outbox, Outcome
from workbench.text import one_line, safe

BEGIN_WITHIN = 20.0
"""Seconds for a new pane to begin; a loaded machine needs a few."""
CHECK_WITHIN = 30.0
"""Seconds for the checks before the program starts."""
AT_ONCE = 5.0
"""Seconds within which a program that fails has not begun to work: a wrong option, no login."""
_PAUSE = 0.02


@cache
def own_program() -> tuple[str, ...]:
    """How this program is started from anywhere.

    ``-P`` keeps a folder named ``workbench`` in the worktree from being taken for it; run from a checkout
    that was never installed, the checkout is named.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    start = (sys.executable, "-P", "-m", "workbench")
    try:
        distribution("handoff-workbench")
    except PackageNotFoundError:
        return ("env", f"PYTHONPATH={Path(__file__).resolve().parents[2]}", *start)
    return start


@dataclass(frozen=True)
class Place:
    """Where the receiver starts, as the person saw it when confirming."""

    folder: Path
    """The worktree."""
    worktree: str | None = None
    """Git's own name for it."""
    branch: str | None = None
    head: str | None = None


@dataclass(frozen=True)
class LaunchPlan:
    """What would be started, where, and with what."""

    way: LaunchWay
    package: str
    agent: str
    argv: tuple[str, ...]
    """The agent's command; its first word is the program's full path where it was found."""
    env: Mapping[str, str]
    """Additions to the environment."""
    place: Place
    outbox: Outbox
    prompt_sha256: str
    stdin: bool = False
    """The prompt goes to standard input."""
    session_id: str | None = None
    """The receiver's session, where it could be chosen."""
    found: bool = True
    """Whether the program is installed here; only print and copy go on without it."""
    paste: str | None = None
    """What the person must paste into the started program."""
    where: tmux.Where = "split"

    @property
    def cwd(self) -> Path:
        """The folder it starts in."""
        return self.place.folder

    @property
    def prompt_file(self) -> Path:
        """Where the prompt lies for the receiver."""
        return self.outbox.prompt

    @property
    def exec_file(self) -> Path:
        """The order that ``workbench _exec`` carries out."""
        return self.outbox.order

    @property
    def command(self) -> tuple[str, ...]:
        """The command that starts the agent, with the checks before it: what is put into a pane."""
        return (*own_program(), "_exec", str(self.exec_file))

    @property
    def by_hand(self) -> str:
        """The agent's own command as a line for a person's shell; never run from here."""
        words = ["env", *(f"{name}={value}" for name, value in sorted(self.env.items())), *self.argv]
        source = f" < {quoted(str(self.prompt_file))}" if self.stdin else ""
        return f"cd {quoted(str(self.cwd))} && {' '.join(map(quoted, words))}{source}"

    @property
    def text(self) -> str:
        """What ``print`` gives: how to start it, checked or by hand, and where the prompt lies."""
        at = f"{self.place.branch or 'no branch'} at {(self.place.head or 'no commit')[:12]}"
        lines = [
            f"# starts {self.agent} in {one_line(str(self.cwd), 400)} after looking that it is still on {at}:",
            " ".join(map(quoted, self.command)),
            "# the same without that look:",
            self.by_hand,
            f"# the prompt: {one_line(str(self.prompt_file), 400)}",
        ]
        if not self.found:
            lines.insert(0, f"# {self.agent} is not installed here (no {self.argv[0]!r} on PATH)")
        if self.paste:
            lines += ["# then paste this as its first prompt:", self.paste]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Launched:
    """What a launch came to."""

    way: LaunchWay
    started: bool
    """The agent's program runs (or ran); False for print and copy, whose session is still to be seen."""
    text: str = ""
    """For print and copy: what was printed or put away."""
    said: str = ""
    """One line for the person."""
    pane: str | None = None
    pid: int | None = None
    born: str = ""
    """When that process began, as it said itself: another one may have its number by now."""
    session_id: str | None = None
    """The receiver's session, where it could be chosen."""
    exit_code: int | None = None
    """Of a foreground program, after it ended."""
    ended_at_once: bool = False
    """It failed so soon after its start that it cannot have worked."""
    sequence: str = ""
    """For copy: what a caller who owns the terminal may write to it (OSC 52)."""


def sentence(prompt_file: Path, snapshot: str) -> str:
    """The one fixed sentence that an interactive agent is given."""
    return f"Read the file {prompt_file} completely and carry out the task it hands over to you (handoff {snapshot})."


def plan(
    program: AgentProgram,
    envelope: Envelope,
    attempt: str,
    *,
    way: LaunchWay,
    place: Place,
    workspace: Path,
    state: Path,
    env: Mapping[str, str],
    inline: str | None = None,
    headless: bool = False,
    where: tmux.Where = "split",
) -> LaunchPlan:
    """What a launch of a package would do; nothing is written or started.

    Args:
        program: The receiving agent.
        envelope: The package.
        attempt: The reserved attempt.
        way: How to launch.
        place: Where it must stand.
        workspace: The workspace folder, for the receiver's own ``workbench``.
        state: The user's state folder.
        env: The environment, for ``PATH`` and tmux.
        inline: The whole prompt, to stand in the argument list in place of the sentence.
        headless: Without a terminal of its own: the prompt on standard input.
        where: A split or a window, for tmux.

    Raises:
        NotBuiltError: ``acp``.
        NotFoundError: The program is not installed, and the way needs it.
        RefusedError: tmux is asked for outside tmux.
        UsageError: The program cannot be started so, or the text cannot be an argument.
    """
    _possible(way, headless, env)
    outbox = Outbox.of(state, envelope.id)
    folder = replace(place, folder=Path(os.path.realpath(place.folder)))
    line = program.command(
        LaunchInput(
            sentence=sentence(outbox.prompt, envelope.snapshot),
            prompt_folder=outbox.folder,
            prompt_file=outbox.prompt,
            cwd=folder.folder,
            session_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"workbench:{attempt}")),
            inline=inline,
            headless=headless,
        )
    )
    path = installed(program, env)
    if path is None and way not in ("print", "copy"):
        raise NotFoundError(
            f"{program.title} is not installed: no {line.argv[0]!r} on PATH",
            "install it, name its command under [agents] in your configuration, or launch with print",
        )
    argv = (os.path.abspath(path), *line.argv[1:]) if path else line.argv  # noqa: PTH100 - links stay as they are
    for word in (*argv, *line.env.values()):
        if "\0" in word:
            raise UsageError("an argument of the agent's command holds a NUL", "look at [agents] in your configuration")
    ours = {
        "WORKBENCH_ACTOR": f"agent:{program.name}",
        "WORKBENCH_TASK": envelope.task,
        "WORKBENCH_ATTEMPT": attempt,
        "WORKBENCH_WORKSPACE": str(workspace),
    }
    return LaunchPlan(
        way=way,
        package=envelope.id,
        agent=program.name,
        argv=argv,
        env={**line.env, **ours},
        place=folder,
        outbox=outbox,
        prompt_sha256=envelope.prompt_sha256,
        stdin=line.stdin_prompt,
        session_id=line.session_id,
        found=path is not None,
        paste=line.paste,
        where=where,
    )


def _possible(way: LaunchWay, headless: bool, env: Mapping[str, str]) -> None:
    if way == "acp":
        raise NotBuiltError(
            "launching over ACP is not built yet in this version", "launch with tmux, foreground, print or copy"
        )
    if way == "tmux" and tmux.program(env) is None:
        raise RefusedError("this terminal is not inside tmux", "start tmux, or launch with foreground, print or copy")
    if headless and way in ("print", "copy"):
        raise UsageError("--headless goes with tmux or foreground", "leave it out, or launch with one of these")


def carry_out(plan: LaunchPlan, env: Mapping[str, str], began: Callable[[Launched], None]) -> Launched:
    """Start what was planned; the prompt must lie in the outbox already.

    Args:
        plan: What to start.
        env: The whole environment of the person, which the agent gets (not its terminal's variables).
        began: Called once, when the program runs or the text is ready; for the foreground that is long
            before this returns.

    Raises:
        RefusedError: It did not start; the message says why, and nothing of it runs.
    """
    plan.outbox.clear()
    exec_file.write(plan.outbox, order_for(plan, env))
    if plan.way in ("print", "copy"):
        text = Launched("print", started=False, text=plan.text, said="the command is below; nothing was started")
        result = text if plan.way == "print" else _copy(plan, env)
        began(result)
        return result
    try:
        if plan.way == "foreground":
            return _in_foreground(plan, env, began)
        result = _in_tmux(plan, env)
    except BaseException:
        plan.outbox.remove(ORDER)  # nobody took it, and it holds the person's environment
        raise
    began(result)
    return result


def check_ready(plan: LaunchPlan, env: Mapping[str, str]) -> None:
    """What can be known to fail before anybody gives anything up.

    Raises:
        RefusedError: tmux does not answer, or folder, branch or HEAD are not those of the plan.
    """
    exec_file.check_place(plan.cwd, plan.place.branch, plan.place.head)
    if plan.way == "tmux":
        tmux.run(env, "display-message", "-p", "#{version}")


def order_for(plan: LaunchPlan, env: Mapping[str, str]) -> exec_file.Order:
    """What ``_exec`` is told to carry out."""
    # A printed order lies there until somebody uses it: it holds no environment but its additions.
    runs_now = plan.way in ("tmux", "foreground")
    return exec_file.Order(
        package=plan.package,
        argv=plan.argv,
        cwd=str(plan.cwd),
        env={**env, **plan.env} if runs_now else dict(plan.env),
        whole_env=runs_now,
        branch=plan.place.branch,
        head=plan.place.head,
        prompt_file=str(plan.prompt_file),
        prompt_sha256=plan.prompt_sha256,
        stdin=plan.stdin,
        foreground=plan.way == "foreground",
        once=runs_now,
    )


def _copy(plan: LaunchPlan, env: Mapping[str, str]) -> Launched:
    line = " ".join(map(quoted, plan.command))
    file = plan.outbox.put(COMMAND, plan.text.encode("utf-8", "surrogateescape"))
    done = clipboard.copy(line, env)
    if done.proven:
        said = f"the command that starts {plan.agent} is in {done.where}; it lies in {file}, too"
    elif done.where:
        said = f"sent to {done.where}, which does not say whether it took it; the command lies in {file}"
    else:
        said = f"not copied; the command lies in {file}"
    return Launched("copy", started=False, text=plan.text, said=said, sequence=done.sequence)


def _in_tmux(plan: LaunchPlan, env: Mapping[str, str]) -> Launched:
    pane = tmux.open_pane(env, plan.command, plan.outbox.folder, plan.where, plan.agent)
    outcome = _wait(plan.outbox, lambda: _lives(env, pane))
    if outcome.state != "exec":
        if outcome.state == "checking":
            tmux.close(env, pane)
        raise RefusedError(f"{plan.agent} was not started: {outcome.why}", pane=pane.id)
    said = f"{plan.agent} was started in a tmux {'pane' if pane.where == 'split' else 'window'} ({pane.id})"
    return Launched(
        "tmux", started=True, said=said, pane=pane.id, session_id=plan.session_id, pid=outcome.pid, born=outcome.born
    )


def _lives(env: Mapping[str, str], pane: tmux.Pane) -> bool:
    try:
        return tmux.alive(env, pane)
    except RefusedError:  # the server is gone or stuck: what the pane told is all there is
        return False


def _in_foreground(plan: LaunchPlan, env: Mapping[str, str], began: Callable[[Launched], None]) -> Launched:
    seen: list[Launched] = []

    def look(alive: Callable[[], bool]) -> None:
        outcome = _wait(plan.outbox, alive)
        if outcome.state != "exec":
            raise RefusedError(f"{plan.agent} was not started: {outcome.why}")
        said = f"{plan.agent} has the terminal"
        program = Launched(
            "foreground", started=True, said=said, session_id=plan.session_id, pid=outcome.pid, born=outcome.born
        )
        seen.append(program)
        began(seen[0])

    started = time.monotonic()
    code = foreground.run(plan.command, plan.outbox.folder, env, look)
    at_once = code != 0 and time.monotonic() - started < AT_ONCE
    ended = f"{plan.agent} ended with exit code {code}" if code >= 0 else f"{plan.agent} was ended by signal {-code}"
    return replace(seen[0], exit_code=code, said=ended, ended_at_once=at_once)


def _wait(outbox: Outbox, alive: Callable[[], bool]) -> Outcome:
    """What came of an order: that the program took its place, or why it did not.

    Never guesses: an order that nobody took in time is withdrawn first, so that it cannot be taken later.
    """
    until = time.monotonic() + BEGIN_WITHIN
    checks_until = until + CHECK_WITHIN
    while True:
        running = alive()  # asked before looking, so that what a process told before it ended is seen
        with outbox.begun(wait=False) as free:
            outcome = outbox.outcome() if free else None
            late = time.monotonic() > until
            if free and outcome is None and (late or not running):
                outbox.remove(ORDER)
                why = f"nothing began within {BEGIN_WITHIN:g} s" if running else "its pane or process ended at once"
                return Outcome(state="checking", why=why, pid=0)
        if outcome is not None and outcome.state == "checking":
            return outcome.with_(why="the starting process ended without saying why")
        if outcome is not None:
            return outcome
        if time.monotonic() > checks_until:
            return Outcome(state="checking", why=f"the checks did not end within {CHECK_WITHIN:g} s", pid=0)
        time.sleep(_PAUSE)


def quoted(word: str) -> str:
    """``word`` for a person's shell (bash, zsh), with nothing in it that could drive her terminal."""
    if safe(word, tab="\t") == word:
        return shlex.quote(word)
    shown = "".join(c if c == "\n" or c.isprintable() else _escape(c) for c in word.replace("\\", "\\\\"))
    return "$'" + shown.replace("'", "\\'") + "'"


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\U{code:08x}"
