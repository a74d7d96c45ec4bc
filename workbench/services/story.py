"""The story of a sample: its records as data, told to a fresh workspace change by change.

``story.json`` holds ``now`` (the moment the story has reached), ``commit``, ``sessions`` (name to file),
``task`` (the current one), ``changes`` (each one command: who, when, and the records it put) and
``packages`` (compiled for real when the story is told). All times move together, so that ``now``
becomes the present. Texts may hold ``{{HEAD}}``, ``{{SHA256:path}}`` and ``{{SIZE:path}}``, paths
within the sample.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from workbench.domain.evidence import Evidence
from workbench.domain.record import Record
from workbench.domain.schema import TABLES, decode, encode
from workbench.domain.times import instant, stamp
from workbench.domain.trimming import Trim
from workbench.services import packages, tasks
from workbench.services.context import HUMAN_SHELL, open_context
from workbench.services.following import Follower
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_PLACEHOLDER = re.compile(r"\{\{(HEAD|SHA256|SIZE)(?::([^{}]+))?\}\}")
FOLDER = "{{FOLDER}}"


@dataclass(frozen=True)
class Story:
    """A sample's story, moved to the present and to its folder."""

    source: Path
    folder: Path
    shift: timedelta
    document: Mapping[str, Any]
    head: str | None = None

    @classmethod
    def read(cls, source: Path, folder: Path, now: datetime) -> Story:
        """The story of the sample at ``source``, for its copy in ``folder``, with ``now`` as its last moment."""
        document = json.loads((source / "story.json").read_bytes())
        shift = timedelta(seconds=round((now - instant(document["now"])).total_seconds()))
        return cls(source, folder, shift, document)

    def at_commit(self, head: str | None) -> Story:
        """The story once its first commit is known; None where there is no git."""
        return replace(self, head=head)

    @property
    def commit(self) -> dict[str, str]:
        """Who made the copy's one commit, when, and with what message."""
        commit: dict[str, str] = self._filled(self.document["commit"])
        return commit

    def session_text(self, path: Path) -> str:
        """A session file of the sample with its times and its folder put right."""
        folder = json.dumps(str(self.folder))[1:-1]
        return self._moved(path.read_text("utf-8")).replace(FOLDER, folder)

    def tell(self, workspace: Workspace, env: Mapping[str, str]) -> None:
        """Write everything to a fresh workspace, one transaction a change, and prepare its packages."""
        for change in self._filled(self.document["changes"]):
            at = instant(change["at"])
            with workspace.transaction(change["by"], change["command"], change.get("why", ""), now=at) as tx:
                self._put(tx, change)
        for name, path in self.document["sessions"].items():
            workspace.local.set_session_path(name, str(self.folder / path))
        workspace.local.current_task = self.document["task"]
        # A story's people act in it, whoever copies it and from whatever shell.
        told = {**env, HUMAN_SHELL: "1"}
        Follower(open_context(self.folder, workspace=self.folder, env=told)).pass_over()
        for package in self._filled(self.document["packages"]):
            moment = instant(package["at"])
            ctx = open_context(self.folder, workspace=self.folder, as_=package["by"], env=told, now=moment)
            packages.prepare(ctx, tasks.resolve(ctx, package["task"]), package["to"])

    def _put(self, tx: Transaction, change: Mapping[str, Any]) -> None:
        for path in change.get("blobs", ()):
            tx.put_blob((self.source / path).read_bytes())
        for table, documents in change.get("put", {}).items():
            known = getattr(tx.records, table)
            for document in documents:
                before = known.get(document["id"])
                whole = document if before is None else _merged(encode(before), document)
                tx.put(cast("Record", decode(TABLES[table], whole)))
        for line in change.get("evidence", ()):
            tx.append_evidence(decode(Evidence, line))
        for session, lines in change.get("trims", {}).items():
            for line in lines:
                tx.append_trim(session, decode(Trim, line))

    def _moved(self, text: str) -> str:
        """``text`` with every time in it moved by the same span."""

        def move(match: re.Match[str]) -> str:
            moment = instant(match.group()) + self.shift
            return stamp(moment)

        return _TIME.sub(move, text)

    def _filled(self, value: Any) -> Any:
        """A part of the document with times moved and placeholders replaced."""
        if isinstance(value, dict):
            return {key: self._filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._filled(inner) for inner in value]
        if not isinstance(value, str):
            return value
        found = _PLACEHOLDER.fullmatch(value)
        return self._known(found[1], found[2] or "") if found else self._moved(value)

    def _known(self, what: str, path: str) -> str | int | None:
        answers: dict[str, Callable[[], str | int | None]] = {
            "HEAD": lambda: self.head,
            "SHA256": lambda: hashlib.sha256((self.source / path).read_bytes()).hexdigest(),
            "SIZE": lambda: (self.source / path).stat().st_size,
        }
        return answers[what]()


def _merged(before: dict[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """``before`` with the fields of ``change``; objects field by field, lists as a whole."""
    merged = dict(before)
    for key, value in change.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
