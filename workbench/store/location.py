"""Where the workspace lies, found from git's own files: git itself is never run here.

Files inside a repository may be anybody's. A ``.git`` file that names another folder counts only when
that folder points back here; so a prepared file cannot lead us into somebody else's repository.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import NotFoundError

FOLDER = ".workbench"
_LIMIT = 65_536


@dataclass(frozen=True)
class Location:
    """Where a workspace lies, or would lie, and where in the repository we stand."""

    root: Path
    """The ``.workbench`` folder; it may not exist."""
    base: Path
    """The main checkout (or bare git folder, or plain folder) that holds it."""
    worktree: Path
    """Top folder of the worktree (or plain folder) we stand in."""
    worktree_name: str | None = None
    """Git's own name of a linked worktree; None for the main checkout and plain folders."""
    git_dir: Path | None = None
    """This worktree's git folder."""
    common_dir: Path | None = None
    """The repository's git folder, where it is known to belong to ``base``."""

    @property
    def exists(self) -> bool:
        """Whether there is a workspace folder (a link does not count)."""
        return self.root.is_dir() and not self.root.is_symlink()


def locate(start: Path, explicit: Path | None = None) -> Location:
    """Where the workspace for a folder lies.

    Args:
        start: The folder we stand in, however deep.
        explicit: What ``--workspace`` names: a repository, a folder, or the ``.workbench`` itself.

    Raises:
        NotFoundError: ``explicit`` does not exist, or only the home folder would be left.
    """
    start = _folder(start)
    if explicit is None:
        return _repository(start, asked=False) or _plain(start)
    if not explicit.is_dir():
        raise NotFoundError(f"{explicit} is no folder", "name a repository, a folder, or its .workbench")
    target = explicit.absolute()
    named = target.name == FOLDER
    base = _folder(target.parent if named else target)
    found = _repository(base, asked=True)
    if found is None or found.root.parent != base:
        # A workspace of its own, or a plain folder inside a repository, stays what it was named as.
        if named or (base / FOLDER).is_dir():
            found = _own(base, found)
        elif found is None:
            found = Location(base / FOLDER, base, base)
    here = _repository(start, asked=True)
    if here is not None and here.root == found.root:
        return here
    return found


def find_existing(start: Path, explicit: Path | None = None) -> Location:
    """The workspace for a folder.

    Raises:
        NotFoundError: There is none yet.
    """
    location = locate(start, explicit)
    if not location.exists:
        raise NotFoundError(f"no workspace for {location.base}", "make one with: workbench init")
    return location


def _folder(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return real if real.is_dir() else real.parent


def _own(base: Path, inside: Location | None) -> Location:
    """A folder with a workspace of its own, perhaps inside a repository whose workspace is elsewhere."""
    if inside is None or inside.worktree != base:
        return Location(base / FOLDER, base, base)
    return Location(base / FOLDER, base, base, inside.worktree_name, inside.git_dir)


def _home() -> Path:
    return Path(os.path.realpath(Path.home()))


def _plain(start: Path) -> Location:
    """Outside git: the nearest folder with a workspace at or above, never the home folder."""
    home = _home()
    for folder in (start, *start.parents):
        if folder != home and (folder / FOLDER).is_dir() and _ours(folder / FOLDER):
            return Location(folder / FOLDER, folder, folder)
    if start == home:
        raise NotFoundError(
            "the home folder is not taken for a workspace by itself",
            "go into a project's folder, or name it: workbench -w ~",
        )
    return Location(start / FOLDER, start, start)


def _ours(folder: Path) -> bool:
    """Whether a folder found on the way up belongs to this user: in a shared /tmp anybody may put one."""
    return os.geteuid() == 0 or os.lstat(folder).st_uid == os.geteuid()


def _repository(start: Path, *, asked: bool) -> Location | None:
    home = _home()
    for folder in (start, *start.parents):
        if folder == home and not asked:
            continue
        mark = folder / ".git"
        try:
            mode = os.lstat(mark).st_mode
        except OSError:
            mode = 0
        found: Location | None = None
        if stat.S_ISDIR(mode) and _is_git_dir(mark):
            found = _main(folder, mark)
        elif stat.S_ISREG(mode):
            found = _pointed(folder, mark)
        elif stat.S_ISLNK(mode) and _is_git_dir(_real(mark)):
            found = Location(folder / FOLDER, folder, folder, None, _real(mark))
        elif _is_git_dir(folder) and (folder.name != ".git" or _is_bare(folder)):
            found = Location(folder / FOLDER, folder, folder, None, folder, folder)
        if found is not None:
            return found
    return None


def _main(folder: Path, git: Path) -> Location:
    """A folder with a git folder in it; a ``commondir`` file in that is not believed."""
    if _is_bare(git):
        return Location(git / FOLDER, git, folder, None, git, git)
    return Location(folder / FOLDER, folder, folder, None, git, git)


def _pointed(folder: Path, mark: Path) -> Location | None:
    """A folder whose ``.git`` is a file: a linked worktree, a submodule, or a separate git folder."""
    text = read_small(mark)
    if not text.startswith("gitdir:"):
        return None
    git = _real(folder / text.removeprefix("gitdir:").strip())
    if _is_linked(git):
        common = _real(git / read_small(git / "commondir"))
        back = _real(git / read_small(git / "gitdir"))
        if back == _real(mark) and git.parent == common / "worktrees" and _is_git_dir(common):
            base = _base_of(common)
            return Location(base / FOLDER, base, folder, git.name, git, common)
        return Location(folder / FOLDER, folder, folder)
    if not _is_git_dir(git):
        return None
    own = _configured_worktree(git) == folder
    return Location(folder / FOLDER, folder, folder, None, git, git if own else None)


def _base_of(common: Path) -> Path:
    """The main checkout of a common git folder; that folder itself where there is none."""
    if _is_bare(common):
        return common
    if common.name == ".git":
        return common.parent
    worktree = _configured_worktree(common)
    if worktree is not None and (worktree / ".git").is_file():
        named = read_small(worktree / ".git").removeprefix("gitdir:").strip()
        if _real(worktree / named) == common:
            return worktree
    return common


def _is_git_dir(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _is_linked(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "commondir").is_file() and (path / "gitdir").is_file()


def _is_bare(git: Path) -> bool:
    return _core(git).get("bare", "").lower() in ("true", "yes", "on", "1")


def _configured_worktree(git: Path) -> Path | None:
    value = _core(git).get("worktree")
    return _real(git / value) if value else None


def _core(git: Path) -> dict[str, str]:
    """The ``[core]`` section of a repository's own config file; includes are not followed."""
    values: dict[str, str] = {}
    inside = False
    for raw in read_small(git / "config").splitlines():
        line = raw.strip()
        if line.startswith("["):
            inside = line.lower().startswith("[core]")
            line = line.partition("]")[2].strip()
        if inside and line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            values[name.strip().lower()] = value.strip().strip('"') if equals else "true"
    return values


def read_small(path: Path) -> str:
    """The text of one of git's small files, without the last newline; empty where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.read(descriptor, _LIMIT).decode("utf-8", "surrogateescape").rstrip("\n")
    finally:
        os.close(descriptor)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
