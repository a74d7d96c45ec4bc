"""What the app is told from outside: theme, keys, mouse, and where themes lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import user_dirs
from workbench.resources import data_folder
from workbench.tui.themes import DEFAULT

if TYPE_CHECKING:
    from workbench.services.context import Context
    from workbench.services.entrance import Entrance


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


def settings_of(entrance: Entrance | Context) -> Settings:
    """What configuration and environment say about the app."""
    config = entrance.config
    return Settings(
        theme=config.theme or DEFAULT,
        keymap=config.keymap,
        mouse=config.mouse,
        bell=config.bell,
        theme_folders=(
            data_folder("themes"),
            user_dirs(entrance.env).config / "themes",
            entrance.location.root / "themes",
        ),
        env=entrance.env,
    )
