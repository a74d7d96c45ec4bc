"""Thousands of session files: found from nothing, found again, as a whole process; bytes read of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.data import SESSION, home, session_lines, workspace
from tests.benchmarks.table import Row, main, median, ms, timed
from workbench.services.finding import SessionFinder, index_file
from workbench.sessions.discovery import marks

SESSIONS = 5_000
PROJECTS = 60
LENGTHS = (10, 40, 160)
"""Messages of a session; about 100 KB on average."""


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 5,000 sessions in 60 projects."""
    number = max(12, int(SESSIONS * share))
    with home() as folder:
        repo = folder / "repo"
        workspace(repo)
        size = _make(folder, repo, number)
        env = dict(os.environ)
        read: list[int] = []
        cold = timed(lambda: _counting(read, lambda: SessionFinder().find([repo], env)))
        warm = median(lambda: SessionFinder().find([repo], env), 5)
        again = SessionFinder()
        again.find([repo], env)
        running = median(lambda: again.find([repo], env), 5)
        look = median(lambda: marks(env), 20)
        listed = [sys.executable, "-m", "workbench", "session", "list"]
        process = median(lambda: subprocess.run(listed, cwd=repo, check=True, capture_output=True), 3)
        index_file(env).unlink()
        first = timed(lambda: subprocess.run(listed, cwd=repo, check=True, capture_output=True))
        return [
            Row(f"{number:,} sessions, {size >> 20} MB, from nothing", ms(cold), "< 1.5 s", cold < 1.5),
            Row("bytes read of a file", f"{sum(read) // number:,} on average, {max(read):,} at most a read"),
            Row("found again, index read from the cache", ms(warm), "< 0.3 s", warm < 0.3),
            Row("found again in the same process", ms(running)),
            Row("whether there is a new one", ms(look)),
            Row("session list, whole process, from nothing", ms(first), "< 1.5 s", first < 1.5),
            Row("session list, whole process, again", ms(process), "< 0.3 s", process < 0.3),
        ]


def _make(folder: Path, repo: Path, number: int) -> int:
    """Session files of as many projects; every sixtieth session is of the repository."""
    plain = {length: b"".join(session_lines(Path("/srv/PLACE"), length)) for length in LENGTHS}
    size = 0
    for one in range(number):
        project = one % PROJECTS
        where = repo if project == 0 else folder / f"other{project}"
        identity = f"{one:08x}-0000-4000-8000-000000000001"
        data = plain[LENGTHS[one % len(LENGTHS)]]
        data = data.replace(SESSION.encode(), identity.encode()).replace(b"/srv/PLACE", str(where).encode())
        inside = folder / "home/.claude/projects" / f"p{project}"
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"{identity}.jsonl").write_bytes(data)
        size += len(data)
    return size


def _counting(read: list[int], work: object) -> None:
    real = os.pread

    def counted(descriptor: int, count: int, offset: int) -> bytes:
        data = real(descriptor, count, offset)
        read.append(len(data))
        return data

    os.pread = counted
    try:
        work()  # type: ignore[operator]
    finally:
        os.pread = real


if __name__ == "__main__":
    main("Finding sessions", run)
