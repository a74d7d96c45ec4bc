"""A workspace with a task and a session of its own, whose texts are made up here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sessions.claude_records import Script, bash, finished, line
from workbench.domain.task import Task
from workbench.services import sessions, tasks
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init


@dataclass
class Place:
    """A workspace, its task and its session file."""

    folder: Path
    task: Task
    path: Path
    script: Script

    def context(self, *, read_only: bool = False) -> Context:
        """A new process's view of it."""
        return open_context(self.folder, env=os.environ, read_only=read_only)

    def says(self, text: str, message_id: str | None = None) -> str:
        """Let the agent say something; its ``SESSION#ID``."""
        name = message_id or f"msg{len(self.script.records)}"
        self._write(self.script.say(name, text))
        return f"claude:{self.script.session}#{self.script.last}"

    def person_says(self, text: str) -> None:
        """Let the person say something."""
        self._write([self.script.prompt(text)])

    def runs(self, command: str, output: str) -> None:
        """Let the agent run a command."""
        number = len(self.script.records)
        self._write(self.script.say(f"msg{number}", bash(f"c{number}", command)))
        self._write([self.script.result(f"c{number}", output, twin=finished(stdout=output))])

    def _write(self, records: list[dict[str, Any]]) -> None:
        with self.path.open("ab") as file:
            file.writelines(line(record) + b"\n" for record in records)

    @property
    def index(self) -> Path:
        """The index's file."""
        return self.folder / ".workbench" / ".local" / "search.sqlite"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "project"
    folder.mkdir()
    init(folder, env=os.environ)
    ctx = open_context(folder, env=os.environ)
    task = tasks.new(ctx, {"title": "Invoices", "objective": "Export invoices as PDF with embedded fonts"})
    made = Place(folder, task, tmp_path / "session.jsonl", Script(cwd=str(folder)))
    made.person_says("Please begin with the invoices")
    sessions.attach(ctx, task, str(made.path))
    return made
