"""What was reckoned last, with what it rests on: the same question comes again with every line of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """One answer, good as long as it rests on the very same objects, and on equal words beside them."""

    def __init__(self) -> None:
        self._known: tuple[tuple[object, ...], Any, T] | None = None

    def of(self, objects: tuple[object, ...], words: Any, reckon: Callable[[], T]) -> T:
        """The answer; ``reckon`` makes it where it was another question that was asked last."""
        known = self._known
        if known is not None and all(map(_is, known[0], objects)) and known[1] == words:
            return known[2]
        answer = reckon()
        self._known = objects, words, answer
        return answer


def _is(one: object, other: object) -> bool:
    return one is other
