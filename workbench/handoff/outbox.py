"""The owner-only folder of a package outside every repository: its prompt, the order to start, what came of it.

Agents differ in what they may read (a file that git excludes, another checkout); one folder in the
user's state folder, named to them by their own option, serves all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from workbench.domain.ids import is_id
from workbench.domain.record import Part
from workbench.errors import DamagedError, RefusedError
from workbench.handoff.process import born
from workbench.store.primitives import Tree, make_private_folder
from workbench.store.private import read_beneath

PROMPT = "prompt.md"
ORDER = "order.json"
OUTCOME = "outcome.json"
COMMAND = "command.txt"
_LOCK = "begun"


class Outcome(Part, frozen=True, kw_only=True):
    """How far a start came, as the started process told."""

    state: Literal["checking", "exec", "refused"]
    why: str = ""
    pid: int
    born: str = ""
    """When that process began, as the system counts: the program that takes its place keeps both."""


@dataclass(frozen=True)
class Outbox:
    """The folder of one package."""

    folder: Path

    @classmethod
    def of(cls, state: Path, package: str) -> Outbox:
        """The outbox of a package beneath the user's state folder; nothing is made yet."""
        if not is_id(package):
            raise RefusedError(f"{package!r} is no package id")
        return cls(Path(os.path.realpath(state)) / "handoff" / package)

    @property
    def prompt(self) -> Path:
        """Where the prompt lies for the receiver."""
        return self.folder / PROMPT

    @property
    def order(self) -> Path:
        """Where the order for ``_exec`` lies."""
        return self.folder / ORDER

    def put(self, name: str, data: bytes) -> Path:
        """Write a file of the folder, owner-only whatever the umask; the folder is made where it is missing."""
        make_private_folder(self.folder.parent)
        tree = Tree(self.folder)
        tree.make_root()
        tree.replace(name, data)
        return self.folder / name

    def put_prompt(self, data: bytes, sha256: str) -> Path:
        """Copy the prompt here for the receiver.

        Raises:
            DamagedError: The bytes are not those that the package was made with.
        """
        if hashlib.sha256(data).hexdigest() != sha256:
            raise DamagedError("the package's prompt is not the one it was made with", "prepare the package again")
        return self.put(PROMPT, data)

    def get(self, name: str) -> bytes | None:
        """The bytes of a file of the folder; None where it is not there."""
        try:
            return read_beneath(self.folder, name)
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file of the folder; one that is not there is fine."""
        if self.folder.is_dir():
            Tree(self.folder).remove(name)

    def clear(self) -> None:
        """Remove what an earlier start left, so that nothing old is taken for an answer."""
        self.remove(ORDER)
        self.remove(OUTCOME)

    def say(self, state: Literal["checking", "exec", "refused"], why: str = "") -> None:
        """Tell the launcher how far this process came."""
        pid = os.getpid()
        self.put(OUTCOME, msgspec.json.encode(Outcome(state=state, why=why, pid=pid, born=born(pid))))

    def outcome(self) -> Outcome | None:
        """What was told last; None where nothing was."""
        data = self.get(OUTCOME)
        try:
            return None if data is None else msgspec.json.decode(data, type=Outcome)
        except msgspec.DecodeError:
            return None

    @contextmanager
    def begun(self, *, wait: bool) -> Iterator[bool]:
        """Hold what the starting process holds until the agent's program has taken its place.

        The system lets go of it by itself at that moment, or when the process dies: so a launcher that
        gets it knows that no start is under way. Yields False where somebody has it (``wait`` False).
        """
        descriptor = Tree(self.folder).lock_file(_LOCK)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)

    def take_back(self) -> Outcome | None:
        """Withdraw the order, unless a start is under way.

        Returns:
            What was told by the process that took the order, or None where nobody ever took it.

        Raises:
            RefusedError: A process is starting the program at this moment.
        """
        if not self.folder.is_dir():
            return None
        with self.begun(wait=False) as free:
            if not free:
                raise RefusedError("the program is being started at this moment", "try again in a few seconds")
            self.remove(ORDER)
            return self.outcome()
