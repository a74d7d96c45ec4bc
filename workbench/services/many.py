"""Statements of very many texts, found by several processes at once.

Such a process answers over its pipes and ends when they close or when the program that asked is gone. It has no
terminal, and what it is told and tells is between the two alone. Where none can be had, the work is done here.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from select import select
from typing import IO, Any

from workbench.extraction import Extraction, Extractor, Place, RuleBook

WORTH_IT = 400_000
"""Characters below which a process of one's own is done sooner than others have begun."""
MOST = 8
"""Processes at once."""
_TEXTS, _CHARACTERS = 200, 20_000
"""Of what is asked about together, at most, but for one long text."""
_PATIENCE = 120.0
"""Seconds after which a process that has not answered is taken for one that never will."""
_BEGIN = """
import pickle, sys
size = int.from_bytes(sys.stdin.buffer.read(8), "big")
sys.path[:] = pickle.loads(sys.stdin.buffer.read(size))
from workbench.services.many import answer
answer()
"""
"""The program of such a process: it looks for modules where this one does, and nowhere else."""
Phrases = Mapping[str, tuple[str, ...]]
Talk = Sequence[tuple[str, Place]]


def extract_each(talk: Talk, phrases: Phrases | None = None, processes: int | None = None) -> Iterator[Extraction]:
    """What each of many texts holds, in their order.

    Args:
        talk: The texts, with their places.
        phrases: What a workspace adds to the rules, by kind.
        processes: How many to share the work among; None: as the machine and the work allow.
    """
    phrases = dict(phrases or {})
    if processes is None:
        much = sum(len(text) for text, _ in talk) >= WORTH_IT
        processes = min(_processors(), MOST) if much else 1
    if processes > 1:
        with ExitStack() as stack:
            pieces = list(_pieces(talk))
            others = [_Other(phrases) for _ in range(min(processes, len(pieces)))]
            pool = stack.enter_context(ThreadPoolExecutor(processes))
            for other in others:
                stack.callback(other.end)
            stack.callback(pool.shutdown, wait=False, cancel_futures=True)
            idle: SimpleQueue[_Other] = SimpleQueue()
            for other in others:
                idle.put(other)
            with suppress(RuntimeError):  # no thread can be had, of which there are as many from the start
                answers = pool.map(lambda piece: _share(idle, piece), pieces)
                processes = 0
            if not processes:
                for found in answers:
                    yield from found
                return
    yield from _extract(Extractor(RuleBook.standard(phrases)), talk)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pieces(talk: Talk) -> Iterator[Talk]:
    start = characters = 0
    for end, (text, _) in enumerate(talk):
        if end > start and (end - start == _TEXTS or characters + len(text) > _CHARACTERS):
            yield talk[start:end]
            start, characters = end, 0
        characters += len(text)
    if start < len(talk):
        yield talk[start:]


def _extract(extractor: Extractor, talk: Talk) -> Iterator[Extraction]:
    for text, place in talk:
        yield extractor.extract(text, place)


class _Other:
    """A process that extracts; if there is none or it fails, its work is done here."""

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases
        self._own: Extractor | None = None
        self._ended = False
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError, ValueError, TypeError):  # no further process, or Python does not know its own program
            self._process = subprocess.Popen(
                (sys.executable, "-P", "-c", _BEGIN),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # An interrupt from the keyboard is for the program that asked.
                start_new_session=True,
            )
        self._tell([path for path in sys.path if path])
        self._tell(phrases)

    def end(self) -> None:
        """Give it up, whatever it does."""
        self._ended = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # what was never sent
                    assert pipe is not None
                    pipe.close()

    def extract(self, piece: Talk) -> list[Extraction]:
        """What the texts of a piece hold; nothing once it was given up."""
        if self._own is None and self._tell(piece):
            assert self._process is not None
            assert self._process.stdout is not None
            with suppress(EOFError, OSError, ValueError):
                if select([self._process.stdout], [], [], _PATIENCE)[0]:
                    return _received(self._process.stdout)  # type: ignore[no-any-return]
        if self._ended:
            return []
        if self._process is not None:
            self._process.kill()
        self._own = self._own or Extractor(RuleBook.standard(dict(self._phrases)))
        return list(_extract(self._own, piece))

    def _tell(self, what: object) -> bool:
        if self._process is None:
            return False
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, what)
        except (OSError, ValueError):
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


def answer() -> None:
    """What such a process does: answer until nobody asks any more."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        extractor = Extractor(RuleBook.standard(_received(asked)))
        gc.freeze()  # the rules stay: no pass of the collector has to walk them
        while True:
            _send(answers, list(_extract(extractor, _received(asked))))
    except (EOFError, BrokenPipeError):
        os._exit(0)


def _end_with(program: int) -> None:
    """End with the program that asked, also in the middle of a long text."""
    while os.getppid() == program:
        time.sleep(0.5)
    os._exit(0)
