"""Globs of paths as contracts write them: ``src/**``, ``*.toml``, ``docs/*.md``."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def pattern_of(glob: str) -> re.Pattern[str]:
    """A glob as a pattern for whole paths: ``**`` crosses folders, ``*`` and ``?`` do not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    signs = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts), re.DOTALL)


def matches(glob: str, path: str) -> bool:
    """Whether a path is one that a glob means; a folder's own name means all that lies beneath it."""
    plain = glob.rstrip("/")
    return pattern_of(glob).fullmatch(path) is not None or (bool(plain) and path.startswith(f"{plain}/"))


def fixed_part(glob: str) -> str:
    """The folder, or the file, that a glob lies in: what has to be walked for it."""
    fixed: list[str] = []
    for part in glob.removeprefix("./").split("/"):
        if "*" in part or "?" in part:
            break
        fixed.append(part)
    return "/".join(fixed) or "."
