"""Themes as files: ``themes/<name>.toml``, read strictly; a bad file is one sentence, and is left out.

A theme has base colours at the top (``primary``, ``background`` …), ``[variables]`` for trust,
lifecycle, disposition and difference colours, and ``[meta]`` for people. Later folders win, so a
person's own theme replaces one of ours of the same name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from workbench.text import one_line

DEFAULT = "workbench-dark"
SIZE_LIMIT = 64 * 1024
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_COLOURS = (
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "boost",
)
_OPTIONS = ("name", "dark", "ansi", "luminosity_spread", "text_alpha", "variables", "meta", *_COLOURS)

VARIABLES: Mapping[str, str] = {
    "quiet": "#8a93a3",
    "label": "#a9b2c3",
    "rule": "#39414f",
    "focus": "#7cb7ff",
    "cursor": "#2a3950",
    "cursor-quiet": "#222a36",
    "marked": "#3a3320",
    "good": "#7fc98f",
    "warn": "#e3b565",
    "bad": "#ef8276",
    "info": "#7cb7ff",
    "trust-reported": "#a9b2c3",
    "trust-verified": "#7cc4d4",
    "trust-authoritative": "#e6cf8b",
    "life-proposed": "#e3b565",
    "life-active": "#7fc98f",
    "life-challenged": "#f0a35e",
    "life-contested": "#ef8276",
    "life-superseded": "#788293",
    "life-rejected": "#788293",
    "disposition-dropped": "#ef8276",
    "disposition-summarised": "#e3b565",
    "disposition-externalised": "#7cb7ff",
    "memory-guideline": "#c9a2f0",
    "memory-project": "#7cc4d4",
    "who-human": "#e6cf8b",
    "who-agent": "#7cb7ff",
    "who-tool": "#a9b2c3",
    "who-system": "#788293",
    "diff-added": "#7fc98f",
    "diff-removed": "#ef8276",
}
"""Every variable that a theme may set, with the value used where it does not."""


_ANSI: Mapping[str, str] = {
    "ansi-background": "ansi_default",
    "ansi-foreground": "ansi_default",
    "border-blurred": "ansi_bright_black",
    "block-cursor-foreground": "ansi_black",
    "block-cursor-background": "ansi_white",
    "input-cursor-background": "ansi_white",
    "input-cursor-foreground": "ansi_black",
    "input-selection-background": "ansi_blue",
    "input-selection-foreground": "ansi_white",
}
"""What the toolkit's own widgets ask of a theme that keeps to the terminal's colours."""


@dataclass(frozen=True)
class BadTheme:
    """Why a theme file was left out, in one sentence that names line and key where they are known."""

    path: Path
    why: str


@dataclass(frozen=True)
class LoadedThemes:
    """The themes that could be read, and what is wrong with the others."""

    themes: tuple[Theme, ...]
    bad: tuple[BadTheme, ...]


def load_themes(folders: Iterable[Path]) -> LoadedThemes:
    """Every theme of the folders, later ones over earlier ones; unreadable files are reported."""
    themes: dict[str, Theme] = {}
    bad: list[BadTheme] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            found = load_theme(path)
            if isinstance(found, BadTheme):
                bad.append(found)
            else:
                themes[found.name] = found
    return LoadedThemes(tuple(themes.values()), tuple(bad))


def load_theme(path: Path) -> Theme | BadTheme:
    """One theme file, or why it cannot be used."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            return BadTheme(path, f"larger than {SIZE_LIMIT // 1024} KiB")
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return BadTheme(path, one_line(str(error)))
    except (OSError, UnicodeDecodeError) as error:
        return BadTheme(path, one_line(str(error)))
    problem = _problem(path, document)
    if problem is not None:
        key, why = problem
        at = _line_of(text, key)
        return BadTheme(path, one_line(f"line {at}, {key}: {why}" if at else f"{key}: {why}"))
    return _theme(path, document)


def _theme(path: Path, document: Mapping[str, Any]) -> Theme:
    colours = {name: document[name] for name in _COLOURS if name in document}
    extra = {name: document[name] for name in ("luminosity_spread", "text_alpha") if name in document}
    return Theme(
        name=document.get("name", path.stem),
        dark=document.get("dark", True),
        ansi=document.get("ansi", False),
        variables={**(_ANSI if document.get("ansi") else {}), **VARIABLES, **document.get("variables", {})},
        **colours,
        **extra,
    )


def _problem(path: Path, document: Mapping[str, Any]) -> tuple[str, str] | None:
    """The first key that is wrong, and what is wrong with it."""
    if not _NAME.fullmatch(path.stem):
        return "name", "a theme file is named in lower case with dashes, like calm-dark.toml"
    if document.get("name", path.stem) != path.stem:
        return "name", f"differs from the file's name, {path.stem}"
    for key, value in document.items():
        why = _wrong(key, value)
        if why:
            return key, why
    if "primary" not in document:
        return "primary", "missing"
    for key, value in document.get("variables", {}).items():
        why = _wrong_colour(value) if key in VARIABLES or isinstance(value, str) else "not a colour"
        if why:
            return key, why
    return None


def _wrong(key: str, value: object) -> str:
    if key not in _OPTIONS:
        return "no such setting of a theme"
    if key in _COLOURS:
        return _wrong_colour(value)
    if key in ("dark", "ansi"):
        return "" if isinstance(value, bool) else "true or false is expected"
    if key in ("variables", "meta"):
        return "" if isinstance(value, dict) else "a table is expected"
    if key in ("luminosity_spread", "text_alpha"):
        return "" if isinstance(value, int | float) and not isinstance(value, bool) else "a number is expected"
    return ""


def _wrong_colour(value: object) -> str:
    if not isinstance(value, str):
        return 'a colour is expected, like "#7cb7ff"'
    try:
        Color.parse(value)
    except ColorParseError:
        return f"{value!r} is not a colour"
    return ""


def _line_of(text: str, key: str) -> int | None:
    pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=|\s*\[{re.escape(key)}\]")
    return next((number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)), None)
