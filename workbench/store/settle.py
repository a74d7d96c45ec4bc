"""Brings appended changes to the disk, and their files after them: a few processes for all that write.

Files change under a lock of its own, in the order of the log, while others append under the writer lock. Whoever
appended a line either puts all files in their places that the log is ahead of, or, where somebody already waits
to do just that, brings only the log to disk: that is the commit, readers and writers go by it, and the one who
waits takes our files along. So writers that queue share what they bring to disk. Until a note of it is made,
nothing depends on what was done here: the next one does it again, and finds by their hashes which files have it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from workbench.errors import LockTimeoutError, RefusedError, StorageError, WorkbenchError
from workbench.store.journal import FOLDER, Journal, Line, Placed
from workbench.store.lock import WriterLock
from workbench.store.pending import Pending
from workbench.store.primitives import Beside, Tree, sync_together

LOCK = ".local/settle.lock"
QUEUE = ".local/queue.lock"
AHEAD = 16
"""Changes by which the log may be ahead of the files before everybody waits for a turn."""
_CHUNK = 32
"""How many new files are held open at once."""


class Settler:
    """Brings changes to the disk.

    Args:
        tree: The workspace folder.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @contextmanager
    def alone(self, timeout: float) -> Iterator[None]:
        """Nobody else brings changes to the disk meanwhile; those that are in the log are there."""
        with WriterLock(self._tree, timeout, LOCK):
            self.settle()
            yield

    def finish(self, line: Line | None, timeout: float, looked: int | None = None, ahead: int = 0) -> list[str]:
        """Bring a line, and what came before it, to the disk; the writer lock is not held any more.

        Args:
            line: The caller's own; None for what others left.
            timeout: Seconds to wait for another that does so.
            looked: Until when edits of others were looked for.
            ahead: By how many changes the log is ahead of the files.

        Returns:
            What failed after the commit, for people.

        Raises:
            StorageError: The disk refused the line: it is gone again, and nothing happened.
        """
        queue, lock = WriterLock(self._tree, timeout, QUEUE), WriterLock(self._tree, timeout, LOCK)
        said: list[str] = []
        turn = False
        try:
            turn = queue.at_once() or ahead > AHEAD
            if turn:
                lock.__enter__()
        except (LockTimeoutError, StorageError) as problem:
            turn, said = False, [] if line is None else [_said(line, problem)]
        finally:
            queue.__exit__()  # from here on others wait in our place: what is in the log by now is ours to do
        if not turn:
            return said if line is None else [*self._log_only(line, timeout), *said]
        try:
            return self.settle(line, looked)
        finally:
            lock.__exit__()

    def _log_only(self, line: Line, timeout: float) -> list[str]:
        """Bring the log to disk up to a line whose files somebody else will write."""
        try:
            self._tree.sync_all(_logs_of(line))
        except StorageError:
            with WriterLock(self._tree, timeout, LOCK):
                return self.settle(line)
        _refuse_cut(Journal(self._tree), line)
        return []

    def settle(self, line: Line | None = None, looked: int | None = None, *, locked: bool = False) -> list[str]:
        """The same for the holder of the lock.

        Args:
            line: The caller's own line.
            looked: Until when edits of others were looked for.
            locked: The caller holds the writer lock, too.

        Returns:
            What failed after the commit.

        Raises:
            StorageError: The disk refused the line: it is gone again, and nothing happened.
        """
        with self._tree.held() as tree:
            try:
                problems = _Settling(tree).settle(line, looked)
            except _NotCommitted as refused:
                if line is None:
                    return []
                with nullcontext() if locked else WriterLock(self._tree):
                    self._take_back(line, refused.problem)
                problems = [refused.problem]
        return [] if line is None else [_said(line, problem) for problem in problems]

    def _take_back(self, line: Line, problem: StorageError) -> None:
        """Cut off a line that cannot be brought to disk; with both locks held, nobody builds on it meanwhile.

        Raises:
            StorageError: It is gone, and nothing happened. Else it reached the disk at a second try.
        """
        journal = Journal(self._tree)
        _refuse_cut(journal, line)
        try:
            self._tree.sync_all(_logs_of(line))
        except StorageError:
            with suppress(StorageError):
                journal.take_back(line)
            raise problem from None


class _Settling:
    """One turn of it, by the holder of the lock."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._journal = Journal(tree, once=True)

    def settle(self, line: Line | None, looked: int | None) -> list[WorkbenchError]:
        """Bring everything that stands in the log to the disk and into the files.

        Returns:
            What failed after the commit.

        Raises:
            _NotCommitted: The log could not be brought to disk.
            StorageError: The caller's line is gone with one before it that could not be.
        """
        position = self._journal.position()
        if line is not None and (position.file, position.offset) >= (line.file, line.end):
            _refuse_cut(self._journal, line)
            return []
        placed = [] if position.settled else self._journal.placed(position)
        if line is not None and not any(place.change.id == line.change for place in placed):
            _refuse_cut(self._journal, line)
        if not placed:
            return []
        try:
            blocked = self._carry_out(placed)
            self._journal.mark(placed[-1], looked)
        except (StorageError, RefusedError) as problem:
            return [problem]
        return blocked

    def _carry_out(self, placed: list[Placed]) -> list[WorkbenchError]:
        """Bring changes to the disk and their files after them.

        Returns:
            What stood in the way of single files (a link that was put there): the others are written.
        """
        pending = Pending(place.change for place in placed)
        logs = list(dict.fromkeys(f"{FOLDER}/{place.file}" for place in placed))
        if any(place.start == 0 for place in placed):
            logs.append(FOLDER)
        blocked: list[WorkbenchError] = []
        # Also where a killed writer came first: what it did may not be on disk yet.
        settled = _folders_of(pending)
        committed = False
        try:
            new, gone = self._images(pending, blocked)
            for start in range(0, max(1, len(new)), _CHUNK):
                with self._tree.beside(new[start : start + _CHUNK], settled) as files:
                    self._sync([] if committed else logs, files)
                    committed = True
                    for file in files:
                        file.put()
        except (StorageError, RefusedError):
            if not committed:
                self._sync(logs, [])
            raise
        for path in gone:
            self._tree.remove(path, sync_folder=False)
        settled += [path for path in pending.appended if self._append(pending, path, blocked)]
        self._tree.sync_all([path for path in dict.fromkeys(settled) if self._stands(path)])
        self._journal.remember(pending.written())
        return blocked

    def _images(self, pending: Pending, blocked: list[WorkbenchError]) -> tuple[list[tuple[str, bytes]], list[str]]:
        """The files that have to be written, with their contents, and those that have to go."""
        new: list[tuple[str, bytes]] = []
        gone: list[str] = []
        for path in pending.records:
            try:
                before = self._tree.read(path)
            except RefusedError as link:
                blocked.append(link)
                continue
            after = pending.over(path, before)
            if after is not None and after != before:
                new.append((path, after))
            elif after is None and before is not None:
                gone.append(path)
        return new, gone

    def _sync(self, logs: list[str], files: list[Beside]) -> None:
        with self._tree.opened(logs) as first:
            every = [*first, *((file.descriptor, file.shown) for file in files)]
            errors = sync_together(every)
            try:
                self._tree.refuse(first, errors)
            except StorageError as problem:
                raise _NotCommitted(problem) from None
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


def _refuse_cut(journal: Journal, line: Line) -> None:
    if not journal.holds(line):
        what = "the disk refused a change before this one, and this one with it"
        raise StorageError(what, "nothing was changed; repeat the command")


def _logs_of(line: Line) -> list[str]:
    """What has to be on disk for a line: its file, and the folder where the file is new."""
    return [f"{FOLDER}/{line.file}", *([FOLDER] if line.start == 0 else [])]


class _NotCommitted(Exception):
    """The log itself could not be brought to disk."""

    def __init__(self, problem: StorageError) -> None:
        super().__init__(problem.message)
        self.problem = problem


def _said(line: Line, problem: WorkbenchError) -> str:
    return f"the change {line.change} is recorded; its files follow with the next writing command ({problem.message})"
