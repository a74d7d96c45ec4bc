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

    def _commands(self) -> Iterator[tuple[str, IgnoreReturnCallbackType]]:
        """Each once: its key, its word, and what it does."""
        app = cast("WorkbenchApp", self.app)
        screen = self.screen
        if isinstance(screen, MainScreen):
            for key in KEYS:
                if key.where == "main" and key.built:
                    title = f"{app.shown_keys[key.id]:>9}  {key.label}: {key.tooltip}"
                    yield title, partial(screen.run_action, key.action)
        yield f"{'':>9}  save screenshot: What is on the screen now, as a picture (SVG)", app.picture
        for name in sorted(app.theme_names):
            yield f"{'':>9}  theme: {name}", partial(app.use_theme, name)

    async def discover(self) -> Hits:
        """Everything, before a word is typed."""
        for title, act in self._commands():
            yield DiscoveryHit(title, act)

    async def search(self, query: str) -> Hits:
        """What fits the words."""
        matcher = self.matcher(query)
        for title, act in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), act)
