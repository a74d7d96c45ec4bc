"""TinyDB's documented behaviour, on the write path of the workspace."""

from __future__ import annotations

import pytest
from tinydb import where
from tinydb.operations import delete, increment
from tinydb.table import Document

from tests.store.conftest import PERSON, make_fact, make_task, put
from workbench.domain.ids import is_id
from workbench.errors import NotFoundError, UsageError
from workbench.store import Workspace


def test_insert_get_search(workspace: Workspace) -> None:
    facts = workspace.db.table("facts")
    first = facts.insert({"key": "a.b", "value": 1})
    assert is_id(first)
    assert facts.get(doc_id=first)["value"] == 1
    assert workspace.load().facts[first].key == "a.b"
    rest = facts.insert_multiple([{"key": "c", "value": n} for n in range(3)])
    assert len(facts) == 4
    assert {d.doc_id for d in facts.search(where("key") == "c")} == set(rest)
    assert facts.get(where("value") == 2)["key"] == "c"
    assert facts.contains(where("key") == "a.b")
    assert not facts.contains(doc_id="zzzzzzzzzz")
    assert facts.count(where("key") == "c") == 3
    assert [d.doc_id for d in facts.get(doc_ids=[first, "zzzzzzzzzz"])] == [first]
    assert len(list(workspace.changes())) == 2


def test_update_upsert_remove(workspace: Workspace) -> None:
    facts = workspace.db.table("facts")
    one, two = put(workspace, make_fact("a", 1), make_fact("b", 1))
    assert facts.update({"value": 5}, where("key") == "a") == [one.id]
    assert facts.update(increment("value"), doc_ids=[one.id, "zzzzzzzzzz"]) == [one.id]
    assert (workspace.load().facts[one.id].value, workspace.load().facts[one.id].version) == (6, 3)
    assert sorted(facts.update({"statement": "s"})) == sorted([one.id, two.id])
    facts.update(delete("statement"), doc_ids=[two.id])
    assert workspace.load().facts[two.id].statement == ""
    facts.upsert({"value": 9}, where("key") == "b")
    assert workspace.load().facts[two.id].value == 9
    facts.upsert({"key": "z", "value": 0}, where("key") == "z")
    assert facts.count(where("key") == "z") == 1
    facts.upsert(Document({"value": 10}, two.id))  # type: ignore[arg-type]
    assert workspace.load().facts[two.id].value == 10
    facts.update_multiple([({"value": 11}, where("key") == "b")])
    assert workspace.load().facts[two.id].value == 11
    assert facts.remove(where("key") == "a") == [one.id]
    assert facts.remove(doc_ids=["zzzzzzzzzz"]) == []
    assert one.id not in workspace.load().facts


def test_documents_are_copies_and_nothing_is_remembered(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("a", {"x": [1]}))[0]
    facts = workspace.db.table("facts")
    query = where("key") == "a"
    found = facts.search(query)[0]
    found["value"]["x"].append(2)
    facts.get(doc_id=fact.id)["value"]["x"].append(3)
    assert facts.search(query)[0]["value"] == {"x": [1]}
    put(Workspace.open(workspace.location), fact.with_(value="theirs"))
    assert facts.search(query)[0]["value"] == "theirs"


def test_inside_a_transaction_tables_share_it(workspace: Workspace) -> None:
    fact = make_fact("a", 1)
    with workspace.transaction(PERSON, "both") as tx:
        tx.put(fact)
        facts = workspace.db.table("facts")
        assert facts.get(doc_id=fact.id)["value"] == 1
        assert len(facts) == 1
        facts.update({"value": 2}, doc_ids=[fact.id])
        facts.insert({"key": "b", "value": 1})
        assert workspace.load().facts == {}
    assert {f.key: f.value for f in workspace.load().facts.values()} == {"a": 2, "b": 1}
    assert len(list(workspace.changes())) == 1


def test_a_failing_updater_writes_nothing(workspace: Workspace) -> None:
    fact = put(workspace, make_fact("a", 1))[0]

    def broken(document: dict[str, object]) -> None:
        document["value"] = 2
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        workspace.db.table("facts").update(broken, doc_ids=[fact.id])
    for bad in ({"key": 5, "value": 1}, {"value": 1}, {"key": "k", "value": float("nan")}, "text"):
        with pytest.raises(UsageError):
            workspace.db.table("facts").insert(bad)  # type: ignore[arg-type]
    assert workspace.load().facts == {fact.id: fact}


def test_tables(workspace: Workspace) -> None:
    put(workspace, make_fact(), make_task())
    db = workspace.db
    assert db.tables() == {"tasks", "facts", "notes", "artifacts", "attempts", "aliases"}
    db.drop_table("facts")
    assert (len(db.table("facts")), len(db.table("tasks"))) == (0, 1)
    db.table("tasks").truncate()
    assert len(db.table("tasks")) == 0
    with pytest.raises(NotFoundError):
        db.table("other")
    with pytest.raises(NotFoundError):
        db.insert({"a": 1})


def test_a_write_reads_no_other_record(workspace: Workspace) -> None:
    fact, *_ = put(workspace, *(make_fact(f"k.{n}", n) for n in range(30)))
    other = Workspace.open(workspace.location)
    other.db.table("facts").update({"value": "x"}, doc_ids=[fact.id])
    other.db.table("facts").insert({"key": "new", "value": 1})
    with other.transaction(PERSON, "x") as tx:
        tx.put(make_fact("newer"))
    assert other.file_reads == 0
