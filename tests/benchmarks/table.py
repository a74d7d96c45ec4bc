"""Rows of measurements and the figures they are held against, as a table."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure: what it is about, what was measured, and what it is to reach."""

    what: str
    measured: str
    figure: str = ""
    """Empty: for comparison only."""
    reached: bool | None = None


def median(work: Callable[[], object], times: int) -> float:
    """Seconds of the median call."""
    return statistics.median(each(work, times))


def each(work: Callable[[], object], times: int) -> list[float]:
    """Seconds of every call."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return found


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    return each(work, 1)[0]


def high(values: list[float], share: float = 0.95) -> float:
    """The value that ``share`` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ms(seconds: float) -> str:
    """Seconds, readable."""
    return (
        f"{seconds:.2f} s"
        if seconds >= 1
        else f"{seconds * 1000:.1f} ms"
        if seconds >= 1e-4
        else f"{seconds * 1e6:.0f} µs"
    )


def show(title: str, rows: list[Row]) -> None:
    """Print a table."""
    widths = [max(len(getattr(row, name)) for row in rows) for name in ("what", "measured", "figure")]
    print(f"\n{title}")
    for row in rows:
        word = "" if row.reached is None else "reached" if row.reached else "MISSED"
        print(f"  {row.what:<{widths[0]}}  {row.measured:<{widths[1]}}  {row.figure:<{widths[2]}}  {word}".rstrip())


def main(title: str, run: Callable[[float], list[Row]]) -> None:
    """Run a benchmark at full size, or at the share of it that the command line names."""
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    show(title if share == 1 else f"{title} (at {share:g} of its size)", run(share))
