"""Work beside the screen: cut into short pieces, and at rest while something new is on its way to the screen.

Threads share the interpreter, so what reckons in one of them holds up the one that reads and paints.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

PIECE = 0.01
"""Seconds of work after which the screen has its turn."""
REST = 0.001
"""Seconds of rest between two pieces."""
PATIENCE = 0.5
"""Seconds that a piece waits at most for what is on its way: a terminal that takes nothing must not stop the work."""


class GivenUp(Exception):  # no error: nobody waits for the work any more
    """The app ends: what is not written yet is left for the next start."""


class Pieces:
    """Called by one thread of work between any two things that it does; most calls return at once.

    Args:
        quiet: Set while nothing is on its way to the screen.
    """

    def __init__(self, quiet: threading.Event) -> None:
        self._quiet = quiet
        self._began = 0.0
        self._given_up = False

    def __call__(self) -> None:
        """Rest, where a piece is done.

        Raises:
            GivenUp: The work is not wanted any more.
        """
        if self._given_up:
            raise GivenUp
        if monotonic() - self._began >= PIECE:
            sleep(REST)
            self._quiet.wait(PATIENCE)
            self._began = monotonic()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """While this lasts the work is wanted; after it the thread gives it up, and none waits for it at the end."""
        self._given_up = False
        try:
            yield
        finally:
            self._given_up = True
