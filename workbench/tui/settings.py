"""What the app is told from outside: theme, keys, mouse, and where themes lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.tui.themes import DEFAULT


@dataclass(frozen=True)
class Settings:
    """From the configuration, command line and environment."""

    theme: str = DEFAULT
    keymap: Mapping[str, str] = field(default_factory=dict)
    mouse: bool = True
    bell: bool = False
    theme_folders: tuple[Path, ...] = ()
    """Ours first; later ones win."""
    env: Mapping[str, str] = field(default_factory=dict)
    """For the clipboard."""
