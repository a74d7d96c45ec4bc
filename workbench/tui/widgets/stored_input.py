"""A line to type into that begins with a stored text: shown harmless, and given back as it was where nobody typed."""

from __future__ import annotations

from textual.widgets import Input

from workbench.text import one_line

MOST = 4000
"""Characters of a stored text that are shown for editing."""


class StoredInput(Input):
    """An input that tells what was typed from what was only made visible."""

    def __init__(
        self, stored: str = "", *, placeholder: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        self._stored = stored
        self._shown = one_line(stored, MOST)
        super().__init__(
            self._shown, placeholder=placeholder, compact=True, select_on_focus=False, id=id, classes=classes
        )

    @property
    def altered(self) -> bool:
        """Whether a change would lose something of the stored text: line breaks, invisible characters, its end."""
        return self._shown != self._stored.strip()

    @property
    def typed(self) -> str:
        """What stands in the line; the stored text itself where nobody touched it."""
        return self._stored if self.value == self._shown else self.value.strip()
