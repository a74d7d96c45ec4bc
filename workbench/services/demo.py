"""The demo: a sample workspace copied to a folder of its own, where a person can try everything on it.

A sample is a folder of ``sample_workspaces/``: ``project/`` (committed), ``uncommitted/`` (laid over it
afterwards), ``agents/`` (session files, in which ``{{FOLDER}}`` stands for the folder) and
``story.json`` (the records, see :mod:`workbench.services.story`); ``workspace.toml`` holds its settings,
where it has any. Nothing of a sample is ever run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import NotFoundError, RefusedError
from workbench.resources import data_folder
from workbench.services.story import Story
from workbench.store.location import locate
from workbench.store.primitives import Tree, explained
from workbench.store.workspace import Workspace

STORY = "story.json"
SETTINGS = "workspace.toml"
AGENTS = "agents"
"""Folder of the session files: kept out of the copy's commit, as agents keep theirs elsewhere."""


def names() -> list[str]:
    """The samples of this installation; the first is the one that ``demo`` without a name opens."""
    stories = data_folder("sample_workspaces").glob(f"*/{STORY}")
    ranked = sorted((int(json.loads(path.read_bytes()).get("order", 99)), path.parent.name) for path in stories)
    return [name for _, name in ranked]


def copy_demo(name: str | None, target: Path | None, env: Mapping[str, str], now: datetime | None = None) -> Path:
    """Copy a sample to a fresh folder and make its workspace there.

    Args:
        name: Which sample; None for the first.
        target: The folder to make (it may exist if it is empty); None for ``workbench-demo-NAME`` in the
            current folder, numbered where that exists.
        env: The environment; git is looked for on its ``PATH``.
        now: The moment the sample's story is moved to; None for the present one.

    Returns:
        The folder.

    Raises:
        NotFoundError: There is no such sample.
        RefusedError: The folder is taken, or lies where nothing may be written.
    """
    source = _sample(name)
    folder = _fresh(Path.cwd() / target if target else None, source.name)
    with ExitStack() as undo:
        # The folder was made, or empty, a moment ago: where filling it fails, only our own files go.
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        undo.enter_context(explained(folder))
        _fill(source, folder, env, now or datetime.now(UTC))
        undo.pop_all()
    return folder


def _sample(name: str | None) -> Path:
    known = names()
    if not known or (name is not None and name not in known):
        raise NotFoundError(
            f"no sample workspace {name!r}", "one of: " + ", ".join(known) if known else "", candidates=known
        )
    return data_folder("sample_workspaces") / (name or known[0])


def _fresh(target: Path | None, sample: str) -> Path:
    """A new or empty folder outside the installation; nothing is ever overwritten."""
    if target is None:
        number, target = 2, Path.cwd() / f"workbench-demo-{sample}"
        while target.exists() or target.is_symlink():
            number, target = number + 1, target.with_name(f"workbench-demo-{sample}-{number}")
    installed = (data_folder("sample_workspaces"), Path(__file__).resolve().parent.parent)
    if any(target.resolve().is_relative_to(place) for place in installed):
        raise RefusedError(f"{target} lies inside the installed program", "name another folder with --dir")
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise RefusedError(f"{target} exists and is not an empty folder", "name another one with --dir")
    with explained(target):
        target.mkdir(parents=True, exist_ok=True)
    return target.resolve()


def _fill(source: Path, folder: Path, env: Mapping[str, str], now: datetime) -> None:
    _copy(source / "project", folder)
    story = Story.read(source, folder, now)
    story = story.at_commit(_commit(folder, story.commit, env))
    _copy(source / "uncommitted", folder)
    for path in sorted((source / AGENTS).rglob("*.jsonl")):
        _write(folder / path.relative_to(source), story.session_text(path).encode())
    location = locate(folder)
    if location.base != folder:
        raise RefusedError(
            f"without git, {folder} would share the workspace of {location.base}",
            "install git, or name a folder outside of that repository with --dir",
        )
    workspace = Workspace.init(location)
    settings = source / SETTINGS
    if settings.is_file():
        Tree(workspace.root).replace(SETTINGS, settings.read_bytes())
    story.tell(workspace, env)


def _copy(source: Path, folder: Path) -> None:
    """Contents only: modes of the installation (often read-only) and links stay behind."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink():
            _write(folder / path.relative_to(source), path.read_bytes())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _commit(folder: Path, commit: Mapping[str, str], env: Mapping[str, str]) -> str | None:
    """Make the folder a repository with one commit; None where there is no git that can.

    Git runs with an environment of its own: no configuration, hooks, templates or signing of the person's.
    """
    git = shutil.which("git", path=env.get("PATH", os.defpath))
    if git is None:
        return None
    alone = {
        "PATH": env.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    for who in ("AUTHOR", "COMMITTER"):
        alone |= {f"GIT_{who}_NAME": commit["name"], f"GIT_{who}_EMAIL": commit["email"]}
        alone[f"GIT_{who}_DATE"] = commit["at"]
    safe = [git, "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"]

    def run(*words: str) -> str:
        done = subprocess.run([*safe, *words], cwd=folder, env=alone, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    try:
        run("init", "--quiet", "--template=")
        run("symbolic-ref", "HEAD", "refs/heads/main")
        _write(folder / ".git" / "info" / "exclude", f"/{AGENTS}/\n".encode())
        run("add", "--all")
        run("commit", "--quiet", "--no-verify", "-m", commit["message"])
        return run("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(folder / ".git", ignore_errors=True)
        return None
