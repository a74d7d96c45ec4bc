"""How fast session files are read, and in how much memory, against a loop of ``json.loads`` over the same lines.

    python tests/benchmarks/reading.py FILE...
    python tests/benchmarks/reading.py --make claude 100 FILE      a file of that many megabytes to try it on

Each figure is the median of several runs; time is that of the processor, so that a busy machine tells the same.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from workbench.sessions import open_session

RUNS = 5
SESSION = "11111111-2222-4333-8444-555555555555"
"""The id of the sessions that are made here."""
_TEXT = "the build fails because a name in the filter has no type and the choice is lost after every reload"
WORDS = _TEXT.split()


def seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


def loads(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                continue


def read(path: Path) -> int:
    log = open_session(path)
    log.refresh()
    return len(log.messages)


def _megabytes(path: Path, answer: multiprocessing.SimpleQueue[tuple[int, float]]) -> None:
    before = _peak()
    count = read(path)
    answer.put((count, _peak() - before))


def _peak() -> float:
    """Megabytes that this process took at its highest; of the process alone, where the system tells that."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(row for row in status.read_text().splitlines() if row.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(path: Path) -> tuple[int, float]:
    """Messages, and megabytes that a fresh process took for them at its highest."""
    fresh = multiprocessing.get_context("spawn")
    answer: multiprocessing.SimpleQueue[tuple[int, float]] = fresh.SimpleQueue()
    process = fresh.Process(target=_megabytes, args=(path, answer))
    process.start()
    found = answer.get()
    process.join()
    return found


def appended(path: Path) -> float:
    """Milliseconds to read one more line of a file that was read."""
    copy = path.with_name(f"{path.name}.appended")
    copy.write_bytes(path.read_bytes())
    try:
        log = open_session(copy)
        log.refresh()
        last = next(line for line in reversed(copy.read_bytes().split(b"\n")) if line.strip())
        found = []
        for _ in range(RUNS):
            with copy.open("ab") as file:
                file.write(last + b"\n")
            began = time.perf_counter()
            log.refresh()
            found.append((time.perf_counter() - began) * 1000)
        return statistics.median(found)
    finally:
        copy.unlink()


def make_claude(size: int, path: Path) -> None:
    """A conversation of prompts, answers, commands and outputs of many lengths."""
    chance = random.Random(1)
    parent, written, turn = None, 0, 0
    with path.open("wb") as file:

        def put(**fields: object) -> None:
            nonlocal parent, written
            uuid = f"{chance.getrandbits(128):032x}"
            record = {"uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "cwd": "/srv/shop", "version": "2.1.0"}
            record |= {
                "isSidechain": False,
                "gitBranch": "main",
                "timestamp": f"2026-03-01T10:{turn // 60 % 60:02}:00Z",
            }
            line = json.dumps(record | fields).encode() + b"\n"
            file.write(line)
            parent, written = uuid, written + len(line)

        while written < size:
            turn += 1
            text = " ".join(chance.choices(WORDS, k=40))
            usage = {"input_tokens": turn % 900, "output_tokens": 50, "cache_read_input_tokens": 1000}
            message = {"id": f"msg_{turn}", "role": "assistant", "model": "claude-x", "usage": usage}
            if turn % 20 == 1:
                put(type="user", message={"role": "user", "content": text})
            put(type="assistant", message=message | {"content": [{"type": "text", "text": text}]})
            call = {"type": "tool_use", "id": f"c{turn}", "name": "Bash", "input": {"command": f"npm test {turn}"}}
            put(type="assistant", message=message | {"content": [call]})
            rows = (" ".join(chance.choices(WORDS, k=12)) for _ in range(chance.choice([5, 20, 80, 300])))
            output = "\n".join(rows)
            result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": output, "is_error": False}
            twin = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            put(type="user", message={"role": "user", "content": [result]}, toolUseResult=twin)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", nargs=2, metavar=("AGENT", "MB"))
    parser.add_argument("file", type=Path, nargs="+")
    given = parser.parse_args()
    if given.make:
        make_claude(int(given.make[1]) * 1_000_000, given.file[0])
        return 0
    print("file\tMB\tmessages\tjson.loads s\tread s\tratio\tMB of memory\tKB a message\tone more line ms")
    for path in given.file:
        size = path.stat().st_size / 1e6
        loop, whole = seconds(lambda path=path: loads(path)), seconds(lambda path=path: read(path))
        count, taken = memory(path)
        row = (path.name, f"{size:.0f}", count, f"{loop:.2f}", f"{whole:.2f}", f"{loop / whole:.2f}", f"{taken:.0f}")
        print("\t".join(map(str, (*row, f"{taken * 1024 / max(count, 1):.2f}", f"{appended(path):.2f}"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
