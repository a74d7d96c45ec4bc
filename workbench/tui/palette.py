"""The command palette: every key of the table, by its words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from workbench.tui.keys import KEYS
from workbench.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


class WorkbenchCommands(Provider):
    """What a person can do, and the themes."""

    def _commands(self) -> Iterator[tuple[str, str, IgnoreReturnCallbackType]]:
        app = cast("WorkbenchApp", self.app)
        screen = self.screen
        if isinstance(screen, MainScreen):
            for key in KEYS:
                if key.where == "main":
                    late = "" if key.built else " (not in this version yet)"
                    help_ = f"{key.tooltip}{late}   key {app.shown_keys[key.id]}"
                    yield f"{key.label}: {key.tooltip}", help_, partial(screen.run_action, key.action)
        for name in sorted(app.theme_names):
            yield f"theme: {name}", "Use this theme", partial(app.use_theme, name)

    async def discover(self) -> Hits:
        """Everything, before a word is typed."""
        for title, help_, act in self._commands():
            yield DiscoveryHit(title, act, help=help_)

    async def search(self, query: str) -> Hits:
        """What fits the words."""
        matcher = self.matcher(query)
        for title, help_, act in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), act, help=help_)
