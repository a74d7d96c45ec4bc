"""What is odd about the state stands on the task card, with what would put it right."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.seeing import sees, text_of, until
from workbench.domain.state_findings import Finding

ODD = (
    Finding("overlap", "doubled: embed a font", "state update --drop abc", ("abc", "def")),
    Finding("interrupted", "“run verapdf” was started and not finished", "look", ("ghi",)),
)


async def test_the_card_says_what_is_to_put_right(opened, desk):
    async with opened(desk, (180, 70)) as (app, pilot):
        assert "to put right" not in text_of(app)
        desk.change(task=replace(desk.shown.task, findings=ODD))
        app.nudge()
        await until(pilot, lambda: app.view is desk.shown)
        await sees(pilot, "to put right")
        seen = text_of(app)
    assert "doubled: embed a font" in seen
    assert "--drop abc" in seen
    assert "was started and not finished" not in seen  # the item itself says so
