"""What is known of session files is kept in the person's cache: a second look opens none that did not change."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from claude_records import SESSION, Script
from codex_records import Rollout, identity

from workbench.services.finding import SessionFinder, forget_index, index_file
from workbench.sessions import FoundSession, discover
from workbench.sessions.claude import discovery as claude
from workbench.sessions.codex import discovery as codex

FORK = SESSION.replace("1", "9")


def place(home: Path, script: Script, name: str | None = None, folder: str = "p") -> Path:
    where = home / ".claude/projects" / folder
    where.mkdir(parents=True, exist_ok=True)
    return script.write(where, name)


def roll(home: Path, session: Rollout) -> Path:
    where = home / ".codex/sessions/2026/03/01"
    where.mkdir(parents=True, exist_ok=True)
    return session.write(where)


def talk(session: str = SESSION, cwd: str = "/srv/shop", text: str = "make it green") -> Script:
    script = Script(session, cwd)
    script.prompt(text)
    script.say("m1", "ok", usage={"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 7})
    return script


def rollout(number: int, **meta: object) -> Rollout:
    made = Rollout(identity(number), **meta)
    made.turn()
    made.prompt(f"prompt {number}")
    made.say("ok")
    return made


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that were opened, in order."""
    opened: list[str] = []

    def watch(module: object, real: Callable[..., object]) -> None:
        monkeypatch.setattr(module, "look", lambda place: opened.append(Path(place.path).name) or real(place))

    watch(claude, claude.look)
    watch(codex, codex.look)
    return opened


def find(home: Path) -> list[FoundSession]:
    """As a new process would."""
    return SessionFinder().find([Path("/srv/shop")], {"HOME": str(home)})


def test_a_second_look_opens_nothing_and_a_third_only_what_changed(home: Path, looks: list[str]) -> None:
    script = talk()
    path = place(home, script)
    roll(home, rollout(2))
    first = find(home)
    assert len(looks) == 2
    assert find(home) == first
    assert len(looks) == 2
    script.say("m2", "more")
    script.write(path.parent)
    changed = find(home)
    assert looks[2:] == [path.name]
    assert [s.id for s in changed if s.agent == "claude"] == [SESSION]
    assert changed != first


def test_a_replaced_file_of_the_same_size_and_time_is_another(home: Path) -> None:
    path = place(home, talk(text="make it green"))
    (before,) = find(home)
    status = path.stat()
    other = place(home, talk(text="make it brown"), name="other")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    (after,) = find(home)
    assert (before.title, after.title) == ("make it green", "make it brown")


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'[99,[["x",1,2,3,[]]]]', b"\xff" * 100, b"[" * 100_000])
def test_a_damaged_index_is_made_again(home: Path, looks: list[str], data: bytes) -> None:
    for number in range(30):
        place(home, talk(f"{number:08x}-2222-4333-8444-555555555555"))
    found = find(home)
    index_file({"HOME": str(home)}).write_bytes(data)
    assert find(home) == found
    assert len(looks) == 60
    assert find(home) == found
    assert len(looks) == 60


def test_where_the_cache_cannot_be_written_it_is_done_without(home: Path) -> None:
    place(home, talk())
    (home / ".cache").write_text("no folder")
    assert [s.id for s in find(home)] == [SESSION]
    assert (home / ".cache").read_text() == "no folder"


def test_an_index_that_is_a_link_is_neither_read_nor_followed(home: Path, tmp_path: Path) -> None:
    place(home, talk())
    index = index_file({"HOME": str(home)})
    index.parent.mkdir(parents=True)
    target = tmp_path / "elsewhere"
    target.write_text("mine")
    index.symlink_to(target)
    assert len(find(home)) == 1
    assert target.read_text() == "mine"


def test_the_index_is_the_persons_own_and_holds_no_secret(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    place(home, talk(text=f"use {secret} for it"))
    find(home)
    index = index_file({"HOME": str(home)})
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700
    assert secret not in index.read_text()
    assert SESSION in index.read_text()
    assert forget_index({"HOME": str(home)}) == str(index)
    assert not index.exists()


def test_a_session_that_is_gone_is_forgotten(home: Path) -> None:
    path = place(home, talk())
    find(home)
    path.unlink()
    finder = SessionFinder()
    assert finder.find([Path("/srv/shop")], {"HOME": str(home)}) == []


def test_children_are_named_by_their_parents(home: Path) -> None:
    main = place(home, talk())
    inner = main.with_suffix("") / "subagents" / "workflows"
    inner.mkdir(parents=True)
    talk().write(inner, "agent-a1.jsonl")
    older = Script(SESSION, "/srv/shop")
    older.prompt("look around", isSidechain=True, agentId="b2")
    place(home, older, "agent-b2.jsonl")
    roll(home, rollout(2))
    roll(home, rollout(3, source={"subagent": {"thread_spawn": {"parent_thread_id": identity(2)}}}))
    found = {s.name: s.children for s in find(home)}
    assert found == {
        f"claude:{SESSION}": ("agent-a1", "agent-b2"),
        f"codex:{identity(2)}": (identity(3),),
    }


def test_where_a_session_comes_from(home: Path) -> None:
    old = talk()
    place(home, old)
    fork = talk(FORK)
    fork.prompt("and now brown")
    place(home, fork)
    roll(home, rollout(2))
    roll(home, rollout(3, forked_from_id=identity(2)))
    replayed = rollout(4)
    replayed.records.insert(1, Rollout(identity(2)).records[0])
    roll(home, replayed)
    by_id = {s.id: s for s in find(home)}
    assert by_id[FORK].root == by_id[SESSION].root != ""
    assert by_id[identity(3)].forked_from == identity(2)
    assert by_id[identity(4)].forked_from == identity(2)
    assert by_id[identity(2)].forked_from is None


def test_a_session_that_begins_with_clear(home: Path) -> None:
    cleared = Script(cwd="/srv/shop")
    cleared.prompt("<local-command-caveat>Caveat: made by a command</local-command-caveat>", isMeta=True)
    cleared.prompt("<command-name>/clear</command-name>\n<command-message>clear</command-message>")
    cleared.prompt("start over")
    place(home, cleared)
    later = talk(FORK)
    later.prompt("<command-name>/clear</command-name>")
    place(home, later)
    by_id = {s.id: s for s in find(home)}
    assert (by_id[SESSION].cleared, by_id[SESSION].title) == (True, "start over")
    assert not by_id[FORK].cleared


def test_how_full_it_is_and_until_when_it_is_limited(home: Path) -> None:
    script = talk()
    script.add(
        "assistant",
        message={"id": "x", "role": "assistant", "model": "<synthetic>", "content": [
            {"type": "text", "text": "You've hit your limit · resets 3pm"}]},
        error="rate_limit",
        isApiErrorMessage=True,
    )  # fmt: skip
    place(home, script)
    session = rollout(2)
    limits = {"primary": {"used_percent": 100.0, "window_minutes": 300, "resets_at": 1_900_000_000}}
    info = {"last_token_usage": {"input_tokens": 4000}, "model_context_window": 8000}
    session.event("token_count", info=info, rate_limits=limits)
    roll(home, session)
    by_agent = {s.agent: s for s in find(home)}
    assert (by_agent["claude"].context, by_agent["claude"].limited_until) == (95, "3pm")
    codex_one = by_agent["codex"]
    assert (codex_one.context, codex_one.window, codex_one.limited_until) == (4000, 8000, "2030-03-17T17:46:40Z")


def test_a_worktree_inside_of_another_is_told_from_it(home: Path, tmp_path: Path) -> None:
    main = tmp_path / "main"
    inner = main / ".trees" / "one"
    inner.mkdir(parents=True)
    place(home, talk(cwd=str(inner / "src")))
    (found,) = discover([main, inner], {"HOME": str(home)})
    assert found.folder == inner


@pytest.mark.parametrize("cwd", ["", "relative", "/srv/shop\0x", "/srv/\udcff", "/" * 5000, "C:\\work"])
def test_odd_folders_hide_nothing_else(home: Path, cwd: str) -> None:
    place(home, talk(cwd=cwd), folder="odd")
    place(home, talk(FORK))
    assert [s.id for s in find(home)] == [FORK]
    assert {s.id for s in SessionFinder().find(None, {"HOME": str(home)})} == {SESSION, FORK}


def test_a_name_that_is_no_text_is_found_and_not_kept(home: Path, looks: list[str]) -> None:
    path = place(home, talk())
    path.rename(path.with_name(os.fsdecode(b"odd-\xff.jsonl")))
    place(home, talk(FORK))
    assert [s.id for s in find(home)] == [FORK, SESSION]
    assert [s.id for s in find(home)] == [FORK, SESSION]
    assert len(looks) == 3
    assert index_file({"HOME": str(home)}).exists()


def test_what_is_no_file_is_left_alone(home: Path) -> None:
    place(home, talk())
    folder = home / ".claude/projects/p"
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    codex_folder = home / ".codex/sessions/2026/03/01"
    codex_folder.mkdir(parents=True)
    os.mkfifo(codex_folder / "rollout-2026-03-01T10-00-00-pipe.jsonl")
    (folder / "gone.jsonl").symlink_to(home / "nowhere")
    assert [s.id for s in find(home)] == [SESSION]


def test_copies_of_a_session_are_one_and_the_newest_counts(home: Path) -> None:
    old = place(home, talk(), folder="old")
    os.utime(old, (1, 1))
    longer = talk()
    longer.say("m2", "more")
    new = place(home, longer, folder="new")
    (found,) = find(home)
    assert found.path == new


SIZES = [(20_000, 10), (40_000, 40_000), (70_000, 10), (300_000, 10), (10, 300_000), (300_000, 300_000)]


@pytest.mark.parametrize(("first", "last"), SIZES)
def test_long_first_and_last_records_hide_nothing(home: Path, first: int, last: int) -> None:
    script = Script(cwd="/srv/shop")
    script.prompt("make it green " + "y" * first)
    script.say("m1", "z" * last, usage={"input_tokens": 95})
    place(home, script)
    session = Rollout(identity(2), base_instructions={"text": "q" * first})
    session.turn()
    session.prompt("make it blue")
    session.say("w" * last)
    roll(home, session)
    found = {s.agent: s for s in find(home)}
    assert {agent: one.title[:13].strip() for agent, one in found.items()} == {
        "claude": "make it green",
        "codex": "make it blue",
    }
    assert (found["claude"].context, found["claude"].updated_at) == (95, script.records[-1]["timestamp"])


def test_a_first_record_that_is_longer_than_what_is_read_says_where_it_is(home: Path) -> None:
    script = Script(cwd="/srv/shop")
    script.prompt("y" * 1_500_000)
    script.say("m1", "z" * 1_500_000)
    place(home, script)
    (found,) = find(home)
    assert (found.id, found.cwd, found.title) == (SESSION, "/srv/shop", "")


@pytest.mark.parametrize("tokens", [-5, "x", 1e308, 10**15, True, [1]])
def test_what_is_no_count_of_tokens_says_nothing(home: Path, tokens: object) -> None:
    script = Script(cwd="/srv/shop")
    script.prompt("hello")
    script.say("m1", "hello", usage={"input_tokens": tokens, "output_tokens": 7})
    place(home, script)
    session = rollout(2)
    session.event("token_count", info={"last_token_usage": {"input_tokens": tokens}, "model_context_window": 8000})
    roll(home, session)
    assert {s.agent: s.context for s in find(home)} == {"claude": None, "codex": None}


def test_an_index_of_other_folders_keeps_what_is_still_there(home: Path, looks: list[str], tmp_path: Path) -> None:
    for number in range(30):
        place(home, talk(f"{number:08x}-2222-4333-8444-555555555555"))
    find(home)
    env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(tmp_path / "other")}
    assert SessionFinder().find([Path("/srv/shop")], env) == []
    assert len(find(home)) == 30
    assert len(looks) == 30
