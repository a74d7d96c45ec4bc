"""What was found in the sessions, over the real services: hearing them, and a person's acts on the finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.domain.fact import value_text
from workbench.tui.desk_base import DeskBase, typed_value

if TYPE_CHECKING:
    from workbench.services.following import Follower
    from workbench.services.reviewing import Found, Review


class ReviewDesk(DeskBase):
    """Finds, as the app brings them in and a person decides about them; loaded when first asked for."""

    @cached_property
    def _follower(self) -> Follower:
        from workbench.services.following import Follower

        return Follower(self.ctx)

    def listen(self, pause: Callable[[], None]) -> bool:
        """Take in what was said since the last look; whether there was something."""
        return self._follower.step(pause)

    def review(self) -> Review:
        """What was found, and what of it stands before the person."""
        from workbench.services import reviewing

        return reviewing.review(self.ctx)

    def accept_found(self, one: Found, typed: str | None = None) -> str:
        """Confirm a line, with another value or wording where one is typed."""
        from workbench.services import reviewing

        if typed is None or one.fact is None:
            return reviewing.accept(self.ctx, one, text=typed or "")
        before = one.fact.fact.value
        if typed == value_text(before):
            return reviewing.accept(self.ctx, one)
        return reviewing.accept(self.ctx, one, typed if isinstance(before, str) else typed_value(typed))

    def keep_both_found(self, one: Found) -> str:
        """Let a value hold for this task alone."""
        from workbench.services import reviewing

        return reviewing.keep_both(self.ctx, one)

    def refuse_found(self, one: Found, why: str) -> str:
        """Refuse a line; it is not asked about again, in other words either."""
        from workbench.services import reviewing

        return reviewing.refuse(self.ctx, one, why)

    def skip_found(self, one: Found) -> str:
        """Leave a line as it is, and ask no more."""
        from workbench.services import reviewing

        return reviewing.skip(self.ctx, one)
