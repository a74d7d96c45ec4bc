"""Branch and HEAD from git's own files; and, once a folder is trusted, the changed files from git itself."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.errors import RefusedError, StorageError
from workbench.store.location import Location, read_small
from workbench.store.private import beneath, folder_beneath, open_reading, parts_of
from workbench.store.refusals import explained
from workbench.text import one_line

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CHAIN = 5
"""Symbolic references that are followed before giving up."""
_PACKED_LIMIT = 64 << 20

# Everything in a repository's configuration that could start a program on `git status`.
_SWITCHED_OFF = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.untrackedCache", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
)
_STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
_KEPT_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


class Head(msgspec.Struct, frozen=True):
    """Where a worktree stands."""

    branch: str | None = None
    """None when detached, or where there is no git."""
    commit: str | None = None
    """None before the first commit."""


def head(location: Location) -> Head:
    """Branch and commit, read from git's files; no process is started."""
    if location.git_dir is None:
        return Head()
    shared = location.common_dir or location.git_dir
    text = read_small(location.git_dir / "HEAD")
    if not text.startswith("ref:"):
        return Head(None, text if _HASH.fullmatch(text) else None)
    name = text.removeprefix("ref:").strip()
    # Repositories with the reftable format keep a placeholder here.
    named = name.startswith("refs/heads/") and name != "refs/heads/.invalid"
    branch = name.removeprefix("refs/heads/") if named else None
    return Head(branch, _resolve(location.git_dir, shared, name))


def _resolve(git_dir: Path, shared: Path, name: str) -> str | None:
    for _ in range(_CHAIN):
        if not name.startswith("refs/") or ".." in name.split("/") or "\x00" in name:
            return None
        text = read_small(shared / name) or read_small(git_dir / name)
        if _HASH.fullmatch(text):
            return text
        if not text.startswith("ref:"):
            return _packed(shared, name)
        name = text.removeprefix("ref:").strip()
    return None


def _packed(shared: Path, name: str) -> str | None:
    wanted = name.encode("utf-8", "surrogateescape")
    try:
        with open(shared / "packed-refs", "rb") as file:
            for line in file.read(_PACKED_LIMIT).split(b"\n"):
                commit, _, found = line.partition(b" ")
                if found == wanted:
                    return commit.decode("ascii", "replace")
    except OSError:
        return None
    return None


def changed_files(worktree: Path, timeout: float = 30.0) -> tuple[str, ...]:
    """Paths that differ from HEAD, or are not tracked and not ignored; relative to the worktree, sorted.

    Runs git, and is to be called only once a person has trusted the folder. File-system monitor,
    hooks, external diff and every named filter are switched off all the same, and nothing is written.

    Raises:
        StorageError: Git is missing, failed, or took too long.
    """
    output = _run(worktree, status_command()[1:], timeout, settings=_filters(worktree, timeout))
    found: set[str] = set()
    for entry in output.split(b"\0"):
        kind = entry[:2]
        if kind == b"? ":
            path = entry[2:]
        elif kind == b"1 ":
            path = entry.split(b" ", 8)[8]
        elif kind == b"u ":
            path = entry.split(b" ", 10)[10]
        else:
            continue
        found.add(os.fsdecode(path))
    return tuple(sorted(found))


def status_command() -> tuple[str, ...]:
    """The command that :func:`changed_files` runs, for a person to look at before trusting it.

    Where the configuration names filters or diff drivers, each is switched off by further settings.
    """
    switches = [word for name, value in _SWITCHED_OFF for word in ("-c", f"{name}={value}")]
    return ("git", "--no-pager", *switches, *_STATUS)


def _filters(worktree: Path, timeout: float) -> list[tuple[str, str]]:
    """Settings that switch every filter and diff driver off that any configuration names."""
    names = _run(worktree, ["config", "-z", "--name-only", "--get-regexp", r"^(filter|diff)\..*"], timeout, empty=(1,))
    settings: dict[str, str] = {}
    for name in names.split(b"\0"):
        section, _, rest = os.fsdecode(name).partition(".")
        driver, dot, _ = rest.rpartition(".")
        if dot and section == "filter":
            settings |= {f"filter.{driver}.{key}": "" for key in ("clean", "smudge", "process")}
            settings[f"filter.{driver}.required"] = "false"
        elif dot:
            settings |= {f"diff.{driver}.{key}": "" for key in ("command", "textconv")}
    return sorted(settings.items())


def _as_environment(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings for git by its environment: a name may hold ``=`` or blanks, at which ``-c`` would be cut."""
    pairs = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings):
        pairs |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return pairs


def _run(
    worktree: Path,
    words: Sequence[str],
    timeout: float,
    empty: Sequence[int] = (),
    settings: Sequence[tuple[str, str]] = (),
) -> bytes:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    environment |= _as_environment((*_SWITCHED_OFF, *settings))
    import subprocess  # loaded only where git is run: start-up counts

    try:
        done = subprocess.run(
            ["git", *words],
            cwd=worktree,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
        )
    except FileNotFoundError:
        raise StorageError("git is not installed", "install git, or go on without the list of changed files") from None
    except subprocess.TimeoutExpired:
        raise StorageError(f"git took longer than {timeout:g} s in {worktree}", "try again") from None
    if done.returncode and done.returncode not in empty:
        said = one_line(done.stderr.decode("utf-8", "replace"), 200)
        raise StorageError(f"git failed in {worktree}: {said}", "run 'git status' there yourself")
    return done.stdout


def file_hash(base: Path, relative: str) -> str | None:
    """SHA-256 of a file beneath a folder; None where there is no ordinary file.

    Raises:
        RefusedError: The path leads out of the folder.
        StorageError: The file may not be read.
    """
    parts = parts_of(beneath(base, relative))
    with explained(base / relative):
        try:
            with folder_beneath(Path(os.path.realpath(base)), "/".join(parts[:-1])) as folder:
                descriptor = open_reading(parts[-1], folder)
        except (FileNotFoundError, RefusedError):
            return None
        with open(descriptor, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
