"""What a workspace holds, read at one moment: immutable, with what could not be read beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench.domain.artifact import Artifact
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Alias, Fact, Registry
from workbench.domain.note import Note
from workbench.domain.package import Envelope, PackageEvent, PackageStatus
from workbench.domain.task import Attempt, Task
from workbench.domain.trimming import Trim
from workbench.errors import DamagedError, NotFoundError

MEND = "mend the file by hand, or restore what was last acknowledged: workbench doctor --fix"
LATER = "a later version of this program wrote it: use that one"
"""What to do about a file that cannot be read."""


@dataclass(frozen=True)
class Damage:
    """A record that cannot be read; its bytes stay where they are."""

    path: str
    """Relative to the workspace folder."""
    message: str
    line: int | None = None
    column: int | None = None
    newer: bool = False
    """Not damaged: a later program wrote it, and it is never written here."""

    @property
    def where(self) -> str:
        """Path, line and column, as editors take them."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)


@dataclass(frozen=True)
class StoredPackage:
    """A package as it lies in the workspace: the envelope never changes, its life is told by events."""

    envelope: Envelope
    events: tuple[PackageEvent, ...]
    """In causal order; never empty."""

    @property
    def id(self) -> str:
        """The package's id."""
        return self.envelope.id

    @property
    def status(self) -> PackageStatus:
        """Where its life has come to."""
        return self.events[-1].status

    @property
    def attempt(self) -> str | None:
        """The attempt that it reserves or started."""
        return next((event.attempt for event in reversed(self.events) if event.attempt), None)


@dataclass(frozen=True)
class Records:
    """Every record of a workspace at one moment."""

    tasks: Mapping[str, Task] = field(default_factory=dict)
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict)
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """By the alias record's id."""
    evidence: tuple[Evidence, ...] = ()
    """File by file, causal within each."""
    trims: Mapping[str, tuple[Trim, ...]] = field(default_factory=dict)
    """By session (``agent:id``), in causal order."""
    packages: Mapping[str, StoredPackage] = field(default_factory=dict)
    damaged: tuple[Damage, ...] = ()
    revision: str = ""
    """Changes with any content that was read."""

    @cached_property
    def registry(self) -> Registry:
        """The facts with their standing."""
        return Registry(self.facts.values(), {alias.alias: alias.canonical for alias in self.aliases.values()})

    def table(self, kind: str) -> Mapping[str, Any]:
        """The records of a kind, by id; the name of the table or of one record.

        Raises:
            NotFoundError: There is no such kind.
        """
        name = _PLURAL.get(kind, kind)
        if name == "evidence":
            return {line.id: line for line in self.evidence}
        if name not in _PLURAL.values():
            raise NotFoundError(f"no records of kind {kind!r}", "one of: " + ", ".join(_PLURAL), candidates=[])
        table: Mapping[str, Any] = getattr(self, name)
        return table

    def find(self, kind: str, prefix: str) -> Any:
        """The record of a kind that an id, a unique beginning of one, or (for tasks) a slug names.

        Raises:
            NotFoundError: None is named so, or several; ``details['candidates']`` lists those.
        """
        table = self.table(kind)
        if prefix in table:
            return table[prefix]
        wanted = prefix.strip().lower()
        found = sorted(key for key in table if wanted and key.startswith(wanted))
        if _PLURAL.get(kind, kind) == "tasks":
            found = sorted(key for key, task in table.items() if task.slug == prefix) or found
        if len(found) == 1:
            return table[found[0]]
        word = _SINGULAR[_PLURAL.get(kind, kind)]
        if not found:
            self._refuse_damaged(_PLURAL.get(kind, kind), wanted)
            of_key = [fact.id for fact in self.facts.values() if word == "fact" and fact.key == prefix]
            if of_key:
                raise NotFoundError(
                    f"{prefix[:60]!r} is a key, and an id is wanted",
                    "its facts: " + ", ".join(of_key[:8]) + f"; see: workbench fact history {prefix[:60]}",
                    candidates=of_key,
                )
            raise NotFoundError(
                f"no {word} {prefix[:60]!r}", f"see what there is: workbench {_LISTED_BY[word]}", candidates=[]
            )
        raise NotFoundError(
            f"{prefix[:60]!r} fits {len(found)} of kind {word}",
            "give more of the id: " + ", ".join(found[:8]),
            candidates=found,
        )

    def _refuse_damaged(self, name: str, prefix: str) -> None:
        """What is named so and cannot be read is not *missing*."""
        for damage in self.damaged if prefix else ():
            folder = f"{damage.path}/".startswith(f"{name}/") and not damage.path.endswith((".json", ".jsonl"))
            if folder or (damage.path.startswith(f"{name}/") and f"/{prefix}" in damage.path):
                raise DamagedError(
                    f"{damage.where}: {damage.message}",
                    LATER if damage.newer else MEND,
                    path=damage.path,
                    line=damage.line,
                    column=damage.column,
                )


_PLURAL = {
    "task": "tasks",
    "attempt": "attempts",
    "fact": "facts",
    "note": "notes",
    "artifact": "artifacts",
    "alias": "aliases",
    "package": "packages",
    "evidence": "evidence",
}
_LISTED_BY = {
    "task": "task list",
    "attempt": "attempt list",
    "fact": "fact list",
    "alias": "fact list",
    "note": "note list",
    "artifact": "artifact list",
    "package": "handoff list",
    "evidence": "evidence list @",
}
"""The command that lists each kind of record."""
_SINGULAR = {plural: singular for singular, plural in _PLURAL.items()}
