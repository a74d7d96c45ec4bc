"""Threads for what would block: they stay for the next task, since to start one takes longer than most tasks do."""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable


class _Helper:
    """A thread that carries out one task after the other."""

    def __init__(self) -> None:
        self._asked = _thread.allocate_lock()
        self._asked.acquire()
        self._task: Callable[[], None] | None = None
        _thread.start_new_thread(self._run, ())

    def give(self, task: Callable[[], None]) -> None:
        """Have a task carried out; it raises nothing."""
        self._task = task
        self._asked.release()

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            task, self._task = self._task, None
            if task is not None:
                task()
            del task  # which may hold files open
            if len(_idle) >= _KEPT:
                return
            _idle.append(self)


_KEPT = 32
"""How many stay."""
_idle: list[_Helper] = []
"""Those that have nothing to do."""
os.register_at_fork(after_in_child=_idle.clear)  # threads do not go along


def aside(task: Callable[[], None]) -> bool:
    """Carry a task out in a thread of its own, at once; it raises nothing, and need not come back.

    Returns:
        False where the system gives no thread for it, and it is not carried out.
    """
    try:
        helper = _idle.pop()
    except IndexError:
        try:
            helper = _Helper()
        except (RuntimeError, MemoryError):
            return False
    helper.give(task)
    return True
