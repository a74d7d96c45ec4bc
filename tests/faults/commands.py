"""The commands that faults are put into, and what a workspace says before and after each."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.domain.artifact import Artifact
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Fact
from workbench.domain.note import Note
from workbench.domain.package import Envelope, Identity, PackageEvent
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, Task
from workbench.store import Workspace, find_existing, locate
from workbench.store.form import digest

AT = "2026-03-01T10:00:00Z"
STAMP = Stamp(by="human:dev", at=AT)
TASK, FACT, NOTE, ARTIFACT, ATTEMPT, PACKAGE = (f"{name:0>10}" for name in "tfnadp")


def prepare(folder: Path) -> None:
    """A workspace with a few records in it."""
    folder.mkdir(parents=True)
    workspace = Workspace.init(locate(folder))
    with workspace.transaction("human:dev", "prepare") as tx:
        tx.put(Task(id=TASK, slug="shelf", title="Old", created=STAMP))
        tx.put(Fact(id=FACT, key="shelf.width", value="80 cm " * 50))


def opened(folder: Path) -> Workspace:
    return Workspace.open(find_existing(folder))


def growing(workspace: Workspace) -> None:
    with workspace.transaction("human:dev", "grow") as tx:
        tx.put(tx.get("facts", FACT).with_(value="90 cm " * 5000))


def shrinking(workspace: Workspace) -> None:
    with workspace.transaction("human:dev", "shrink") as tx:
        tx.put(tx.get("facts", FACT).with_(value="7"))


def five_records(workspace: Workspace) -> None:
    """Five records of five kinds, and with them evidence, a package and a content."""
    with workspace.transaction("agent:x", "five") as tx:
        tx.put(tx.get("tasks", TASK).with_(title="New, and longer than it was", running=ATTEMPT))
        tx.put(tx.get("facts", FACT).with_(key="shelf.breadth", value="new"))
        tx.put(Attempt(id=ATTEMPT, task=TASK, executor="agent:x", started=STAMP))
        tx.put(Note(id=NOTE, key="Plan of Work", value={"a": [1, 2]}, written=STAMP))
        tx.put(Artifact(id=ARTIFACT, key="shelf", task=TASK))
        tx.append_evidence(Evidence(id="e" * 10, kind="claim", task=TASK, attempt=ATTEMPT, at=AT))
        tx.put_blob(b"content")
        tx.add_package(
            Envelope(
                id=PACKAGE,
                snapshot="s",
                task=TASK,
                identity=Identity(task=TASK, plan_revision=1, to="codex", date="2026-03-01"),
                content={},
                tokens=1,
                tokenizer="bytes",
                prompt_sha256=digest(b"prompt"),
                prepared_by="agent:x",
                prepared_at=AT,
            ),
            b"prompt",
            PackageEvent(id="s" * 10, status="pending", by="agent:x", at=AT),
        )


COMMANDS: dict[str, Callable[[Workspace], None]] = {
    "growing": growing,
    "shrinking": shrinking,
    "five records": five_records,
}


@dataclass(frozen=True)
class Said:
    """What the records say, and what cannot be read."""

    records: str
    damaged: tuple[Any, ...]


def said(folder: Path) -> Said:
    """Read without writing."""
    records = Workspace.open(find_existing(folder), read_only=True).load()
    shown = (
        sorted((t.title, t.running) for t in records.tasks.values()),
        sorted((f.key, str(f.value), f.version) for f in records.facts.values()),
        sorted(a.executor for a in records.attempts.values()),
        sorted(n.key for n in records.notes.values()),
        sorted(a.key for a in records.artifacts.values()),
        [line.id for line in records.evidence],
        sorted((p.id, p.status) for p in records.packages.values()),
    )
    return Said(repr(shown), records.damaged)


def works_again(folder: Path) -> None:
    """A following command goes through and stays."""
    workspace = opened(folder)
    with workspace.transaction("human:dev", "after") as tx:
        tx.put(Task(id="w" * 10, slug="after", title="After", created=STAMP))
    assert "w" * 10 in opened(folder).load().tasks


def leftovers(folder: Path) -> list[str]:
    """Temporary files where records lie; prompts and contents that were never committed are for ``gc``."""
    found = (folder / ".workbench").rglob(".*.tmp")
    return [p.name for p in found if p.parent.name not in (".local", "written", "blobs") and ".prompt.md" not in p.name]


def killed_at(folder: Path, command: str, k: int) -> None:
    """Run a command in this process and end it, with no clean-up at all, before its ``k``-th writing call."""
    from workbench.store.primitives import watched

    seen = 0

    def hook(operation: str, path: str) -> None:
        nonlocal seen
        seen += 1
        if seen == k:
            os._exit(9)

    with watched(hook):
        COMMANDS[command](opened(folder))
    os._exit(0)
