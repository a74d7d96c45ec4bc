"""Leaving the terminal as it was found, whatever ends the app; and lending the mouse back to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from textual.driver import Driver

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
RESTORE = (
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # no mouse reports
    "\x1b[?2004l\x1b[?1004l\x1b[?2048l"  # no bracketed paste, focus or resize reports
    "\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"  # plain keys, line wrap, main screen, cursor
)
"""What brings a terminal back to the state a shell expects."""


class Manners:
    """Remembers the terminal's modes, and restores them after the app, or in its place."""

    def __init__(self) -> None:
        self._fd = sys.__stdin__.fileno() if sys.__stdin__ is not None and sys.__stdin__.isatty() else None
        self._modes: list[Any] | None = None if self._fd is None else termios.tcgetattr(self._fd)

    def restore(self) -> None:
        """Cooked mode, main screen, no mouse; silent where the terminal is gone."""
        out = sys.__stderr__
        with suppress(OSError, ValueError):
            if out is not None and out.isatty():
                os.write(out.fileno(), RESTORE.encode())
        if self._fd is not None and self._modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._modes)

    @contextmanager
    def guarding(self, leave: Callable[[int], None]) -> Iterator[None]:
        """Let the ending signals leave the app through ``leave``; a second one ends the process at once."""
        loop = asyncio.get_running_loop()
        seen: list[int] = []

        def handle(number: int, _frame: object) -> None:
            if seen:
                self.restore()
                os._exit(128 + number)
            seen.append(number)
            loop.call_soon_threadsafe(leave, number)

        before = {number: signal.signal(number, handle) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def set_mouse(driver: Driver | None, on: bool) -> bool:
    """Take the mouse, or give it back to the terminal for selecting; whether the driver knows how.

    The toolkit decides about the mouse once, at start; its driver can do it later, without a public name.
    """
    turn = getattr(driver, "_enable_mouse_support" if on else "_disable_mouse_support", None)
    if driver is None or turn is None:
        return False
    if on:
        driver._mouse = True
        turn()
    else:
        turn()
        driver._mouse = False
    return True
