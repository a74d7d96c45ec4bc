"""One turn at the record files: what the log is ahead of them by is brought to disk and put in their places.

Until a note of it is made, nothing depends on what was done here: the next one does it again, and finds by their hashes
which files have it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from workbench.errors import RefusedError, StorageError, WorkbenchError
from workbench.store.changelog import ChangeLog
from workbench.store.commit import Committer
from workbench.store.form import digest
from workbench.store.journal import FOLDER, Journal, Line, Placed, Position, parse
from workbench.store.lock import WriterLock
from workbench.store.pending import Pending
from workbench.store.primitives import Beside, Tree, sync_together

FEW = 8
"""Changes up to which their folders are left to whoever wrote meanwhile: that one brings them to disk with its own."""
_CHUNK = 32
"""How many new files are held open at once."""


class Turn(NamedTuple):
    """The files are this writer's to put in their places, and it holds the lock."""

    most: int
    """Those of how many changes at most."""
    committed: bool = False
    """Its line is on disk already."""


class NotCommitted(Exception):
    """The log itself could not be brought to disk, whatever stood in the way."""

    def __init__(self, problem: StorageError | RefusedError) -> None:
        super().__init__(problem.message)
        self.problem = problem


class LineGone(StorageError):
    """A line that was appended is not in the log any more: nothing happened."""


class Settling:
    """One turn of it, by the holder of the lock."""

    def __init__(self, tree: Tree, turn: Turn | None, locked: bool = False) -> None:
        self._tree = tree
        self._turn = turn
        self._committed = turn is not None and turn.committed
        self._locked = locked
        self._journal = Journal(tree, once=True)
        self._found: dict[str, bytes | None] = {}
        self.told: list[str] = []
        """What people have to know of the edits that were put together with changes."""

    def settle(self, line: Line | None, looked: int | None) -> list[WorkbenchError]:
        """Bring everything that stands in the log to the disk and into the files.

        Returns:
            What failed after the commit.

        Raises:
            NotCommitted: The log could not be brought to disk.
            LineGone: The caller's line is gone with one before it that could not be.
        """
        try:
            position = self._journal.position()
            placed = self._waiting(line, position)
        except LineGone:
            raise
        except (StorageError, RefusedError) as problem:
            if not self._committed:
                raise NotCommitted(problem) from None
            return [problem]
        if not placed:
            return []
        try:
            if self._put_together(self._mine(placed)):
                placed = self._journal.placed(position)
        except (StorageError, RefusedError) as problem:
            with self._log_of(placed) as log:
                self._sync(log, [])
            return [problem]
        placed = self._mine(placed)
        try:
            blocked, complete = self._carry_out(placed)
            if complete:
                self._journal.mark(placed[-1], looked)
        except (StorageError, RefusedError) as problem:
            return [problem]
        return blocked

    def _waiting(self, line: Line | None, position: Position) -> list[Placed]:
        """What stands in the log from a place on, the caller's line with it unless others took it along."""
        if line is not None and (position.file, position.offset) >= (line.file, line.end):
            refuse_cut(self._journal, line)
            return []
        placed = [] if position.settled else self._journal.placed(position)
        if line is not None and not any(place.change.id == line.change for place in placed):
            refuse_cut(self._journal, line)
        return placed

    def _mine(self, placed: list[Placed]) -> list[Placed]:
        return placed if self._turn is None else placed[: self._turn.most]

    def _put_together(self, placed: list[Placed]) -> bool:
        """Take files that were edited while the log was ahead of them into it, with what it makes of them.

        Returns:
            Whether there was one; it stands in the log now.
        """
        pending = Pending(place.change for place in placed)
        edited = {path: data for path in pending.records if (data := self._edited(pending, path)) is not None}
        if not edited:
            return False
        with nullcontext() if self._locked else WriterLock(self._tree):
            pen = Committer(self._tree, Journal(self._tree, once=True))
            found = [pen.put_together(path, data) for path, data in edited.items()]
        self._journal = Journal(self._tree, once=True)
        self._found.clear()
        self.told += pen.told
        return any(found)

    def _edited(self, pending: Pending, path: str) -> bytes | None:
        with suppress(RefusedError):  # a link: told when the file is to be written
            data = self._tree.read(path)
            self._found[path] = data
            if data is not None and pending.images(path, digest(data)):
                return data
        return None

    def _carry_out(self, placed: list[Placed]) -> tuple[list[WorkbenchError], bool]:
        """Bring changes to the disk and their files after them.

        Returns:
            What stood in the way of single files (a link that was put there): the others are written. And whether
            the folders are on disk, too.
        """
        pending = Pending(place.change for place in placed)
        blocked: list[WorkbenchError] = []
        # Also where a killed writer came first: what it did may not be on disk yet.
        settled = _folders_of(pending)
        committed = False
        with self._log_of(placed) as log:
            try:
                new, gone = self._images(pending, blocked)
                for start in range(0, max(1, len(new)), _CHUNK):
                    with self._tree.beside(new[start : start + _CHUNK], settled) as files:
                        self._sync([] if committed else log, files)
                        committed = True
                        for file in files:
                            file.put()
            except (StorageError, RefusedError):
                if not committed:
                    self._sync(log, [])
                raise
        for path in gone:
            self._tree.remove(path, sync_folder=False)
        settled += [path for path in pending.appended if self._append(pending, path, blocked)]
        # Who wrote since then comes after us, and knows these changes for incomplete.
        if self._turn is not None and len(placed) <= FEW and self._journal.end() > (placed[-1].file, placed[-1].end):
            return blocked, False
        self._tree.sync_all([path for path in dict.fromkeys(settled) if self._stands(path)])
        self._journal.remember(pending.written())
        return blocked, True

    @contextmanager
    def _log_of(self, placed: list[Placed]) -> Iterator[list[tuple[int, str | Path]]]:
        """What has to be on disk for these lines, opened before anything else is: nothing keeps it from getting there.

        Raises:
            NotCommitted: It cannot be opened.
        """
        names = dict.fromkeys(place.file for place in placed)
        paths = [f"{FOLDER}/{name}" for name in names]
        with ExitStack() as stack:
            try:
                entered = all(map(self._journal.entered, names))
                log = stack.enter_context(self._tree.opened(paths if entered else [*paths, FOLDER]))
            except (StorageError, RefusedError) as problem:
                raise NotCommitted(problem) from None
            yield log

    def _images(self, pending: Pending, blocked: list[WorkbenchError]) -> tuple[list[tuple[str, bytes]], list[str]]:
        """The files that have to be written, with their contents, and those that have to go."""
        new: list[tuple[str, bytes]] = []
        gone: list[str] = []
        for path in pending.records:
            try:
                before = self._found[path] if path in self._found else self._tree.read(path)
            except RefusedError as link:
                blocked.append(link)
                continue
            after = pending.over(path, before)
            if after is not None and after != before:
                new.append((path, after))
            elif after is None and before is not None:
                gone.append(path)
        return new, gone

    def _sync(self, log: list[tuple[int, str | Path]], files: list[Beside]) -> None:
        every = [*log, *((file.descriptor, file.shown) for file in files)]
        errors = sync_together(every)
        try:
            self._tree.refuse(log, errors)
        except StorageError as problem:
            raise NotCommitted(problem) from None
        self._tree.refuse(every, errors)

    def _append(self, pending: Pending, path: str, blocked: list[WorkbenchError]) -> bool:
        """Add the lines that are missing in an append-only file; False where something stands in its place."""
        try:
            data = self._tree.read(path) or b""
            lines = pending.missing_lines(path, data)
            if lines:
                tail = data[data.rfind(b"\n") + 1 :]
                if tail and lines[0].startswith(tail.rstrip(b"\0")):  # NULs: its bytes never reached the disk
                    self._tree.cut(path, len(data) - len(tail))
                self._tree.append(path, b"".join(lines), durable=False)
        except RefusedError as link:
            blocked.append(link)
            return False
        return True

    def _stands(self, path: str) -> bool:
        """Whether there is such a file or folder: a record that came and went within these changes left none."""
        with suppress(FileNotFoundError), self._tree.folder(path.rpartition("/")[0]) as folder:
            os.stat(path.rpartition("/")[2] or ".", dir_fd=folder)
            return True
        return False


def _folders_of(pending: Pending) -> list[str]:
    """The folders whose entries these changes may change: of their files, and above where a file is new."""
    found: dict[str, None] = {}
    for path in (*pending.records, *pending.appended):
        folder = path.rpartition("/")[0]
        found[folder] = None
        if "/" in folder and pending.makes(path):
            found[folder.rpartition("/")[0]] = None
    return list(found)


def refuse_cut(journal: Journal, line: Line) -> None:
    """Refuse to go on with a line that is gone: cut off, because the disk refused it or one before it, or removed.

    One that is elsewhere is not: whoever purges or mends its file moves it, and may change what it says.

    Raises:
        LineGone: It is gone.
        StorageError: The log cannot be read, and nobody knows.
    """
    log = ChangeLog(journal)
    if journal.in_place(line) or log.has(line.change):
        return
    # What was complete before it cannot have been cut off with it.
    change = parse(line.data)
    before = change and (change.after if change.settled is msgspec.UNSET else change.settled)
    if not log.has(before) if before else line.file not in journal.files():
        what = "the workspace was removed meanwhile, and this change with it"
        raise LineGone(what, "make a new one (workbench init), then repeat the command")
    what = "the disk refused a change before this one, and this one with it"
    raise LineGone(what, "nothing was changed; repeat the command")
