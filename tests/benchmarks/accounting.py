"""Where every record of session files goes: messages, known metadata, unknown, unreadable. Prints a table.

    python tests/benchmarks/accounting.py AGENT PATH...      AGENT: claude, codex, or auto

With ``--aside`` only the third of the files whose names' hashes are divisible by three: a sample that nobody chose,
to be looked at last.

Exit code 1 where a file's records are not accounted for, or reading it in pieces gives other messages.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.sessions import SessionLog, open_session
from workbench.sessions.formats import FORMATS

ENDINGS = (".jsonl", ".jsonl.zst")


@dataclass(frozen=True)
class Row:
    """One file's account."""

    path: Path
    agent: str
    records: int
    with_messages: int
    metadata: int
    unknown: int
    unreadable: int
    messages: int
    calls: int
    paired: int
    coded: int
    """Results of commands whose exit code is known."""
    changes: int
    compactions: int
    tokens: int
    whole_is_pieces: bool

    @property
    def balanced(self) -> bool:
        return self.records == self.with_messages + self.metadata + self.unknown + self.unreadable

    @property
    def sound(self) -> bool:
        return self.balanced and self.whole_is_pieces


def files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.name.endswith(ENDINGS) and p.is_file())
        else:
            yield path


def is_aside(path: Path) -> bool:
    """Whether a file is of the third that is kept aside; the same on every machine."""
    return hashlib.sha256("/".join(path.parts[-3:]).encode()).digest()[0] % 3 == 0


def account(path: Path, agent: str | None) -> Row:
    log = open_session(path, agent)
    log.refresh()
    info = log.info
    results = [m.result for m in log.messages if m.result is not None]
    kinds = {m.call.call_id: m.call.kind for m in log.messages if m.call is not None}
    return Row(
        path=path,
        agent=info.agent,
        records=info.records,
        with_messages=info.with_messages,
        metadata=info.metadata,
        unknown=info.unknown,
        unreadable=info.unreadable,
        messages=len(log.messages),
        calls=len(kinds),
        paired=sum(r.call_id in kinds for r in results),
        coded=sum(r.exit_code is not None and kinds.get(r.call_id) == "execute" for r in results),
        changes=sum(len(r.changes) for r in results),
        compactions=sum(m.kind == "compaction" and not m.hidden for m in log.messages),
        tokens=info.usage.context + info.usage.output,
        whole_is_pieces=_in_pieces(path, info.agent, log),
    )


def _in_pieces(path: Path, agent: str, whole: SessionLog) -> bool:
    """Whether the file that grew by random pieces gives the same messages and account."""
    if path.suffix == ".zst":
        return True
    form = next(form for form in FORMATS if form.agent == agent)
    data = path.read_bytes()
    chance = random.Random(len(data))
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(12))
    with tempfile.TemporaryDirectory() as folder:
        grown = Path(folder, path.name)
        grown.write_bytes(b"")
        log = SessionLog(grown, form)
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            with grown.open("ab") as file:
                file.write(data[start:end])
            log.refresh()
        return list(log.messages) == list(whole.messages) and vars(log.info) | {"path": None} == vars(whole.info) | {
            "path": None
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", choices=("auto", *(form.agent for form in FORMATS)))
    parser.add_argument("path", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="a line for every file")
    parser.add_argument("--aside", action="store_true", help="only the third that is kept aside")
    parser.add_argument("--unknown", action="store_true", help="what kinds of records are unknown")
    given = parser.parse_args()
    agent = None if given.agent == "auto" else given.agent
    columns = ("records", "with_messages", "metadata", "unknown", "unreadable", "messages", "calls", "paired", "coded")
    columns = (*columns, "changes", "compactions", "tokens")
    totals: dict[str, Counter[str]] = {}
    count: Counter[str] = Counter()
    bad = 0
    kinds: Counter[str] = Counter()
    print("\t".join(("agent", "files", *columns, "sound")))
    for path in files(given.path):
        if given.aside and not is_aside(path):
            continue
        try:
            row = account(path, agent)
        except WorkbenchError as error:
            count["not read"] += 1
            print(f"not read\t{path}\t{error.message}", file=sys.stderr)
            continue
        bad += not row.sound
        count[row.agent] += 1
        totals.setdefault(row.agent, Counter()).update({name: getattr(row, name) for name in columns})
        if given.each or not row.sound:
            said = "yes" if row.sound else "NO"
            print("\t".join((row.agent, path.name, *(str(getattr(row, name)) for name in columns), said)))
        if given.unknown:
            log = open_session(path, agent)
            log.refresh()
            kinds.update(m.raw_type for m in log.messages if m.kind == "unknown")
    for name, total in totals.items():
        print("\t".join((name, str(count[name]), *(str(total[column]) for column in columns), "NO" if bad else "yes")))
    for kind, number in kinds.most_common():
        print(f"unknown\t{number}\t{kind}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
