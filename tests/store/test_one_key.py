"""A command that concerns one key or one task reads that, whatever else there is, and still sees all that counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import AT, PERSON, put
from workbench.domain.fact import Act, Alias, Fact, Source
from workbench.domain.ids import new_id
from workbench.errors import DamagedError, VersionConflictError
from workbench.services import facts, keys, notes, state, tasks
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.store.lock import WriterLock
from workbench.store.settle import QUEUE


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WORKBENCH_HUMAN_SHELL", "1")
    init(tmp_path, env=os.environ)
    return again(tmp_path)


def again(place: Path) -> Context:
    return open_context(place, env=os.environ)


def holding(key: str, value: Any) -> Fact:
    act, said = Act(act="accepted", by=PERSON, at=AT), Source(type="person", by=PERSON, at=AT)
    return Fact(id=new_id(), key=key, value=value, acts=(act,), sources=(said,), observed_at=AT)


def opened_by(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many files and folders an act opens."""
    seen = 0
    real = os.open

    def count(*words: Any, **more: Any) -> int:
        nonlocal seen
        seen += 1
        return real(*words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", count)
        act()
    return seen


def test_what_a_command_opens_does_not_grow_with_the_records(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    place = ctx.location.base
    task = tasks.new(ctx, {"title": "One", "variables": {"port": {"type": "integer"}}})
    facts.propose(ctx, "warm", 1)
    notes.write(ctx, "warm", 1)

    def act(number: int) -> list[int]:
        proposal = facts.propose(again(place), f"old.key{number}", 1, source="said elsewhere").fact
        return [
            opened_by(work, monkeypatch)
            for work in (
                lambda: facts.propose(again(place), f"new.key{number}", 1),
                lambda: facts.retract(again(place), proposal.id, "no more"),
                lambda: notes.write(again(place), f"note{number}", 1),
                lambda: state.update(again(place), task, state.Delta(set={"port": number})),
            )
        ]

    few = act(1)
    put(ctx.workspace, *(holding(f"area.item{number}", number) for number in range(60)))
    act(2)  # what is made once a day, like the folder of a first letter, is made
    many = act(3)
    assert all(more <= less + 8 for less, more in zip(few, many, strict=True)), (few, many)


def test_a_key_is_the_same_in_any_spelling_and_through_an_alias(ctx: Context) -> None:
    place = ctx.location.base
    put(ctx.workspace, holding("Server.Port", 1), holding("tcp.port", 2), holding("café.größe", 3))
    assert facts.propose(again(place), "server.port", 1).outcome == "corroborated"
    assert facts.propose(again(place), "SERVER.PORT", 5).outcome == "proposed"
    assert facts.propose(again(place), "cafe\u0301.gro\u0308ße", 3).outcome == "corroborated"
    facts.alias(again(place), "tcp.port", "net.port")
    assert facts.propose(again(place), "net.port", 2).outcome == "corroborated"
    put(ctx.workspace, Alias(id=new_id(), alias="port", canonical="tcp.port"))
    assert facts.propose(again(place), "port", 9).would_supersede is not None


def test_a_long_key_meets_its_own_facts_only(ctx: Context) -> None:
    place = ctx.location.base
    one, two = ("long." + "x" * 90 + end for end in ("a", "b"))
    assert facts.propose(again(place), one, 1).outcome == "active"
    assert facts.propose(again(place), two, 2).outcome == "active"
    assert facts.propose(again(place), one, 2).outcome == "proposed"


def test_look_alikes_are_found_by_the_names_of_folders(ctx: Context) -> None:
    place = ctx.location.base
    long = "theme." + "y" * 80
    put(ctx.workspace, holding("serverPort", 1), holding("theme.colour", 1), holding("主题.颜色", 1), holding(long, 1))
    gone = put(ctx.workspace, holding("theme.colors", 1))[0]
    with ctx.workspace.transaction(PERSON, "move") as tx:
        tx.put(gone.with_(key="elsewhere"))

    def alike(key: str) -> tuple[str, ...]:
        now = again(place)
        return keys.look_alikes(now, keys.of_key(now, key), key, now.workspace.folders("facts"))

    assert alike("server.port") == ("serverport",)
    assert alike("theme.color") == ("theme.colour",)
    assert alike("主题颜色") == ("主题.颜色",)
    assert alike(long.replace("theme.", "theme_")) == (long,)


def test_what_only_the_log_holds_counts(ctx: Context) -> None:
    place = ctx.location.base
    with WriterLock(ctx.workspace.tree, 1.0, QUEUE):
        first = facts.propose(again(place), "port", 1).fact
        assert facts.propose(again(place), "port", 1).outcome == "corroborated"
        proposal = facts.propose(again(place), "port", 2, source="said elsewhere").fact
        assert "port" in again(place).workspace.folders("facts")
        done = facts.confirm(again(place), proposal.id, expect=f"{first.id}@2")
        assert done.supersedes == (first.id,)
        with pytest.raises(VersionConflictError):
            facts.reject(again(place), proposal.id, "late")


def test_a_hand_edit_of_the_key_is_taken_in_first(ctx: Context) -> None:
    place = ctx.location.base
    fact = facts.propose(ctx, "port", 8080).fact
    path = ctx.workspace.root / "facts" / "port" / f"{fact.id}.json"
    path.write_text(path.read_text().replace("8080", "9090"))
    assert facts.propose(again(place), "port", 9090).outcome == "corroborated"
    assert [change.actor for change in again(place).workspace.changes()][1] == "outside"
    assert again(place).workspace.load().facts[fact.id].version == 3


def test_damage_of_another_key_stops_nobody(ctx: Context) -> None:
    place = ctx.location.base
    fact = facts.propose(ctx, "port", 1).fact
    other = facts.propose(ctx, "host", 1).fact
    (ctx.workspace.root / "facts" / "port" / f"{fact.id}.json").write_bytes(b"")
    assert facts.propose(again(place), "host", 1).fact.id == other.id
    with pytest.raises(DamagedError):
        facts.propose(again(place), "port", 2)
    with pytest.raises(DamagedError):
        facts.retract(again(place), fact.id, "no more")
