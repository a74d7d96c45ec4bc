"""Several processes at the index at once, some of them killed: nothing is lost from what is found."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.search.conftest import Place
from workbench.services import search

WORK = """
import os, sys
from pathlib import Path
from workbench.services import facts, search
from workbench.services.context import open_context
ctx = open_context(Path(sys.argv[1]), env=os.environ)
for number in range(12):
    made = facts.propose(ctx, f"stork.{sys.argv[2]}.n{number}", f"white {number}")
    print(made.fact.id, flush=True)
    search.update(ctx)
    search.search(ctx, "stork")
"""


def test_what_is_found_is_what_was_acknowledged(place: Place) -> None:
    place.says("a stork in the session")
    words = [sys.executable, "-c", WORK, str(place.folder)]
    started = [
        subprocess.Popen([*words, str(number)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
        for number in range(4)
    ]
    said: list[str] = []
    for number, process in enumerate(started):
        assert process.stdout is not None
        if number % 2:
            # In the middle of its work, wherever that is.
            said += [process.stdout.readline().strip() for _ in range(3 + number)]
            os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().split()
        process.wait(60)
        process.stdout.close()
    reader = search.search(place.context(read_only=True), "stork", limit=500)
    assert {hit.source_id for hit in reader.hits} >= set(said)
    writer = place.context()
    assert search.update(writer)
    after = search.search(place.context(read_only=True), "stork", limit=500)
    assert {hit.source_id for hit in after.hits} == {hit.source_id for hit in reader.hits}
    assert after.total == len(after.hits) == len(writer.workspace.load().facts) + 1
    db = sqlite3.connect(place.index)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert (
        db.execute("SELECT count(*) FROM texts").fetchone()
        == db.execute("SELECT count(DISTINCT grp || ref) FROM texts").fetchone()
    )
    db.close()
