"""A runaway agent is stopped by a limit that the message names; people and other agents are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.conftest import PERSON, make_fact
from workbench.errors import RefusedError
from workbench.services.context import open_context
from workbench.services.workspaces import init
from workbench.store import Workspace
from workbench.store.pace import Limits, Pace
from workbench.store.primitives import Tree


def write(workspace: Workspace, actor: str, size: int = 1) -> None:
    with workspace.transaction(actor, "write") as tx:
        tx.put(make_fact(f"k{os.urandom(4).hex()}", "x" * size))


def keep(workspace: Workspace, actor: str, size: int) -> None:
    with workspace.transaction(actor, "keep") as tx:
        tx.put(make_fact("small"))
        tx.put_blob(b"x" * size)


def test_records_a_minute(workspace: Workspace) -> None:
    workspace.limits = Limits(records_per_minute=3)
    for _ in range(3):
        write(workspace, "agent:fast")
    with pytest.raises(RefusedError) as caught:
        write(workspace, "agent:fast")
    assert "agent:fast" in caught.value.message
    assert "3 records" in caught.value.message
    assert "records_per_minute" in caught.value.hint
    assert caught.value.details["limit"] == "records_per_minute"
    assert 0 < caught.value.details["retry_after"] <= 61
    assert len(workspace.load().facts) == 3
    write(workspace, "agent:other")
    for _ in range(5):
        write(workspace, PERSON)
    # Another process counts on: the limit is the workspace's, not the process's.
    again = Workspace.open(workspace.location)
    again.limits = workspace.limits
    with pytest.raises(RefusedError):
        write(again, "agent:fast")


def test_bytes_a_minute(workspace: Workspace) -> None:
    workspace.limits = Limits(bytes_per_minute=10_000)
    with pytest.raises(RefusedError) as caught:
        write(workspace, "agent:big", 10_000)
    assert caught.value.details["limit"] == "bytes_per_minute"
    write(workspace, "agent:big", 5_000)
    with pytest.raises(RefusedError):
        keep(workspace, "agent:big", 6_000)
    assert workspace.blobs() == []


def test_a_minute_slides(workspace: Workspace) -> None:
    now = 1000.0
    pace = Pace(Tree(workspace.root), Limits(records_per_minute=10), clock=lambda: now)
    pace.check("agent:x", 10, 0)
    pace.note("agent:x", 10, 0)
    with pytest.raises(RefusedError):
        pace.check("agent:x", 1, 0)
    now += 70  # most of the ten were written within the last minute still
    with pytest.raises(RefusedError):
        pace.check("agent:x", 9, 0)
    pace.check("agent:x", 1, 0)
    now += 120
    pace.check("agent:x", 10, 0)


@pytest.mark.parametrize("content", [b"", b"\x00\x00", b"[]", b'{"agent:x": 5}'])
def test_a_count_that_cannot_be_read_counts_nothing(workspace: Workspace, content: bytes) -> None:
    (workspace.root / ".local" / "pace.json").write_bytes(content)
    workspace.limits = Limits(records_per_minute=1)
    write(workspace, "agent:x")


def test_the_limits_are_configured_and_have_defaults(tmp_path: Path) -> None:
    init(tmp_path, env=os.environ)
    ctx = open_context(tmp_path, env=os.environ)
    assert ctx.workspace.limits == Limits()
    (tmp_path / ".workbench" / "workspace.toml").write_text("[limits]\nrecords_per_minute = 2\nbytes_per_minute = 9\n")
    ctx = open_context(tmp_path, env=os.environ)
    assert ctx.workspace.limits == Limits(2, 9)
    with pytest.raises(RefusedError):
        write(ctx.workspace, "agent:x")
