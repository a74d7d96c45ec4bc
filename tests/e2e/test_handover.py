"""The whole job by command line: from a session file to a receiver in a tmux pane that reports what it got."""

from __future__ import annotations

import hashlib
import json
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Shell, git
from tests.e2e.test_worktrees import session_file

STAND_IN = """
import hashlib, json, os, re, subprocess, sys
prompt = re.search(r"(/\\S+prompt\\.md)", sys.argv[-1]).group(1)
run = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()
report = {
    "cwd": os.getcwd(), "branch": run("rev-parse", "--abbrev-ref", "HEAD"), "head": run("rev-parse", "HEAD"),
    "sha256": hashlib.sha256(open(prompt, "rb").read()).hexdigest(), "sentence": sys.argv[-1],
    "actor": os.environ.get("WORKBENCH_ACTOR"), "human": os.environ.get("WORKBENCH_HUMAN_SHELL"),
}
with open(os.environ["STAND_IN_REPORT"] + ".new", "w") as file:
    json.dump(report, file)
os.rename(os.environ["STAND_IN_REPORT"] + ".new", os.environ["STAND_IN_REPORT"])
"""


@pytest.fixture
def stand_in(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent that the person defined, which reports what it was given; the path of its report."""
    program = tmp_path / "stand in.py"
    program.write_text(textwrap.dedent(STAND_IN))
    config = home / ".config/workbench/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[agents.helper]\ncommand = {json.dumps([sys.executable, str(program), '{prompt}'])}\n")
    report = tmp_path / "report.json"
    monkeypatch.setenv("STAND_IN_REPORT", str(report))
    return report


def wait_for(path: Path) -> dict[str, str]:
    """The report, once it is there."""
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, "the stand-in did not report"
        time.sleep(0.05)
    report: dict[str, str] = json.loads(path.read_text())
    return report


@pytest.mark.tmux
@pytest.mark.usefixtures("tmux_server")
def test_a_session_attached_to_a_new_task_is_handed_to_an_agent_in_a_pane(shell: Shell, stand_in: Path, tmp_path: Path):
    shell("init")
    shell("task", "new", "Green accent", "--objective", "The accent is green.", "--constraint", "ui.contrast=AA")
    shell("session", "attach", "@", str(session_file(tmp_path, shell.folder)))
    package = shell("handoff", "prepare", "@", "--to", "helper", "--budget", "1024", "--json").json["package"]
    assert package["tokens"] <= 1024
    done = shell("handoff", "confirm", package["id"], "--launch", "tmux", "--yes", "--json").json
    report = wait_for(stand_in)
    assert report["cwd"] == str(shell.folder)
    assert report["branch"] == "main"
    assert report["head"] == git(shell.folder, "rev-parse", "HEAD").strip()
    prompt = (shell.folder / ".workbench/packages" / package["id"] / "prompt.md").read_bytes()
    assert report["sha256"] == hashlib.sha256(prompt).hexdigest()
    assert package["snapshot"] in report["sentence"]
    assert (report["actor"], report["human"]) == ("agent:helper", None)
    assert done["package"]["status"] == "launched"
    attempts = shell("attempt", "list", "@", "--json").json["attempts"]
    assert [a["status"] for a in attempts] == ["handed_over", "running"]
    text = prompt.decode()
    assert "The accent is green." in text
    assert "AA" in text


def test_a_changed_file_stops_a_package_and_an_override_is_recorded(shell: Shell):
    shell("init")
    shell("task", "new", "Green accent", "--objective", "The accent is green.", "--target", "src/")
    package = shell("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    (shell.folder / "src/app.css").write_text("changed\n")
    checked = shell("handoff", "check", package, "--json", code=5).json
    assert [(d["code"], d["subject"]) for d in checked["differences"]] == [("file_changed", "src/app.css")]
    refused = shell("handoff", "confirm", package, "--launch", "print", "--yes", code=5)
    assert "src/app.css" in refused.err
    shell("handoff", "confirm", package, "--launch", "print", "--override", "I changed it", "--yes")
    events = shell("handoff", "show", package, "--json").json["events"]
    assert [e["details"]["override"] for e in events if e["status"] == "confirmed"] == ["I changed it"]


def test_a_package_is_confirmed_once(shell: Shell):
    shell("init")
    shell("task", "new", "One", "--objective", "Do it.")
    package = shell("handoff", "prepare", "@", "--to", "codex", "--json").json["package"]["id"]
    shell("handoff", "confirm", package, "--launch", "print", "--yes")
    assert "launched" in shell("handoff", "confirm", package, "--launch", "print", "--yes", code=4).err
