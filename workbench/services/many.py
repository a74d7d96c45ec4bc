"""Statements of very many texts, found by several processes at once; ``python -m workbench.services.many`` is one.

Such a process answers over its pipes and ends when they close, so none outlives the program that asked, however that
ends. It has no terminal, and what it is told and tells is between the two alone.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import IO, Any

from workbench.extraction import Extraction, Extractor, Place, RuleBook

WORTH_IT = 400_000
"""Characters below which a process of one's own is done sooner than others have begun."""
MOST = 8
"""Processes at once."""
_PIECE = 200
"""Texts that are asked about together."""
Phrases = Mapping[str, tuple[str, ...]]
Talk = Sequence[tuple[str, Place]]


def extract_each(talk: Talk, phrases: Phrases | None = None, processes: int | None = None) -> Iterator[Extraction]:
    """What each of many texts holds, in their order.

    Args:
        talk: The texts, with their places.
        phrases: What a workspace adds to the rules, by kind.
        processes: How many to share the work among; None: as the machine and the work allow.
    """
    if processes is None:
        much = sum(len(text) for text, _ in talk) >= WORTH_IT
        processes = min(_processors(), MOST) if much else 1
    if processes < 2:
        yield from _extract(Extractor(RuleBook.standard(dict(phrases or {}))), talk)
        return
    pieces = [talk[start : start + _PIECE] for start in range(0, len(talk), _PIECE)]
    with ExitStack() as stack:
        idle: SimpleQueue[_Other] = SimpleQueue()
        for _ in range(min(processes, len(pieces))):
            idle.put(stack.enter_context(_Other(phrases)))
        pool = stack.enter_context(ThreadPoolExecutor(processes))
        stack.callback(pool.shutdown, cancel_futures=True)
        for found in pool.map(lambda piece: _share(idle, piece), pieces):
            yield from found


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _extract(extractor: Extractor, talk: Talk) -> Iterator[Extraction]:
    for text, place in talk:
        yield extractor.extract(text, place)


class _Other:
    """A process that extracts; if it fails, its work is done here."""

    def __init__(self, phrases: Phrases | None) -> None:
        self._phrases = dict(phrases or {})
        self._own: Extractor | None = None
        self._process = subprocess.Popen(
            (sys.executable, "-P", "-m", __spec__.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            # An interrupt from the keyboard is for the program that asked.
            start_new_session=True,
        )
        self._tell(self._phrases)

    def __enter__(self) -> _Other:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def extract(self, piece: Talk) -> list[Extraction]:
        """What the texts of a piece hold."""
        if self._own is None and self._tell(piece):
            assert self._process.stdout is not None
            try:
                return _received(self._process.stdout)  # type: ignore[no-any-return]
            except EOFError:
                pass
        self._own = self._own or Extractor(RuleBook.standard(self._phrases))
        return list(_extract(self._own, piece))

    def _tell(self, what: object) -> bool:
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, what)
        except OSError:
            return False
        return True


def _share(idle: SimpleQueue[_Other], piece: Talk) -> list[Extraction]:
    other = idle.get()
    try:
        return other.extract(piece)
    finally:
        idle.put(other)


def _send(pipe: IO[bytes], what: object) -> None:
    data = pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _received(pipe: IO[bytes]) -> Any:
    """What the other side sent.

    Raises:
        EOFError: It is gone.
    """
    size = pipe.read(8)
    if len(size) < 8 or len(data := pipe.read(int.from_bytes(size, "big"))) < int.from_bytes(size, "big"):
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """Answer until nobody asks any more."""
    asked, answer = sys.stdin.buffer, sys.stdout.buffer
    try:
        extractor = Extractor(RuleBook.standard(_received(asked)))
        gc.freeze()  # the rules stay: no pass of the collector has to walk them
        while True:
            _send(answer, list(_extract(extractor, _received(asked))))
    except (EOFError, BrokenPipeError):
        os._exit(0)


if __name__ == "__main__":
    main()
