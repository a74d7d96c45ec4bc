"""What the output of a test program says of its tests, where it says so in a form of its own."""

from __future__ import annotations

import re

_TAIL = 8192
"""Characters at the end in which a summary is looked for."""
_COUNTS = re.compile(r"(\d+) (failed|passed|errors?|skipped|xfailed|xpassed|warnings?)\b")
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # pytest closes with counts and the time; without colours, with or without the line of signs around them.
    ("pytest", re.compile(r"^=* ?(\d+ \w+(?:, \d+ \w+)*) in [0-9.]+s(?: \([0-9:]+\))? ?=*$", re.MULTILINE)),
    ("unittest", re.compile(r"^Ran (\d+ tests?) in [0-9.]+s\n\n?(OK|FAILED)(?: \(([^)\n]*)\))?$", re.MULTILINE)),
    ("jest", re.compile(r"^Tests: +(\d+ \w+(?:, \d+ \w+)*)$", re.MULTILINE)),
    ("vitest", re.compile(r"^ *Tests +(\d+ \w+(?: \| \d+ \w+)*) \(\d+\)$", re.MULTILINE)),
    ("cargo", re.compile(r"^test result: (\w+)\. (\d+ \w+(?:; \d+ \w+)*)", re.MULTILINE)),
    ("mocha", re.compile(r"^ *(\d+ passing)(?: \([^)\n]*\))?(?:\n *(\d+ failing))?", re.MULTILINE)),
    ("tap", re.compile(r"^# pass +(\d+)\n# fail +(\d+)", re.MULTILINE)),
)
_GO = re.compile(r"^(ok|FAIL)[ \t]+(\S+)", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def summary(output: str) -> str:
    """The counts that an output closes with (``2 failed, 10 passed``); empty where it holds none."""
    tail = _COLOUR.sub("", output[-_TAIL:]).replace("\r", "")
    for name, form in _FORMS:
        matches = list(form.finditer(tail))
        if not matches:
            continue
        said = [part.strip() for part in matches[-1].groups() if part and part.strip()]
        if name == "tap":
            return f"{said[0]} passed, {said[1]} failed"
        if name != "pytest" or _COUNTS.search(said[0]):
            return ", ".join(said)
    return _go(tail)


def _go(tail: str) -> str:
    passed = failed = 0
    for found in _GO.finditer(tail):
        if found[1] == "ok":
            passed += 1
        elif found[1] == "FAIL":
            failed += 1
    return f"{failed} packages failed, {passed} passed" if passed + failed and "\t" in tail else ""
