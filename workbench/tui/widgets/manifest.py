"""The rows of a package: taken or not, in what form, at what price, and why."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench.tui import paint
from workbench.tui.desk import Choice, PackageRow
from workbench.tui.widgets.line_list import LineList

TYPE, FORM, NUMBER, SCORE, WHY = 10, 9, 6, 6, 22
_TYPES = {
    "recent_message": "message",
    "retrieved_history": "found",
    "workspace_state": "worktree",
    "open_item": "to do",
    "upstream_output": "input",
}
"""Shorter words for some kinds of candidates."""


class ManifestList(LineList[PackageRow]):
    """One line a candidate, required ones first, then by rank."""

    choice: Choice | None = None

    def row_id(self, row: PackageRow) -> str:
        """The candidate's id."""
        return row.id

    def row_lines(self, row: PackageRow, width: int) -> Sequence[Content]:
        """Box, type, what, form, tokens, score, reason; fewer columns where it is narrow."""
        box, style = self._box(row)
        form = row.form or "-"
        price = paint.short(row.tokens if row.included else row.wanted)
        why = (row.reason or "").replace("_", " ")
        tail: list[Content | str | tuple[str, str]] = []
        if width >= 70:
            tail += [" ", paint.word(form, FORM, paint.QUIET)]
        tail += [" ", paint.word(price, NUMBER, "" if row.included else paint.QUIET, right=True)]
        if width >= 84:
            tail += [" ", paint.word(paint.short(row.score), SCORE, paint.QUIET, right=True)]
        if width >= 110:
            tail += ["  ", paint.word(why or row.tier, WHY, "$warn" if why else paint.QUIET)]
        right = paint.join(tail)
        named = _TYPES.get(row.source_type, row.source_type.replace("_", " "))
        kind = paint.word(named, TYPE, paint.QUIET) if width >= 50 else Content("")
        left = Content.assemble((f"{box} ", style), kind, " ")
        room = max(4, width - left.cell_length - right.cell_length)
        title = paint.word(row.title, room, "" if row.included else paint.QUIET)
        return (paint.join([left, title, right]),)

    def _box(self, row: PackageRow) -> tuple[str, str]:
        if self.choice is not None and row.id in self.choice.pins:
            return ("[^]", "$warn") if row.included else ("[^]", "$bad")
        if row.included:
            return ("[■]", "$good") if row.tier == "required" else ("[x]", "$good")
        return "[ ]", paint.QUIET

    def head(self, width: int) -> Content:
        """Names over the columns."""
        tail = ""
        if width >= 70:
            tail += " " + "form".ljust(FORM)
        tail += " " + "tokens".rjust(NUMBER)
        if width >= 84:
            tail += " " + "score".rjust(SCORE)
        if width >= 110:
            tail += "  " + "why".ljust(WHY)
        left = "    " + ("type".ljust(TYPE) if width >= 50 else "") + " "
        return Content.styled(left + "what".ljust(max(4, width - len(left) - len(tail))) + tail, paint.QUIET)

    def detail(self) -> Content:
        """The row under the cursor in full: score parts and reason."""
        row = self.current
        if row is None:
            return Content("")
        parts = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.parts)
        why = (row.reason or "").replace("_", " ")
        left_out = "left out: " if why and not row.included else ""
        return paint.fit_parts(
            (
                (row.tier, paint.LABEL),
                *(((left_out + why, "$warn"),) if why else ()),
                (f"score {row.score}", paint.LABEL),
                *(((parts, paint.QUIET),) if parts else ()),
            )
        )
