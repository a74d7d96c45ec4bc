"""Every key, from the table."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.tui import paint
from workbench.tui.keys import KEYS
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.task_pane import TaskScroll

SECTIONS = {
    "main": "everywhere",
    "list": "in lists and texts",
    "history": "in the history",
    "package": "in a package",
    "settle": "settling",
    "launch": "launching",
}
SYMBOLS = (
    ("facts", "● active  ? proposed  ! challenged  ≠ contested  ↶ superseded  × rejected"),
    ("messages", "§ guideline  ◆ project  · working   × dropped  ≈ summarised  → externalised  ^ pinned  ■ marked"),
    ("acceptance", "[x] passed  [!] failed  [~] stale  [?] claimed  [ ] waiting"),
    ("to do", "☐ pending  ▸ begun  ‖ interrupted  ✓ done"),
)


class HelpScreen(Modal[None]):
    """The table of keys and the legend of symbols."""

    TITLE_TEXT = "keys"

    def __init__(self, shown: Mapping[str, str]) -> None:
        super().__init__()
        self._shown = shown

    def content(self) -> ComposeResult:
        """Keys by place, then symbols."""
        with TaskScroll():
            yield Static(self._table(), markup=False)

    def _table(self) -> Content:
        rows: list[Content] = []
        for where, title in SECTIONS.items():
            rows += [Content(""), Content.styled(title, "$label bold")]
            for key in KEYS:
                if key.where != where:
                    continue
                late = "" if key.built else "  (not in this version yet)"
                rows.append(
                    Content.assemble(
                        paint.word(self._shown[key.id], 10, "$focus" if key.built else paint.QUIET, right=True),
                        "  ",
                        (key.tooltip, "" if key.built else paint.QUIET),
                        (late, paint.QUIET),
                    )
                )
        rows.append(Content.assemble(paint.word("ctrl+p", 10, "$focus", right=True), "  Everything, by word"))
        rows += [Content(""), Content.styled("symbols", "$label bold")]
        rows += [Content.assemble(paint.word(name, 10, right=True), "  ", text) for name, text in SYMBOLS]
        return paint.stack(rows[1:])
