"""Hints from the file system: what is watched, what counts, and that they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import workbench.watching as watching_module
from workbench.watching import Hint, NoEventsError, Watched, arms, hints, sieve, until_other, without_events


@asynccontextmanager
async def watching(watched: Watched) -> AsyncIterator[asyncio.Event]:
    """An event that is set by the next hint; the watch ends with the block."""
    stop, seen = asyncio.Event(), asyncio.Event()

    async def watch() -> None:
        async for _ in hints(watched, stop):
            seen.set()

    task = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        stop.set()
        await task


async def comes(seen: asyncio.Event, change: Callable[[int], None]) -> bool:
    """Whether a hint comes; the change is made again until it does, since a watch takes a moment to begin."""
    for number in range(100):
        change(number)
        try:
            await asyncio.wait_for(seen.wait(), 0.1)
        except TimeoutError:
            continue
        return True
    return False


def test_only_the_workspace_and_the_named_files_count(tmp_path: Path) -> None:
    session = tmp_path / "sessions" / "one.jsonl"
    counts = sieve(Watched((tmp_path / "ws",), frozenset({session})))
    assert counts(str(session))
    assert counts(str(tmp_path / "ws" / "facts" / "f.json"))
    assert not counts(str(session.with_name("other.jsonl")))
    assert not counts(str(tmp_path / "wsx" / "f.json"))


def test_what_the_program_keeps_for_itself_wakes_nobody(tmp_path: Path) -> None:
    counts = sieve(Watched((tmp_path,)))
    for name in (".local/search.sqlite", ".local/search.sqlite-journal", ".local/lock", ".local/applied", "x.tmp"):
        assert not counts(str(tmp_path / name)), name
    assert counts(str(tmp_path / ".local" / "current_task.json"))


def test_ignored_files_and_build_trees_wake_nobody(tmp_path: Path) -> None:
    named = [tmp_path / name for name in ("src/a.ts", "src/a.log", "node_modules/m/index.js", "dist/bundle.js")]
    watched = Watched((), frozenset(named), ignore=("*.log",))
    counts = sieve(watched)
    assert [counts(str(path)) for path in named] == [True, False, False, False]
    for path in named:
        path.parent.mkdir(parents=True, exist_ok=True)
    assert set(arms(watched)) == {tmp_path / "src"}


def test_the_head_of_a_repository_counts(tmp_path: Path) -> None:
    head = tmp_path / ".git" / "HEAD"
    head.parent.mkdir()
    watched = Watched((), frozenset({head}))
    assert sieve(watched)(str(head))
    assert set(arms(watched)) == {head.parent}


def test_no_link_is_followed_and_nothing_is_descended_into(tmp_path: Path) -> None:
    root, away = tmp_path / "ws", tmp_path / "away"
    (root / "facts" / "a.key" / "deeper").mkdir(parents=True)
    away.mkdir()
    (root / "out").symlink_to(away)
    (root / "loop").symlink_to(root)
    assert set(arms(Watched((root,)))) == {root, root / "facts", root / "facts" / "a.key"}
    linked = tmp_path / "linked"
    linked.symlink_to(root)
    assert arms(Watched((linked,))) == {}


def test_a_great_many_folders_are_left_to_the_slow_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "MOST_FOLDERS", 20)
    for number in range(30):
        (tmp_path / "facts" / f"key{number}").mkdir(parents=True)
    (tmp_path / "changes").mkdir()
    assert set(arms(Watched((tmp_path,)))) == {tmp_path, tmp_path / "facts", tmp_path / "changes"}


def test_folders_that_are_not_there_are_not_watched(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    watched = Watched((tmp_path / "ws", tmp_path / "gone"), frozenset({tmp_path / "away" / "x.jsonl"}))
    assert set(arms(watched)) == {tmp_path / "ws"}


async def test_a_replaced_session_file_is_a_hint_each_time(tmp_path: Path) -> None:
    session = tmp_path / "one.jsonl"
    session.write_text("{}\n")

    def replace(number: int) -> None:
        other = tmp_path / "new"
        other.write_text("{}\n" * number)
        other.replace(session)

    async with watching(Watched((), frozenset({session}))) as seen:
        for _ in range(3):
            assert await comes(seen, replace)
            seen.clear()


async def test_a_change_log_line_is_a_hint(tmp_path: Path) -> None:
    log = tmp_path / "changes" / "2026-01.jsonl"
    log.parent.mkdir()

    def append(number: int) -> None:
        with log.open("a") as file:
            file.write(f"{number}\n")

    async with watching(Watched((tmp_path,))) as seen:
        assert await comes(seen, append)


async def test_a_hint_tells_the_workspace_from_single_files(tmp_path: Path) -> None:
    session, record = tmp_path / "one.jsonl", tmp_path / "ws" / "facts" / "f.json"
    record.parent.mkdir(parents=True)
    stop = asyncio.Event()
    told: asyncio.Queue[Hint] = asyncio.Queue()

    async def watch() -> None:
        async for hint in hints(Watched((tmp_path / "ws",), frozenset({session})), stop):
            told.put_nowait(hint)

    async def next_of(path: Path) -> Hint:
        """What the next hint says, once changes of this file alone are to be told."""
        for number in range(100):
            path.write_text(str(number))
            try:
                return await asyncio.wait_for(told.get(), 0.1)
            except TimeoutError:
                continue
        raise AssertionError("no hint came")

    task = asyncio.create_task(watch())
    try:
        assert await next_of(session) == Hint(inside=False, files=True)
        await next_of(record)  # a change of the session may still be told with it
        while not told.empty():
            told.get_nowait()
        assert await next_of(record) == Hint(inside=True, files=False)
    finally:
        stop.set()
        await task


async def test_nothing_to_watch_ends_at_once() -> None:
    assert [n async for n in hints(Watched((Path("/nowhere/at/all"),)), asyncio.Event())] == []


async def until_set(watched: Watched, change: Callable[[], None]) -> bool:
    """Whether a watch is given up after a change."""
    stop = asyncio.Event()
    task = asyncio.create_task(until_other(lambda: watched, watched, arms(watched), stop, 0.005))
    await asyncio.sleep(0.05)
    assert not stop.is_set()
    change()
    await asyncio.wait_for(task, 10)
    return stop.is_set()


async def test_a_root_that_is_made_again_is_watched_anew(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()

    def make_again() -> None:
        root.rename(tmp_path / "old")
        root.mkdir()

    assert await until_set(Watched((root,)), make_again)


async def test_a_root_that_went_is_let_go(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    assert await until_set(Watched((root,)), root.rmdir)


async def test_a_new_folder_in_the_root_is_watched(tmp_path: Path) -> None:
    assert await until_set(Watched((tmp_path,)), (tmp_path / "evidence").mkdir)


async def test_polling_that_was_asked_for_is_no_fault(tmp_path: Path) -> None:
    with pytest.raises(NoEventsError, match=r"^$"):
        _ = [n async for n in hints(Watched((tmp_path,), poll=True), asyncio.Event())]


@pytest.mark.parametrize(
    "error", [OSError(28, "OS file watch limit reached."), RuntimeError("Too many open files (os error 24)")]
)
async def test_a_limit_of_the_system_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    import watchfiles

    def refused(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(watchfiles, "awatch", refused)
    with pytest.raises(NoEventsError, match="no more watches"):
        _ = [n async for n in hints(Watched((tmp_path,)), asyncio.Event())]


MOUNTS = """\
22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /mnt/c rw,noatime - 9p drvfs rw,dirsync
31 22 0:31 / /mnt/with\\040space rw - fuse.sshfs host:/ rw
32 22 0:32 / /srv/share rw - nfs4 server:/share rw
33 32 0:33 / /srv/share/local rw - tmpfs tmpfs rw
34 22 0:34 / /media/win rw - cifs //host/win rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/mara/project", ""),
        ("/mnt/c/Users/mara", "9p"),
        ("/mnt/with space/x", "fuse.sshfs"),
        ("/srv/share/repo", "nfs4"),
        ("/srv/share/local/repo", ""),
        ("/media/win", "cifs"),
        ("/mnt/cd", ""),
    ],
)
def test_file_systems_without_events_are_known(tmp_path: Path, folder: str, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert without_events([Path(folder)], table) == kind
    assert without_events([Path(folder)], tmp_path / "none") == ""
