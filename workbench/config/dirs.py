"""The user's own folders: configuration, data, cache and state, outside every workspace."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_NAME = "workbench"
_KINDS = {"config": ".config", "data": ".local/share", "cache": ".cache", "state": ".local/state"}


@dataclass(frozen=True)
class UserDirs:
    """Where the product keeps what belongs to the person and not to a workspace."""

    config: Path
    """``config.toml`` and themes."""
    data: Path
    """Trust, the registry of workspaces."""
    cache: Path
    """What can be built again."""
    state: Path
    """Logs."""


def user_dirs(env: Mapping[str, str]) -> UserDirs:
    """The user's folders as ``env`` names them.

    ``WORKBENCH_CONFIG_DIR`` (and ``_DATA_DIR``, ``_CACHE_DIR``, ``_STATE_DIR``) name a folder itself,
    the XDG variables its parent; a relative path is ignored, as XDG asks. Nothing is created.
    """
    folders = {kind: _folder(kind, default, env) for kind, default in _KINDS.items()}
    return UserDirs(**folders)


def _folder(kind: str, default: str, env: Mapping[str, str]) -> Path:
    own = Path(env.get(f"WORKBENCH_{kind.upper()}_DIR", ""))
    if own.is_absolute():
        return own
    xdg = Path(env.get(f"XDG_{kind.upper()}_HOME", ""))
    if xdg.is_absolute():
        return xdg / _NAME
    if sys.platform == "darwin":
        import platformdirs

        return Path(getattr(platformdirs, f"user_{kind}_dir")(_NAME, appauthor=False))
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    return home / default / _NAME
