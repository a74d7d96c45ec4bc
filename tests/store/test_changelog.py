"""The log is read from its newest file on, and only as far as somebody asks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.store.conftest import PERSON, make_fact
from workbench.domain.fact import Fact
from workbench.store import Workspace
from workbench.store.journal import Journal


@pytest.fixture
def months(workspace: Workspace) -> Workspace:
    """A log of twelve files."""
    for month in range(1, 13):
        with workspace.transaction(PERSON, f"month {month}", now=datetime(2026, month, 5, tzinfo=UTC)) as tx:
            tx.put(make_fact(f"month.{month}"))
    return workspace


def test_the_newest_changes_are_read_from_the_newest_files(months: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    read = Journal.read

    def watched(self: Journal, name: str, offset: int = 0) -> bytes:
        opened.append(name)
        return read(self, name, offset)

    monkeypatch.setattr(Journal, "read", watched)
    changes = months.changes()
    assert [next(changes).command for _ in range(2)] == ["month 12", "month 11"]
    assert opened == ["2026-12.jsonl", "2026-11.jsonl"]
    assert len(list(changes)) == 10


def test_what_last_wrote_a_record(months: Workspace) -> None:
    fact = next(fact for fact in months.load().facts.values() if fact.key == "month.3")
    with months.transaction(PERSON, "later", now=datetime(2026, 12, 6, tzinfo=UTC)) as tx:
        tx.put(fact.with_(value="changed"))
    wrote = months.log.wrote_last("facts", fact.id)
    assert wrote is not None
    assert (wrote[0].command, wrote[1].version) == ("later", 2)
    assert months.log.latest()["facts", fact.id] == wrote
    assert months.log.wrote_last("facts", "nowhere000") is None


def test_a_change_moved_between_files_by_hand_stays_in_its_place_in_the_log(months: Workspace) -> None:
    """Within a file lines are folded by cause: their order in it says nothing."""
    newest = months.root / "changes" / "2026-12.jsonl"
    with months.transaction(PERSON, "after", now=datetime(2026, 12, 7, tzinfo=UTC)) as tx:
        tx.put(Fact(id="q" * 10, key="q", value=1))
    newest.write_bytes(b"".join(reversed(newest.read_bytes().splitlines(keepends=True))))
    assert [change.command for change in months.changes()][:3] == ["after", "month 12", "month 11"]
