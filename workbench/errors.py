"""The exception family: every failure a person meets has a code, a place, and what to do about it.

Exit codes are those of the command line (``interfaces.md``, Exit codes).
"""

from __future__ import annotations

from typing import Any, ClassVar


class WorkbenchError(Exception):
    """A failure that is explained to a person or a script, never shown as a traceback.

    Attributes:
        message: What went wrong and where (file, line, record).
        hint: What to do about it; may be empty.
        details: JSON-able facts for scripts (candidates, current values, positions).
        document: What a command would have printed with ``--json``, where there is such a document
            although the exit code says refused, blocked or damaged.
        code: Stable name of the kind of failure.
        exit_code: The command line's exit code for it.
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "", *, document: dict[str, Any] | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
        self.document = document

    def as_json(self) -> dict[str, Any]:
        """The ``error`` object of ``--json``."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}


class UsageError(WorkbenchError):
    """Wrong usage or wrong input (exit 2)."""

    code = "usage"
    exit_code = 2


class NotBuiltError(UsageError):
    """A command of the contract that this version does not carry out yet (exit 2)."""

    code = "not_built"


class NotFoundError(WorkbenchError):
    """No such record, or a prefix that fits several; ``details['candidates']`` lists those (exit 3)."""

    code = "not_found"
    exit_code = 3


class VersionConflictError(WorkbenchError):
    """The record changed since it was seen; ``details`` says what is there now (exit 4)."""

    code = "version_conflict"
    exit_code = 4


class RefusedError(WorkbenchError):
    """A rule forbids it: blocked, stale, guarded, not verified, over a cap (exit 5)."""

    code = "refused"
    exit_code = 5


class HumanNeededError(RefusedError):
    """Only a person may do this, and no person stands behind this process (exit 5)."""

    code = "human_needed"


class LockTimeoutError(RefusedError):
    """The workspace's writer lock is held by another process, which the message names (exit 5)."""

    code = "locked"


class DamagedError(WorkbenchError):
    """A file cannot be read as what it should be; names file, line and column (exit 6)."""

    code = "damaged"
    exit_code = 6


class NotTrustedError(WorkbenchError):
    """Something from the workspace would run, and no person has trusted exactly that (exit 7)."""

    code = "not_trusted"
    exit_code = 7


class StorageError(WorkbenchError):
    """The operating system refused a read or a write (disk full, permissions); nothing was lost (exit 1)."""

    code = "storage"
