"""Every key, from the table."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.tui import paint
from workbench.tui.keys import KEYS, Key
from workbench.tui.screens.modal import Modal
from workbench.tui.widgets.task_pane import TaskScroll

SECTIONS = {
    "main": "everywhere",
    "list": "in lists and texts",
    "history": "in the history",
    "package": "in a package",
    "settle": "settling",
    "launch": "launching",
    "request": "what the model saw",
    "found": "what was found (enter keeps)",
}
SIGNS = (
    ("history", "mem column: · working  ◆ project  § guideline"),
    ("", "beside it: × dropped  ≈ summarised  → externalised  ^ pinned"),
    ("", "■ marked; exit 2, ok, failed: how a call ended"),
    ("task card", "[x] passed  [!] failed  [~] stale  [?] claimed  [ ] waiting"),
    ("", "☐ to do  ▸ begun or running  ‖ interrupted  ✓ done"),
    ("", "● live session  ○ idle  × not on this machine"),
    ("facts", "● active  ? proposed  ! challenged  ≠ contested"),
    ("", "↶ superseded  × rejected  - retracted"),
    ("", "auth(ority): a person's word  ver(ified): a tool's  rep(orted): an agent's"),
    ("packages", "◔ pending  ! stale, failed  ◑ going over  ◕ launched"),
    ("", "● received  ✓ closed  × given up"),
    ("rows", "[■] required  [x] taken  [ ] left out  [^] pinned"),
    ("tokens", "= counted with the agent's own vocabulary"),
    ("", "≈ estimated, with a margin kept"),
)
"""What the signs mean, by the place where they stand."""


class HelpScreen(Modal[None]):
    """The table of keys and the legend of signs."""

    TITLE_TEXT = "keys"

    def __init__(self, shown: Mapping[str, str]) -> None:
        super().__init__()
        self._shown = shown

    def content(self) -> ComposeResult:
        """Keys by place, then signs."""
        with TaskScroll():
            yield Static(self._table(), markup=False)

    def _table(self) -> Content:
        rows: list[Content] = []
        for where, title in SECTIONS.items():
            rows += [Content(""), Content.styled(title, "$label bold")]
            rows += [self._row(key) for key in KEYS if key.where == where and key.built]
        rows.append(Content.assemble(paint.word("ctrl+p", 10, "$focus", right=True), "  Everything, by word"))
        rows += [Content(""), Content.styled("signs", "$label bold")]
        rows += [Content.assemble(paint.word(name, 10, right=True), "  ", text) for name, text in SIGNS]
        late = ", ".join(f"{self._shown[key.id]} {key.label}" for key in KEYS if not key.built)
        if late:
            rows += [Content(""), Content.styled(f"not in this version yet: {late}", paint.QUIET)]
        return paint.stack(rows[1:])

    def _row(self, key: Key) -> Content:
        return Content.assemble(paint.word(self._shown[key.id], 10, "$focus", right=True), "  ", key.tooltip)
