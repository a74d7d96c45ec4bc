"""Session files: the whole pipeline beside a loop of json.loads, a line appended, and memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.data import home, session_file, session_lines
from tests.benchmarks.table import Row, main, median, ms, timed
from workbench.sessions import open_session

_MEMORY = """
import resource, sys
from pathlib import Path
from workbench.sessions import open_session
def kib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
before = kib()
log = open_session(Path(sys.argv[1]))
log.refresh()
print(kib() - before, len(log.messages))
"""


def run(share: float) -> list[Row]:
    """Measure; ``share`` of about 100 MB in 60,000 records."""
    number = max(50, int(60_000 * share))
    with home() as folder:
        path = session_file(folder / "one.jsonl", number)
        size = path.stat().st_size
        plain, whole = [], []
        for _ in range(3):  # in turn: the machine's mood meets both
            plain.append(timed(lambda: _loop(path)))
            whole.append(timed(lambda: open_session(path).refresh()))
        loop, pipeline = min(plain), min(whole)
        log = open_session(path)
        log.refresh()
        more = list(session_lines(folder, 40, start=number))
        append = statistics.median(_append(path, log, line) for line in more)
        idle = median(log.refresh, 20)
        rows = [
            Row(f"json.loads over {size >> 20} MB", f"{ms(loop)}, {size / loop / 1e6:.0f} MB/s"),
            Row(
                "file to messages",
                f"{ms(pipeline)}, {loop / pipeline:.2f} x the speed",
                ">= 1.5 x",
                loop / pipeline >= 1.5,
            ),
            Row("a line appended, read", ms(append), "< 1 ms", append < 0.001),
            Row("nothing new", ms(idle)),
        ]
        if Path("/proc/self/status").exists():
            kib, messages = map(int, _python(_MEMORY, path).split())
            rows.append(
                Row(f"memory for it, {messages:,} messages", f"{kib >> 10} MB, {kib * 1024 / messages:.0f} bytes each")
            )
            kib, messages = map(int, _python(_MEMORY, _with_long_line(folder, share)).split())
            rows.append(Row("memory for a line of 50 MB", f"{kib >> 10} MB", "<= 200 MB", kib >> 10 <= 200))
    return rows


def _loop(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def _append(path: Path, log: object, line: bytes) -> float:
    with path.open("ab") as file:
        file.write(line)
    return timed(log.refresh)  # type: ignore[attr-defined]


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
