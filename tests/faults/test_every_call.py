"""Every writing call of a command fails, or the process dies at it: the workspace is old or new, never half."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.checks import (
    Copies,
    every_call_killed,
    every_call_refused,
    no_lost_update,
    power_cuts,
    power_cuts_after_a_death,
)
from tests.faults.commands import COMMANDS
from tests.faults.mutants import MUTANTS

Told = Callable[[str, object], None]


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path / "copies")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
def test_each_call_refused_in_turn(copies: Copies, command: str, number: int, record_property: Told) -> None:
    k = every_call_refused(copies, command, number)
    assert k > 10
    record_property("told", f"{command}: each of k = {k} writing calls refused ({errno.errorcode[number]}) in turn")


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_each_call_in_turn(copies: Copies, command: str, record_property: Told) -> None:
    k = every_call_killed(copies, command)
    assert k > 10
    record_property("told", f"{command}: killed at each of k = {k} writing calls in turn")


@pytest.mark.parametrize("beside", ["", "waits", "wrote"], ids=["alone", "another waits", "another wrote"])
def test_the_power_goes_at_any_moment(
    copies: Copies, monkeypatch: pytest.MonkeyPatch, record_property: Told, beside: str
) -> None:
    cuts = power_cuts(copies, monkeypatch.setattr, beside)
    assert cuts > 70
    record_property("told", f"four commands{f', while another {beside}' if beside else ''}: {cuts} power cuts")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_power_goes_after_a_killed_writer_was_completed(
    copies: Copies, monkeypatch: pytest.MonkeyPatch, record_property: Told, command: str
) -> None:
    cuts = power_cuts_after_a_death(copies, command, monkeypatch.setattr)
    assert cuts > 20
    record_property("told", f"{command}: {cuts} power cuts after a killed writer's change was completed")


def test_two_writers_lose_nothing(copies: Copies) -> None:
    no_lost_update(copies)


@pytest.mark.parametrize("mutant", ["no file fsync", "no folder fsync"])
def test_without_an_fsync_a_power_cut_is_noticed(copies: Copies, monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    MUTANTS[mutant](monkeypatch.setattr)
    with pytest.raises(AssertionError):
        power_cuts(copies, monkeypatch.setattr)


@pytest.mark.parametrize("mutant", ["journal last", "no temporary file"])
def test_without_order_or_temporary_files_a_kill_is_noticed(copies: Copies, mutant: str) -> None:
    with pytest.raises(AssertionError):
        every_call_killed(copies, "five records", mutant)


def test_without_the_lock_a_lost_update_is_noticed(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS["no lock"](monkeypatch.setattr)
    with pytest.raises(AssertionError):
        no_lost_update(copies)
