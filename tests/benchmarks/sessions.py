"""Session files: the whole pipeline beside a loop of json.loads, a line appended, memory, and the next start."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.data import home, session_lines
from tests.benchmarks.reading import SESSION, make_claude
from tests.benchmarks.rollouts import make_codex
from tests.benchmarks.table import Row, main, median, ms, timed
from workbench.sessions import SessionLog, open_session
from workbench.sessions.reader_index import ReaderIndex

_MEMORY = """
import resource, sys
from pathlib import Path
from workbench.sessions import open_session
def kib(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))
before = kib("VmRSS")
log = open_session(Path(sys.argv[1]))
log.refresh()
print(kib("VmHWM") - before, len(log.messages))
"""


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 500 MB in about 109,000 records, and of twice 200 MB in about 67,000."""
    with home() as folder:
        path = folder / f"{SESSION}.jsonl"
        make_claude(int(500_000_000 * share), path)
        size = path.stat().st_size
        loop, pipeline = _both(path)
        log = open_session(path)
        log.refresh()
        append = statistics.median(_append(path, log, number) for number in range(20))
        idle = median(log.refresh, 20)
        rows = [
            Row(f"json.loads over {size / 1e6:,.0f} MB", f"{ms(loop)}, {size / loop / 1e6:.0f} MB/s"),
            Row(
                "file to messages",
                f"{ms(pipeline)}, {loop / pipeline:.2f} x the speed",
                ">= 1.5 x",
                loop / pipeline >= 1.5,
            ),
            *(_codex(folder, share, items=items) for items in (False, True)),
            Row("a line appended, read", ms(append), "< 1 ms", append < 0.001),
            Row("nothing new", ms(idle)),
        ]
        index = ReaderIndex(folder / "cache")
        kept = timed(lambda: index.save(log, array("i", bytes(4 * len(log.messages)))))
        again = open_session(path)
        known = timed(lambda: index.restore(again))
        rows.append(Row("what is known of it kept for the next start", ms(kept)))
        rows.append(Row("and had again", ms(known) if again.read_to else "not: it is too small", "< 1 s", known < 1))
        if Path("/proc/self/status").exists():
            kib, messages = map(int, _python(_MEMORY, path).split())
            each = kib * 1024 / messages
            most = size / 5
            rows += [
                Row("memory for it", f"{kib >> 10} MB", f"<= {most / 1e6:,.0f} MB (200 for 1 GB)", kib * 1024 <= most),
                Row(f"of {messages:,} messages, each", f"{each:,.0f} bytes", "< 1 KB", each < 1024),
            ]
            kib, messages = map(int, _python(_MEMORY, _with_long_line(folder, share)).split())
            rows.append(Row("memory for a line of 50 MB", f"{kib >> 10} MB", "<= 200 MB", kib >> 10 <= 200))
    return rows


def _both(path: Path) -> tuple[float, float]:
    """What a loop of ``json.loads`` costs, and what the whole pipeline does."""
    plain, whole = [], []
    for _ in range(3):  # in turn: the machine's mood meets both
        plain.append(_cost(lambda: _loop(path)))
        whole.append(_cost(lambda: _read(path)))
    return min(plain), min(whole)


def _codex(folder: Path, share: float, *, items: bool) -> Row:
    """The same for 200 MB that Codex wrote, now or a while ago."""
    path = make_codex(int(200_000_000 * share), folder, items=items)
    loop, pipeline = _both(path)
    ratio = loop / pipeline
    what = f"the same, Codex {'now' if items else 'before its items had names'}, {path.stat().st_size / 1e6:,.0f} MB"
    path.unlink()
    return Row(what, f"{ms(pipeline)}, {ratio:.2f} x the speed", ">= 1.5 x", ratio >= 1.5)


def _cost(work: Callable[[], object]) -> float:
    """Processor time of one call: other programs on the machine do not count, nor that what was made goes again."""
    began = time.process_time()
    made = work()
    taken = time.process_time() - began
    del made
    return taken


def _read(path: Path) -> SessionLog:
    log = open_session(path)
    log.refresh()
    return log


def _loop(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def _append(path: Path, log: SessionLog, number: int) -> float:
    script = {"type": "user", "uuid": f"more-{number}", "parentUuid": log.messages[-1].id, "sessionId": SESSION}
    line = json.dumps(script | {"message": {"role": "user", "content": "one more thing"}}).encode() + b"\n"
    with path.open("ab") as file:
        file.write(line)
    return timed(log.refresh)


def _with_long_line(folder: Path, share: float) -> Path:
    path = folder / "long.jsonl"
    *lines, last = session_lines(folder, 4)
    record = json.loads(last)
    record["message"]["content"][0]["content"] = "line of output\n" * int(3_500_000 * min(1, share))
    path.write_bytes(b"".join([*lines, json.dumps(record).encode(), b"\n"]))
    return path


def _python(code: str, *words: object) -> str:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main("Sessions", run)
