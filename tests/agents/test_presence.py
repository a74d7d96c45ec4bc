"""Whether an agent stands behind a process: marks, parents, and what only looks like one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.agents.presence import detect
from workbench.agents.processes import Process, ProcessTable, parents, proc_table, ps_table


def chain(*processes: tuple[str, list[str]]) -> ProcessTable:
    """A table in which process 1000 has ``processes`` above it, nearest first."""
    table = {1000: Process(1000, 1001, "workbench", ("python", "-m", "workbench"))}
    for number, (name, argv) in enumerate(processes):
        pid = 1001 + number
        table[pid] = Process(pid, pid + 1 if number + 1 < len(processes) else 0, name, tuple(argv))
    return table.get


NOBODY = chain(("zsh", ["-zsh"]), ("tmux: server", ["tmux", "new", "-s", "claude"]), ("systemd", ["/sbin/init"]))


@pytest.mark.parametrize(
    ("mark", "agent"),
    [
        ("CLAUDECODE", "claude"),
        ("CLAUDE_CODE_ENTRYPOINT", "claude"),
        ("CODEX_SANDBOX", "codex"),
        ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
        ("CODEX_THREAD_ID", "codex"),
        ("GEMINI_CLI", "gemini"),
        ("OPENCODE", "opencode"),
        ("QWEN_CODE", "qwen"),
        ("PI_CODING_AGENT", "pi"),
        ("CURSOR_AGENT", "cursor"),
        ("GOOSE_TERMINAL", "goose"),
    ],
)
def test_marks(mark: str, agent: str) -> None:
    found = detect({mark: "1"}, 1000, NOBODY)
    assert found.agent == agent
    assert mark in found.how
    assert detect({mark: ""}, 1000, NOBODY).agent is None


@pytest.mark.parametrize(
    ("env", "agent"),
    [
        ({"AI_AGENT": "claude-code@2.1"}, "claude"),
        ({"AI_AGENT": "something-new"}, "unknown"),
        ({"AGENT": "goose"}, "goose"),
        ({"AGENT": "1"}, "unknown"),
        ({"AGENT": "/usr/bin/ssh-agent"}, None),
        ({"WORKBENCH_ACTOR": "agent:mine", "WORKBENCH_ATTEMPT": "k7m2qx0a9d"}, "mine"),
        ({"WORKBENCH_ACTOR": "agent:mine"}, None),
        # What a person sets to configure an agent says nothing about who runs this.
        ({"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "PI_CODING_AGENT_DIR": "/p", "GEMINI_API_KEY": "k"}, None),
    ],
)
def test_shared_marks_and_settings(env: dict[str, str], agent: str | None) -> None:
    assert detect(env, 1000, NOBODY).agent == agent


@pytest.mark.parametrize(
    ("name", "argv", "agent"),
    [
        ("claude", ["claude"], "claude"),
        ("claude", ["/bin/sh", "/home/a/bin/claude"], "claude"),
        ("node", ["node", "/usr/local/bin/claude", "--resume"], "claude"),
        ("MainThread", ["node", "--max-old-space-size=8192", "/n/@google/gemini-cli/dist/index.js"], "gemini"),
        ("node", ["/opt/node", "/n/node_modules/@openai/codex/bin/codex.js"], "codex"),
        ("codex", ["/n/vendor/x86_64-unknown-linux-musl/codex/codex", "exec", "-"], "codex"),
        ("node", ["node", "/n/node_modules/.bin/qwen"], "qwen"),
        ("node", ["node", "/n/@earendil-works/pi-coding-agent/dist/cli.js"], "pi"),
        ("bun", ["bun", "run", "/x/opencode"], "opencode"),
        ("node", ["node", "/n/@moonshot-ai/kimi-code/dist/main.mjs"], "kimi"),
        ("python3.12", ["/usr/bin/python3.12", "-m", "aider"], "aider"),
        ("cursor-agent", ["cursor-agent"], "cursor"),
        ("vim", ["vim", "claude"], None),
        ("less", ["less", "/home/a/claude"], None),
        ("bash", ["bash", "-c", "claude"], None),
        ("node", ["node", "-e", "claude"], None),
        ("node", ["node", "server.js", "claude"], None),
        ("python3", ["python3", "/home/a/claude/manage.py"], None),
        ("gemini-viewer", ["gemini-viewer"], None),
        ("node", [], None),
    ],
)  # fmt: skip
def test_parents(name: str, argv: list[str], agent: str | None) -> None:
    found = detect({}, 1000, chain(("bash", ["bash"]), (name, argv), ("init", ["init"])))
    assert found.agent == agent
    assert found.how == "" if agent is None else "parent process 1002" in found.how


def test_nobody() -> None:
    assert detect({"HOME": "/h", "TERM": "xterm"}, 1000, NOBODY).agent is None


def test_a_circle_or_a_hidden_parent_ends_the_search() -> None:
    circle = {1: Process(1, 2, "a"), 2: Process(2, 1, "b")}.get
    assert [p.pid for p in parents(1, circle)] == [2]
    assert detect({}, 1, circle).agent is None
    assert detect({}, 7, lambda pid: None).agent is None


def test_a_listing_of_ps_reads_like_the_real_table() -> None:
    table = ps_table(
        "    1     0 /sbin/launchd\n  70     1 node /opt/homebrew/bin/claude --continue\n 71 70 -zsh\n 72 71 python\n"
    )
    assert detect({}, 72, table).agent == "claude"
    assert detect({}, 70, table).agent is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_a_name_with_blanks_and_brackets_is_read_from_proc(tmp_path: Path) -> None:
    here = proc_table(os.getpid())
    assert here is not None
    assert here.parent == os.getppid()
    program = tmp_path / "x) 1 2 ("
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "30"])
    try:
        found = proc_table(child.pid)
        assert found is not None
        assert found.parent == os.getpid()
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("source", ["proc", "ps"])
def test_a_real_parent_named_like_an_agent(tmp_path: Path, source: str) -> None:
    if source == "proc" and not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    script = tmp_path / "claude"
    look = (
        "import os, sys; from workbench.agents.presence import detect; from workbench.agents import processes as p;"
        f"print(detect({{}}, os.getpid(), {'p.proc_table' if source == 'proc' else 'p.ps_table()'}).agent)"
    )
    # The shell has one more command to run, so it stays as the parent and is not replaced.
    script.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{look}"\ntrue\n')
    script.chmod(0o755)
    done = subprocess.run([str(script)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "claude"
