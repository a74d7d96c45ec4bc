"""The gate ``trusted``: what may run here, decided by a person who saw it, kept outside every workspace.

A grant is bound to a hash of command, arguments, environment and folder; a change of any of them asks
again. What a workspace contains never decides about itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from workbench.errors import DamagedError, NotFoundError
from workbench.store.form import canonical, canonical_line, digest
from workbench.store.lock import WriterLock
from workbench.store.mask import mask
from workbench.store.primitives import Tree, make_private_folder

_FILE = "trust.json"
_LOCK = "trust.lock"


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a person allowed."""

    fingerprint: str
    description: str
    """The exact command and folder, as it was shown."""
    at: str = ""


def fingerprint(
    argv: Sequence[str], env: Mapping[str, str], folder: Path, files: Mapping[str, str] | None = None
) -> str:
    """The hash that a grant is bound to.

    Args:
        argv: The command with its arguments.
        env: What is added to the environment.
        folder: Where it runs; its real path counts.
        files: Hashes of scripts or configuration that the command takes from the folder.
    """
    bound = {
        "argv": list(argv),
        "env": dict(env),
        "folder": os.path.realpath(folder),
        "files": dict(files or {}),
    }
    return digest(canonical_line(msgspec.json.decode(msgspec.json.encode(bound))))


class TrustStore:
    """The grants of this user on this machine.

    Args:
        folder: The program's user data folder.
    """

    def __init__(self, folder: Path) -> None:
        self._tree = Tree(folder)
        self._path = folder / _FILE

    def is_trusted(self, fingerprint: str) -> bool:
        """Whether exactly this was allowed; where the grants cannot be read, nothing is."""
        try:
            return any(grant.fingerprint == fingerprint for grant in self.list())
        except DamagedError:
            return False

    def list(self) -> tuple[Grant, ...]:
        """Every grant, oldest first.

        Raises:
            DamagedError: The file cannot be read.
        """
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=tuple[Grant, ...])
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as wrong:
            raise DamagedError(
                f"{self._path}: {wrong}", "move it away; then grant again what you want", path=str(self._path)
            ) from None

    def grant(self, description: str, fingerprint: str, at: str = "") -> Grant:
        """Allow exactly this, for a person who was shown it."""
        grant = Grant(fingerprint=fingerprint, description=mask(description), at=at)
        with self._changing():
            self._write(*(old for old in self.list() if old.fingerprint != fingerprint), grant)
        return grant

    def revoke(self, prefix: str) -> Grant:
        """Take a grant back; a unique beginning of its fingerprint will do.

        Raises:
            NotFoundError: None fits, or several do.
        """
        with self._changing():
            grants = self.list()
            found = [grant for grant in grants if prefix and grant.fingerprint.startswith(prefix)]
            if len(found) != 1:
                raise NotFoundError(
                    f"{len(found)} grants fit {prefix!r}",
                    "see them with: workbench trust list",
                    candidates=[grant.fingerprint for grant in found],
                )
            self._write(*(grant for grant in grants if grant is not found[0]))
        return found[0]

    def _changing(self) -> WriterLock:
        make_private_folder(self._tree.root)
        return WriterLock(self._tree, relative=_LOCK)

    def _write(self, *grants: Grant) -> None:
        self._tree.replace(_FILE, canonical([msgspec.to_builtins(grant) for grant in grants]))
