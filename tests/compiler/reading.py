"""Reading a prompt back: its sections, its fences, and where a value stands unmarked."""

from __future__ import annotations

import re

from workbench.compiler.words import LANGUAGES

_NAMES = ("do", "keep", "holds", "settle", "failed", "read", "done_when", "finished", "check", "background", "history")
_HEADINGS = {
    words[prefix + name]: name
    for words in LANGUAGES.values()
    for prefix in ("", "short.")
    for name in (*_NAMES, "last")
}
_MARK = re.compile(r"history: was|history, to settle: was|历史：曾为|历史，待定：曾为")


def sections(prompt: str) -> dict[str, list[str]]:
    """Lines by section; what is inside a fence never counts as a heading."""
    found: dict[str, list[str]] = {"identity": []}
    here, fence = "identity", ""
    for line in prompt.split("\n"):
        opened = re.match(r"<data-([0-9a-f]+) ", line)
        if not fence and opened:
            fence = f"</data-{opened.group(1)}>"
        elif line == fence:
            fence = ""
        elif not fence and line in _HEADINGS:
            here = _HEADINGS[line]
            found.setdefault(here, [])
            continue
        found[here].append(line)
    return found


def unmarked(prompt: str, value: str) -> list[str]:
    """Lines that hold ``value`` as a word and stand neither under *to settle* nor in anything marked as history."""
    word = re.compile(rf"(?<![0-9A-Za-z_]){re.escape(value)}(?![0-9A-Za-z_])", re.IGNORECASE)
    found: list[str] = []
    for section, lines in sections(prompt).items():
        if section in ("settle", "history"):
            continue
        marked_entry = marked_fence = False
        for line in lines:
            if line.startswith("<data-"):
                marked_fence = bool(_MARK.search(line))
            elif line.startswith("</data-"):
                marked_fence = False
            if line.startswith("- "):
                marked_entry = bool(_MARK.search(line))
            elif not line.startswith("  "):
                marked_entry = False
            if word.search(line) and not (marked_entry or marked_fence):
                found.append(line)
    return found
