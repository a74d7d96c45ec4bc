"""A real agent at work in one terminal and the app beside it in another, in a network that ends at this machine.

``python -m tests.e2e.agent_day AGENT PROGRAM TOOLS FOLDER`` plays a short day: a session is picked in the app and
followed, the conversation is cleared, the agent left and resumed, and forked where it can. The model is a script.
What the app showed is left in FOLDER, and told as one JSON document on standard output.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKBENCH = (sys.executable, "-P", "-m", "workbench")
PATIENCE = 25.0
"""Seconds that one step may take."""
ANSWERS = ("one", "two", "three", "four", "five", "six")
LOOK = [
    {"tool": "exec_command", "args": {"cmd": "cat sum.txt"}},
    {"tool": "bash", "args": {"command": "cat sum.txt", "description": "Look"}},
]
SCRIPT = {
    "side": "Add up",
    "turns": [
        {"say": "Looking first.", "call": LOOK},
        *({"say": f"This is answer {word}.", "delay": 0.2} for word in ANSWERS),
    ],
}
CODEX_CONFIG = """
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
[projects."{folder}"]
trust_level = "trusted"
"""


class StuckError(Exception):
    """What was waited for did not come."""


@dataclass(frozen=True)
class Agent:
    """How one of them is spoken to."""

    start: list[str]
    resume: list[str]
    fork: list[str]
    ready: str
    """A pattern of its screen when it takes a prompt."""
    clear: str
    leave: str


def claude(program: str, home: Path, folder: Path, url: str, env: dict[str, str]) -> Agent:
    """Claude Code, past every question of a first run."""
    config = home / ".claude"
    config.mkdir()
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    (config / ".claude.json").write_text(
        json.dumps({
            "hasCompletedOnboarding": True,
            "bypassPermissionsModeAccepted": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": {str(folder): known},
        })
    )  # fmt: skip
    env.update(
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY="dummy",
        IS_SANDBOX="1",
        DISABLE_AUTOUPDATER="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        CLAUDE_CONFIG_DIR=str(config),
    )
    start = [program, "--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"]
    again = [*start, "--continue"]
    return Agent(start, again, [*again, "--fork-session"], r"bypass permissions on", "/clear", "/exit")


def codex(program: str, home: Path, folder: Path, url: str, env: dict[str, str]) -> Agent:
    """Codex, without the server of its own that would outlive it."""
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(CODEX_CONFIG.format(url=url, folder=folder))
    env["SCRIPTED_API_KEY"] = "dummy"
    more = ["--no-daemon", "--no-alt-screen", "-C", str(folder)]
    return Agent(
        [program, *more],
        [program, "resume", "--last", *more],
        [program, "fork", "--last", *more],
        r"Ask Codex|scripted default",
        "/new",
        "/quit",
    )


class Terminals:
    """Two terminals of a server of their own."""

    def __init__(self, socket_: str, env: dict[str, str]) -> None:
        self._base = ["tmux", "-S", socket_, "-f", "/dev/null"]
        self._env = env

    def tmux(self, *words: str) -> str:
        """One command of the server."""
        done = subprocess.run([*self._base, *words], capture_output=True, text=True, env=self._env, check=False)
        return done.stdout

    def open(self, name: str, size: tuple[int, int], folder: Path, *command: str) -> None:
        """A terminal of that size."""
        place = ["-x", str(size[0]), "-y", str(size[1]), "-c", str(folder)]
        self.tmux("new-session", "-d", "-s", name, *place, *command)

    def screen(self, name: str) -> str:
        """What stands on it."""
        return self.tmux("capture-pane", "-p", "-t", name)

    def keys(self, name: str, *keys: str) -> None:
        """Press keys by their names."""
        self.tmux("send-keys", "-t", name, *keys)

    def type(self, name: str, text: str) -> None:
        """Type words, and enter once they stand on the screen."""
        self.tmux("send-keys", "-t", name, "-l", text)
        self.until(name, re.escape(text.split(" ")[-1]))
        time.sleep(0.3)
        self.keys(name, "Enter")

    def until(self, name: str, pattern: str, meanwhile: Callable[[str], None] | None = None) -> str:
        """Wait until a pattern stands on a screen, which is given back."""
        end = time.monotonic() + PATIENCE
        while True:
            shown = self.screen(name)
            if re.search(pattern, shown):
                return shown
            if time.monotonic() > end:
                raise StuckError(f"{name}: nothing like {pattern!r} on the screen:\n{shown}")
            if meanwhile is not None:
                meanwhile(shown)
            time.sleep(0.1)


def only_this_machine() -> None:
    """Bring up the loopback of a network that has nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))


def project(folder: Path, env: dict[str, str]) -> None:
    """A repository, a workspace and a task."""
    folder.mkdir()
    (folder / "sum.txt").write_text("2 + 3\n")
    person = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for words in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "add", "."],
        ["git", *person, "commit", "-qm", "start"],
        [*WORKBENCH, "init"],
        [*WORKBENCH, "task", "new", "Add up", "--objective", "The sum is right."],
    ):
        subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)


def play(agent: Agent, terminals: Terminals, folder: Path, told: dict[str, Any]) -> None:
    """The day itself; what the app showed at each step goes into ``told``."""
    terminals.open("agent", (110, 40), folder)
    terminals.open("app", (180, 50), folder, shlex.join(WORKBENCH))

    def launch(argv: list[str]) -> None:
        terminals.tmux("clear-history", "-t", "agent")
        terminals.type("agent", "clear")
        terminals.tmux("send-keys", "-t", "agent", "-l", shlex.join(argv))
        terminals.keys("agent", "Enter")
        terminals.until("agent", agent.ready)
        time.sleep(1)

    def shown(step: str, pattern: str) -> str:
        began = time.monotonic()
        screen = terminals.until("app", pattern)
        told[step] = {"seconds": round(time.monotonic() - began, 2), "screen": screen}
        return screen

    def leave() -> None:
        terminals.type("agent", agent.leave)
        terminals.until("agent", r"[$#] $|[$#] *\n*$")
        time.sleep(0.5)

    launch(agent.start)
    terminals.type("agent", "please add up")
    terminals.until("agent", "answer one")
    terminals.until("app", "No session is attached")
    terminals.keys("app", "S")
    shown("picker", r"(?s)agents' sessions here.*● \w+ +please add up")
    terminals.keys("app", "Enter")
    shown("attached", "This is answer one")

    terminals.type("agent", "and test it")
    shown("followed", "This is answer two")

    terminals.type("agent", agent.clear)
    time.sleep(1)
    if "enter select" in terminals.screen("agent"):
        terminals.keys("agent", "Enter")
    time.sleep(1)
    terminals.type("agent", "now subtract")
    shown("joined", "joined: ")
    shown("cleared", "This is answer three")

    leave()
    launch(agent.resume)
    terminals.type("agent", "go on then")
    shown("resumed", "This is answer four")

    leave()
    launch(agent.fork)
    terminals.type("agent", "on the fork")
    shown("forked", "This is answer five")
    leave()
    terminals.keys("app", "u")
    shown("undo", "session join")
    terminals.keys("app", "Enter")
    shown("undone", "Taken back")
    terminals.keys("app", "q")


def main() -> int:
    """See the module."""
    name, program, tools, place = sys.argv[1:5]
    sys.path.insert(0, tools)
    from scripted_model import ScriptedModel  # type: ignore[import-not-found]

    only_this_machine()
    base = Path(place)
    home, folder = base / "home", base / "work"
    home.mkdir(parents=True)
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "WORKBENCH_HUMAN_SHELL": "1",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PS1": "$ ",
    }
    told: dict[str, Any] = {}
    project(folder, env)
    with ScriptedModel({name: SCRIPT}, str(base / "model.jsonl")) as model, tempfile.TemporaryDirectory() as sockets:
        agent = {"claude": claude, "codex": codex}[name](program, home, folder, model.url(name), env)
        terminals = Terminals(f"{sockets}/tmux", env)
        try:
            play(agent, terminals, folder, told)
        except StuckError as stuck:
            told["stuck"] = str(stuck)
            told["screens"] = {name: terminals.screen(name) for name in ("agent", "app")}
        finally:
            terminals.tmux("kill-server")
        listed = [*WORKBENCH, "attempt", "list", "@", "--json"]
        done = subprocess.run(listed, cwd=folder, env=env, capture_output=True, text=True, check=False)
        told["attempts"] = json.loads(done.stdout)["attempts"] if done.returncode == 0 else done.stderr
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
