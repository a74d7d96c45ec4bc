"""One SQLite database of texts: the index on disk, or what completes it in memory.

The texts themselves are not kept (a *contentless* FTS5 table): words and their places are. A text
that goes leaves its words behind without an entry, which finds nothing; when too many did, the whole
is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from workbench.store.search_words import spaced

if TYPE_CHECKING:
    import sqlite3

FORMAT = 2
"""Changes with the schema or with how texts are cut; another one in the file makes it anew."""
STEP = 500
"""Texts that are put in at a time."""
_WALK = 100
"""What it costs to ask for the words of one text, measured in texts that are sorted meanwhile."""
_WASTE = 5000
"""Texts that may have gone before the whole is made anew."""
_SCHEMA = (
    "CREATE TABLE groups(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL)",
    # A number is never used again: words of a text that went may still stand under it.
    "CREATE TABLE texts(number INTEGER PRIMARY KEY AUTOINCREMENT, grp INTEGER NOT NULL, ref TEXT NOT NULL, "
    "mark INTEGER NOT NULL, at TEXT NOT NULL, place INTEGER NOT NULL)",
    "CREATE INDEX newest ON texts(at, place)",
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')",
)


_COLUMNS, _NEWEST = "t.grp, t.ref, t.at, t.place", "ORDER BY t.at DESC, t.place DESC, t.ref DESC"


@dataclass(frozen=True, slots=True)
class Entry:
    """A text of a group."""

    ref: str
    """Its name within the group."""
    mark: int
    """Differs when the text does."""
    at: str
    """Its time; newer ones are found first."""
    place: int
    """Its place in the group, for those of the same time, and to find it again."""
    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a text that is in the index."""

    number: int
    mark: int


@dataclass(frozen=True, slots=True)
class Found:
    """Where to look."""

    group: str
    ref: str
    at: str
    place: int


class Part:
    """A database with the schema of the index.

    Args:
        connection: In autocommit mode.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._hiding = False

    def close(self) -> None:
        """Let go of it."""
        self._db.close()

    def fits(self) -> bool:
        """Whether it is an index of this form, and nothing else."""
        if self._one("PRAGMA user_version") != FORMAT:
            return False
        found = {sql for (sql,) in self._db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        # FTS5 and AUTOINCREMENT bring tables of their own, under the names of those that asked for them.
        own = {sql for sql in found if "sqlite_sequence" not in sql and "'words_" not in sql}
        return own == set(_SCHEMA)

    def make(self) -> None:
        """Make it anew, whatever was in it."""
        names = self._db.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        with _Transaction(self._db):
            for kind, name in sorted(names, key=lambda row: row[1] != "words"):
                if kind in ("table", "view") and not name.startswith("words_"):
                    self._db.execute(f"DROP {kind} IF EXISTS {_quoted(name)}")
            for statement in _SCHEMA:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    def clear(self) -> None:
        """Forget all texts."""
        self.make()
        self._db.execute("VACUUM")

    @property
    def wasteful(self) -> bool:
        """Whether more went than stayed."""
        ever = self._one("SELECT seq FROM sqlite_sequence WHERE name = 'texts'") or 0
        there = self._one("SELECT count(*) FROM texts") or 0
        return ever - there > max(_WASTE, there)

    def stamp(self, group: str) -> str | None:
        """The stamp under which a group is complete here; None where it is not."""
        row = self._db.execute("SELECT stamp FROM groups WHERE name = ?", (group,)).fetchone()
        return str(row[0]) if row and row[0] else None

    def holds(self, group: str) -> bool:
        """Whether anything of a group is here."""
        return bool(self._one("SELECT 1 FROM groups WHERE name = ?", group))

    def rows(self, group: str) -> dict[str, Row]:
        """The texts of a group that are here and not hidden."""
        return dict(self.each(group))

    def each(self, group: str) -> Iterator[tuple[str, Row]]:
        """The same one after the other, in the order in which they came."""
        number = self._number(group)
        if number is None:
            return iter(())
        unseen = self._unseen("")
        asked = f"SELECT ref, number, mark FROM texts WHERE grp = ?{unseen} ORDER BY number"
        found = self._db.execute(asked, (number,))
        return ((ref, Row(at, mark)) for ref, at, mark in found)

    def put(
        self, group: str, entries: Iterable[Entry], gone: Collection[int], stamp: str, pause: Callable[[], None]
    ) -> None:
        """Put texts into a group and take others out, a step at a time; its stamp stands when all is done."""
        waiting = iter(entries)
        with _Transaction(self._db):
            number = self._make_group(group)
            self._remove(gone)
        while step := list(islice(waiting, STEP)):
            # Cut before the transaction begins: while it is open, readers wait.
            texts = []
            for entry in step:
                pause()
                texts.append(spaced(entry.text()))
            with _Transaction(self._db):
                first = (self._one("SELECT seq FROM sqlite_sequence WHERE name = 'texts'") or 0) + 1
                self._db.executemany(
                    "INSERT INTO texts(number, grp, ref, mark, at, place) VALUES (?, ?, ?, ?, ?, ?)",
                    ((n, number, _storable(e.ref), e.mark, e.at, e.place) for n, e in enumerate(step, first)),
                )
                self._db.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(texts, first))
        self._db.execute("UPDATE groups SET stamp = ? WHERE number = ?", (stamp, number))

    @property
    def version(self) -> int:
        """Differs when somebody else wrote."""
        return self._one("PRAGMA data_version") or 0

    def hide(self, numbers: Iterable[int]) -> None:
        """Show these texts no longer, without changing what is kept."""
        rows = [(number,) for number in numbers]
        if rows:
            self._db.execute("CREATE TEMP TABLE IF NOT EXISTS hidden(number INTEGER PRIMARY KEY)")
            self._db.executemany("INSERT OR IGNORE INTO temp.hidden VALUES (?)", rows)
            self._hiding = True

    def unhide(self) -> None:
        """Show again what was hidden."""
        if self._hiding:
            self._db.execute("DELETE FROM temp.hidden")
            self._hiding = False

    def find(self, question: str, groups: Collection[str], limit: int | None) -> tuple[int, list[Found]]:
        """How many texts of ``groups`` match, and the newest ``limit`` of them (all, where it is None)."""
        names = {number: name for name in groups if (number := self._number(name)) is not None}
        if not names:
            return 0, []
        chosen = ", ".join(str(number) for number in sorted(names))
        shown = f"t.grp IN ({chosen}){self._unseen('t.')}"
        source = f"FROM words CROSS JOIN texts AS t ON t.number = words.rowid WHERE words MATCH ? AND {shown}"
        if limit is None:
            rows = self._db.execute(f"SELECT {_COLUMNS} {source}", (question,)).fetchall()
            total = len(rows)
        else:
            matches = self._one("SELECT count(*) FROM words WHERE words MATCH ?", question) or 0
            rows = self._walked(question, shown, limit, matches)
            if len(rows) < limit:
                rows = self._db.execute(f"SELECT {_COLUMNS} {source} {_NEWEST} LIMIT ?", (question, limit)).fetchall()
            total = len(rows)
            if total == limit:
                # Without a look at each text, where every text counts: the index knows the number of matches.
                complete = self._complete(len(names))
                total = matches if complete else self._one(f"SELECT count(*) {source}", question) or 0
        return total, [Found(names[number], ref, at, place) for number, ref, at, place in rows]

    def _walked(self, question: str, shown: str, limit: int, matches: int) -> list[Any]:
        """The newest matches by going from text to text, where that is quicker than to find and sort all of them.

        What stands in most texts is met soon that way; fewer than ``limit`` where it stopped being said long ago.
        """
        there = self._one("SELECT seq FROM sqlite_sequence WHERE name = 'texts'") or 0
        if matches**2 <= _WALK * limit * there:
            return []
        end = "(SELECT at, place FROM texts ORDER BY at DESC, place DESC LIMIT 1 OFFSET ?)"
        asked = "EXISTS (SELECT 1 FROM words WHERE words MATCH ? AND rowid = t.number)"
        return self._db.execute(
            f"SELECT {_COLUMNS} FROM texts AS t WHERE (t.at, t.place) > {end} AND {shown} AND {asked} "
            f"{_NEWEST} LIMIT ?",
            (2 * limit * there // matches, question, limit),
        ).fetchall()

    def _complete(self, groups: int) -> bool:
        """Whether ``groups`` are all groups there are, and no words are left of texts that went."""
        ever = self._one("SELECT seq FROM sqlite_sequence WHERE name = 'texts'")
        return (
            not self._hiding
            and self._one("SELECT count(*) FROM groups") == groups
            and self._one("SELECT count(*) FROM texts") == ever
        )

    def _unseen(self, prefix: str) -> str:
        return f" AND {prefix}number NOT IN (SELECT number FROM temp.hidden)" if self._hiding else ""

    def _remove(self, numbers: Collection[int]) -> None:
        self._db.executemany("DELETE FROM texts WHERE number = ?", ((number,) for number in numbers))

    def _make_group(self, group: str) -> int:
        """The number of a group, whose stamp no longer stands."""
        self._db.execute("INSERT OR IGNORE INTO groups(name, stamp) VALUES (?, '')", (group,))
        self._db.execute("UPDATE groups SET stamp = '' WHERE name = ?", (group,))
        return int(self._one("SELECT number FROM groups WHERE name = ?", group) or 0)

    def _number(self, group: str) -> int | None:
        return self._one("SELECT number FROM groups WHERE name = ?", group)

    def _one(self, statement: str, *values: str) -> int | None:
        row = self._db.execute(statement, values).fetchone()
        return int(row[0]) if row else None


class _Transaction:
    """All statements of a ``with`` block or none; the write lock is taken at its beginning."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._db.execute("COMMIT")
        elif self._db.in_transaction:
            self._db.execute("ROLLBACK")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _storable(text: str) -> str:
    """Half of a character has no bytes; such a name is kept as near as it can be."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
