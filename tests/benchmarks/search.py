"""Full text: building the index, a question in it, and an index that lacks what is new."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.data import Texts, context, home, session_file, session_lines, vocabulary, workspace
from tests.benchmarks.table import Row, main, median, ms, timed
from workbench.services import search, sessions, tasks


def run(share: float) -> list[Row]:
    """Measure; ``share`` of 100,000 messages."""
    number = max(60, int(100_000 * share))
    with home() as folder:
        ctx = workspace(folder / "repo", 50)
        task = tasks.new(ctx, {"title": "Search", "objective": "search"})
        path = session_file(folder / "one.jsonl", number)
        sessions.attach(ctx, task, str(path))
        build = timed(lambda: search.update(ctx))
        size = _file(ctx.workspace.root).stat().st_size
        words = vocabulary()
        frequent, rare = words[3], words[len(words) * 2 // 3]
        asked = {
            "a frequent word": frequent,
            "a rare word": rare,
            "two words": f"{words[3]} {words[300]}",
            "1 Chinese character": "绿" if number < 100 else "户",
            "2 Chinese characters": "修改",
            "4 Chinese characters": Texts(1).chinese(4),
            "with punctuation": f"{words[40]}:{words[41]}",
        }
        reader = context(folder / "repo", read_only=True)
        first = timed(lambda: search.search(reader, rare))
        rows = [
            Row(f"index of {number:,} messages, from nothing", f"{ms(build)}, {size >> 20} MB"),
            Row("first question of a process, sessions read", ms(first)),
        ]
        for what, text in asked.items():
            found = search.search(reader, text)
            took = median(lambda text=text: search.search(reader, text), 7)  # type: ignore[misc]
            rows.append(Row(f"{what}: {found.total:,} places", ms(took), "< 20 ms", took < 0.02))
        with path.open("ab") as file:
            file.writelines(session_lines(folder, 50, start=number))
        stale = timed(lambda: search.search(reader, rare))
        rows.append(Row("after 50 new messages, completed in memory", ms(stale)))
    return rows


def _file(root: Path) -> Path:
    return root / ".local" / "search.sqlite"


if __name__ == "__main__":
    main("Search", run)
