"""What the app says in a corner of the screen, whatever it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual.app import App
from textual.notifications import Notify

from workbench.errors import WorkbenchError
from workbench.text import one_line

Kind = Literal["information", "warning", "error"]
LIMIT = 400
"""Characters of a sentence."""


class NoticingApp(App[int]):
    """Says sentences, the newest alone; data in them is never markup."""

    def say(self, text: str, *, kind: Kind = "information") -> None:
        """One sentence."""
        self.say_all((text,), kind)

    def say_all(self, lines: Sequence[str], kind: Kind = "warning") -> None:
        """Several sentences at once, each on its line."""
        if lines:
            self.notify("\n".join(one_line(text, LIMIT) for text in lines), severity=kind, markup=False)

    def fail(self, error: WorkbenchError) -> None:
        """A failure, and what to do about it."""
        hint = f"\n{one_line(error.hint, 300)}" if error.hint else ""
        self.notify(one_line(error.message, 500) + hint, severity="error", timeout=12, markup=False)

    def _on_notify(self, event: Notify) -> None:
        """Show the newest notice alone: an older one is no longer so."""
        self._notifications.clear()
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()  # the toolkit leaves an empty line of each that went
        super()._on_notify(event)
