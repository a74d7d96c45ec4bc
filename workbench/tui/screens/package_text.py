"""A package as text: its figures in one line, and the prompt as it will be sent."""

from __future__ import annotations

from textual.content import Content

from workbench.tui import paint
from workbench.tui.desk import Draft

PROMPT_LINES = 4000
"""Lines of a prompt that are shown; how many were left off is said."""


def figures(draft: Draft, room: int, packing: bool) -> Content:
    """Tokens, budget, window and rows of a package in one line; what does not fit is left off, the least first."""
    if draft.blocked:
        return Content.assemble(("blocked: ", "$bad bold"), paint.line(draft.blocked, "$bad"))
    near = "≈" if draft.estimated else ""
    taken = sum(row.included for row in draft.rows)
    window = f"window {paint.short(draft.window)}" if draft.window else "window not known"
    filled = min(1.0, draft.tokens / draft.budget) if draft.budget else 0.0
    bar = "█" * round(filled * 12)
    shown = Content.assemble((f"{near}{paint.count(draft.tokens)}", "bold"), f" of {paint.count(draft.budget)} tokens")
    parts = (
        Content.styled("packing …" if packing else "", "$info"),
        Content.styled(window, paint.QUIET),
        Content.styled(f"{taken} of {len(draft.rows)} rows", paint.QUIET),
        paint.line(draft.tokenizer, paint.QUIET),
        Content.assemble((bar, "$info"), ("░" * (12 - len(bar)), "$rule")),
    )
    for part in filter(None, parts):
        longer = Content.assemble(shown, (" · ", paint.QUIET), part)
        shown = longer if longer.cell_length <= room else shown
    return shown


def prompt_text(draft: Draft) -> Content:
    """The prompt as it will be sent, bounded for the screen."""
    text, left = paint.lines(draft.prompt, PROMPT_LINES, width=4000)
    if not left:
        return text
    return Content.assemble(text, "\n", (f"… {paint.plural(left, 'line')} left off here; they are sent", paint.QUIET))
