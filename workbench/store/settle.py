"""Brings appended changes to the disk, and their files after them: a few processes for all that write.

Files change under a lock of its own, in the order of the log, while others append under the writer lock. Bringing the
log to disk is the commit: readers and writers go by it. Of those who write at the same time the last one puts the
files of all in their places, and whoever finds another line behind its own by then is done. So writers that queue
share what they bring to disk, and seldom one of them pays for the files.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress

from workbench.errors import RefusedError, StorageError, WorkbenchError
from workbench.store.journal import FOLDER, Journal, Line
from workbench.store.lock import WriterLock
from workbench.store.primitives import Tree
from workbench.store.turn import LineGone, NotCommitted, Settling, Turn, refuse_cut

LOCK = ".local/settle.lock"
QUEUE = ".local/queue.lock"
AHEAD = 64
"""Changes by which the log may be ahead of the files before one puts them there although others follow."""
MOST = 128
"""How many of them it puts there at once then."""
FAR = 512
"""Changes from which on everybody waits for a turn, so that the files do not fall behind for ever."""
ALL = 1 << 30
DENSE, PATIENCE, LONGEST = 4, 0.00025, 0.008
"""From so many changes on the last one waits for another, so many seconds for each, and at most: files cost more."""


class Settler:
    """Brings changes to the disk.

    Args:
        tree: The workspace folder.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @contextmanager
    def alone(self, timeout: float) -> Iterator[list[str]]:
        """Nobody else brings changes to the disk meanwhile; those that are in the log are there.

        Yields:
            What people have to know of it.
        """
        with WriterLock(self._tree, timeout, LOCK):
            yield self.settle()

    def finish(
        self,
        line: Line | None,
        timeout: float,
        looked: int | None = None,
        ahead: int = 0,
        tree: Tree | None = None,
    ) -> list[str]:
        """Bring a line, and what came before it, to the disk; the writer lock is not held any more.

        Args:
            line: The caller's own; None for what others left.
            timeout: Seconds to wait for another that does so.
            looked: Until when edits of others were looked for.
            ahead: By how many changes the log is ahead of the files.
            tree: The folder with what the caller has open of it.

        Returns:
            What failed after the commit, for people.

        Raises:
            StorageError: The disk refused the line: it is gone again, and nothing happened; or it says what else.
        """
        tree = tree or self._tree
        queue, lock = WriterLock(self._tree, timeout, QUEUE), WriterLock(self._tree, timeout, LOCK)
        try:
            if line is not None:
                turn = self._turn(line, ahead, queue, lock, tree)
            else:
                turn = Turn(ALL) if _free(lock) else None
        except NotCommitted as refused:
            assert line is not None
            queue.__exit__()
            tree.release()
            self._take_back(line, refused.problem, lock, WriterLock(self._tree))
            with suppress(RefusedError, StorageError), lock:
                return self.settle(line, looked, turn=Turn(ALL, committed=True))
            return [_said(line, refused.problem)]
        except (RefusedError, StorageError) as problem:
            return [] if line is None else [_said(line, problem)]
        finally:
            queue.__exit__()  # from here on others wait in our place: what is in the log by now is ours to do
        if turn is None:
            return []
        tree.release()
        try:
            return self.settle(line, looked, turn=turn)
        finally:
            lock.__exit__()

    def _turn(self, line: Line, ahead: int, queue: WriterLock, lock: WriterLock, tree: Tree) -> Turn | None:
        """Take the turn where it falls to this writer; else its line is on disk, and its files fall to another.

        Who holds the queue has to take it: others went away and left theirs.

        Raises:
            NotCommitted: The line is not on disk.
        """
        waits = ahead <= 1 and _free(queue)
        if waits and _free(lock):
            return Turn(ALL)  # nobody else left anything: the log and the files go to disk side by side
        followed = self._commit(line, tree) or (not waits and self._is_followed_soon(line, ahead, tree))
        if followed and not waits:
            # The last one of those who write takes it, and here comes another already.
            if ahead > AHEAD and _free(lock):
                return Turn(MOST, committed=True)
        elif not (waits := waits or _free(queue)) and _free(lock):
            return Turn(ALL, committed=True)  # whoever waits does not come: it is stopped
        if not waits and ahead <= FAR:
            return None  # somebody waits already, or follows, and takes ours along
        lock.__enter__()
        return Turn(ALL if waits else MOST, committed=True)

    def _is_followed_soon(self, line: Line, ahead: int, tree: Tree) -> bool:
        """Whether somebody else appends within less time than it takes to put all these files in their places."""
        until = time.monotonic() + min(PATIENCE * ahead, LONGEST)
        while ahead > DENSE and time.monotonic() < until:
            time.sleep(PATIENCE * DENSE)
            if Journal(tree).goes_on(line):
                return True
        return False

    def _commit(self, line: Line, tree: Tree) -> bool:
        """Bring the log to disk up to a line; whether anything stands behind it by then.

        Raises:
            NotCommitted: The disk refused, now or before, and then it is gone.
        """
        try:
            tree.sync_all(_logs_of(line))
            journal = Journal(tree)
            if journal.in_place(line):
                return journal.goes_on(line)
            refuse_cut(journal, line)
            return False  # it was moved, and what stands behind its old place tells nothing
        except (StorageError, RefusedError) as problem:
            raise NotCommitted(problem) from None

    def settle(
        self, line: Line | None = None, looked: int | None = None, *, locked: bool = False, turn: Turn | None = None
    ) -> list[str]:
        """The same for the holder of the lock.

        Args:
            line: The caller's own line.
            looked: Until when edits of others were looked for.
            locked: The caller holds the writer lock, too.
            turn: What is to be done in it; all of it where that is not said, whatever others do meanwhile.

        Returns:
            What failed after the commit, and what else people have to know.

        Raises:
            StorageError: The disk refused the line: it is gone again, and nothing happened; or it says what else.
        """
        refused: list[WorkbenchError] = []
        with self._tree.held() as tree:
            work = Settling(tree, turn, locked)
            try:
                problems = work.settle(line, looked)
            except NotCommitted as failure:
                problems = refused = [failure.problem]
        if refused and line is not None and (turn is None or not turn.committed):
            self._take_back(line, refused[0], nullcontext() if locked else WriterLock(self._tree))
        return [*work.told, *(_said(line, problem) for problem in problems)]

    def _take_back(self, line: Line, problem: WorkbenchError, *locks: AbstractContextManager[object]) -> None:
        """Try once more, and cut a line off that cannot be brought to disk; with both locks held, nobody builds on it.

        Args:
            line: The line.
            problem: What stood in its way.
            locks: Those that are not held yet. No folder is held open any more: it may be for want of descriptors.

        Raises:
            StorageError: It is gone, and nothing happened; or nobody knows, and it says so. Else it reached the disk at
                a second try.
        """
        try:
            with ExitStack() as stack:
                for lock in locks:
                    stack.enter_context(lock)
                journal = Journal(self._tree)
                refuse_cut(journal, line)
                if not journal.in_place(line):
                    return  # who moved it brought all of the file to disk
                if self._written_again(journal, line):
                    return
                try:
                    journal.take_back(line)
                except (StorageError, RefusedError):
                    if journal.in_place(line):
                        raise
        except LineGone:
            raise
        except (StorageError, RefusedError):
            raise StorageError(
                f"{problem.message}; the change {line.change} could not be taken back either, and may be recorded",
                f"see whether it is there (workbench log) before you repeat the command; {problem.hint}",
                change=line.change,
            ) from None
        raise problem from None

    def _written_again(self, journal: Journal, line: Line) -> bool:
        """Whether a line reaches the disk at a second try."""
        try:
            journal.write_again(line)
            self._tree.sync_all(_logs_of(line))
        except (StorageError, RefusedError):
            return False
        return True


def _free(lock: WriterLock) -> bool:
    """Take a lock that nobody holds; one whose file cannot be opened counts as held."""
    try:
        return lock.at_once()
    except (StorageError, RefusedError):
        return False


def _logs_of(line: Line) -> list[str]:
    """What has to be on disk for a line: its file, and the folder where nobody knows that the file is in it."""
    return [f"{FOLDER}/{line.file}", *([] if line.entered else [FOLDER])]


def _said(line: Line | None, problem: WorkbenchError) -> str:
    if line is None:
        return f"recorded changes are not in their files yet; the next writing command tries again ({problem.message})"
    return f"the change {line.change} is recorded; its files follow with the next writing command ({problem.message})"
