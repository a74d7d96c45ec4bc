"""Where a workspace lies and how it is set up: all that is known before anything of it is read.

Kept apart from :mod:`.context`, which loads what acting needs: the app paints its panes in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.config import Config, load_config
from workbench.store.location import Location, find_existing


@dataclass(frozen=True)
class Entrance:
    """A workspace that was found and not opened yet."""

    location: Location
    config: Config
    env: Mapping[str, str]
    read_only: bool = False


def enter(start: Path, *, workspace: Path | None = None, env: Mapping[str, str], read_only: bool = False) -> Entrance:
    """Find the workspace of ``start`` and its configuration.

    Raises:
        NotFoundError: There is no workspace here.
        UsageError: The user's configuration cannot be read; where only looked at, that is a warning.
        DamagedError: Likewise, the workspace's.
    """
    explicit = workspace or (Path(env["WORKBENCH_WORKSPACE"]) if env.get("WORKBENCH_WORKSPACE") else None)
    location = find_existing(start, explicit)
    return Entrance(location, load_config(location.root, env, lenient=read_only), env, read_only)
