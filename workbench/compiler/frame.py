"""The fixed text of a prompt, long and short: the line that names the package, headings, how to read it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.compiler.layout import SECTIONS, SHORT_SECTIONS, UNSAID, flat
from workbench.compiler.words import Words
from workbench.domain.package import Identity

SNAPSHOT_TOKENS = 16
"""What the snapshot id counts: it is known only after packing, and no id of 16 digits is more tokens."""
SHORT_BELOW = 1000
"""Budgets under this get the short form."""


@dataclass(frozen=True)
class Filled:
    """Which sections have something in them, and which would have with more room: *none* is said of neither."""

    present: Collection[str]
    possible: Collection[str]


@dataclass(frozen=True)
class Frame:
    """All that stands around the items."""

    words: Words
    identity: Identity
    slug: str

    def first_line(self, snapshot: str) -> str:
        """What package this is. The id stands between blanks, so that a text without it is well counted."""
        words, identity = self.words, self.identity
        text = words["identity"].format(
            task=flat(self.slug or identity.task, 120),
            revision=identity.plan_revision,
            snapshot="\x00",
            date=identity.date,
            to=flat(identity.to, 60),
        )
        if identity.from_executor:
            text += words["identity.from"].format(executor=flat(identity.from_executor, 60))
        return text.replace("\x00", snapshot) + "\n"

    @staticmethod
    def sections(*, long: bool) -> tuple[str, ...]:
        """Sections in the order of the prompt."""
        return SECTIONS if long else SHORT_SECTIONS

    def heading(self, section: str, filled: Filled, *, long: bool) -> str:
        """The lines above a section; empty where nothing is to be said."""
        words, present = self.words, section in filled.present
        if not long:
            return words[f"short.{section}"] + "\n" if present or section == "read" else ""
        if not present and section in UNSAID:
            return ""
        lines = [words[section]]
        if section == "read":
            lines.append(words["first"])
        if not present:
            lines.append(words["cut_off" if section in filled.possible else "none"])
        return "\n".join(lines) + "\n"

    def empty_line(self, filled: Filled, *, long: bool) -> str:
        """The short prompt's one line over all that is empty or was left out, before the last block."""
        if long:
            return ""
        missing = [s for s in SHORT_SECTIONS if s not in filled.present and s not in UNSAID and s != "read"]
        said = [
            self._named("short.none", [s for s in missing if s not in filled.possible]),
            self._named("short.cut_off", [s for s in missing if s in filled.possible]),
        ]
        line = self.words["space"].join(text for text in said if text)
        return f"{line}\n" if line else ""

    def _named(self, word: str, sections: list[str]) -> str:
        words = self.words
        names = words["list"].join(words[f"short.{section}"].rstrip(":：") for section in sections)
        return words[word].format(names=names) if sections else ""

    def text(self, filled: Filled, *, long: bool) -> list[str]:
        """Every fixed line of a prompt; the first line without its id."""
        lines = [self.first_line(""), self.empty_line(filled, long=long)]
        lines += [self.heading(section, filled, long=long) for section in self.sections(long=long)]
        return [line for line in lines if line]
