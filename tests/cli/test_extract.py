"""``extract``: from a text, from a session, from many lines; and what ``--propose`` makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.fact import Registry
from workbench.store.location import find_existing
from workbench.store.workspace import Workspace

SESSION = "44444444-5555-4666-8777-888888888888"
NOTES = """decided: REST for v1
port: 8080
wrote openapi.yaml
open: paging on /list, raised last week
we considered GraphQL
"""


def session_file(folder: Path, repo: Path, said: list[tuple[str, str]]) -> Path:
    """A Claude Code session: ``(user or assistant, text)`` in order."""
    lines = []
    for number, (who, text) in enumerate(said):
        content: Any = text if who == "user" else [{"type": "text", "text": text}]
        message = {"role": who, "content": content} | (
            {"id": f"m{number}", "model": "claude-x"} if who != "user" else {}
        )
        lines.append(
            {
                "parentUuid": f"u{number - 1}" if number else None,
                "isSidechain": False,
                "type": who,
                "uuid": f"u{number}",
                "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
                "cwd": str(repo),
                "sessionId": SESSION,
                "version": "2.1.0",
                "message": message,
            }
        )
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def registry(folder: Path) -> Registry:
    return Workspace.open(find_existing(folder)).load().registry


@pytest.fixture
def task(workspace: Path, run: Any) -> str:
    found: str = run("task", "new", "Filter", "--objective", "a filter", "--yes", "--json").json["task"]["id"]
    return found


def test_a_text_needs_no_workspace_and_nothing_is_written(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text(NOTES)
    document = run("extract", "notes.md", "--json").json
    assert [len(document[kind]) for kind in ("facts", "decisions", "artifacts", "open")] == [1, 1, 1, 1]
    assert document["form"] == "record"
    assert document["process"] == 1
    assert set(document["tokens"]) == {"before", "after", "ratio", "tokenizer"}
    (item,) = document["open"]
    assert {"text", "key", "value", "quote", "source", "observed_at"} <= set(item)
    assert item["source"]["line"] == 4
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]


def test_a_clean_record_is_offered_whole(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text(NOTES)
    result = run("extract", "notes.md")
    assert "carry the whole text" in result.err
    at = result.out.index("Settled decisions\n")
    assert "decided: REST for v1" in result.out[at:].splitlines()[1]
    assert "line " in result.out[at:].splitlines()[1]


def test_lines_come_back_with_their_ids(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": 7, "text": "把主题色改成绿色"}, {"id": "b", "text": "要不要用 Redis？"}]
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    out = [json.loads(line) for line in run("extract", "--jsonl", "in.jsonl").out.splitlines()]
    assert out[0]["id"] == 7
    assert [(i["kind"], i["key"], i["value"]) for i in out[0]["items"]] == [("decision", "theme.color", "green")]
    assert out[1] == {"id": "b", "items": [], "process": True}


@pytest.mark.parametrize("argv", [[], ["a", "--session", "b"], ["--jsonl", "-", "a"]])
def test_exactly_one_source_is_wanted(run: Any, argv: list[str]) -> None:
    assert run("extract", *argv).code == 2


def test_a_broken_line_is_named(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "x"}\n{"id": 2}\n')
    result = run("extract", "--jsonl", "in.jsonl")
    assert result.code == 2
    assert "line 2" in result.err


def test_the_model_layer_says_that_it_is_not_there(run: Any) -> None:
    assert run("extract", "x", "--model").code == 2


def test_the_persons_words_challenge_and_an_agents_do_not(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    morning = ("--now", "2026-03-01T09:00:00Z")
    assert run("fact", "propose", "ui.theme.color", "blue", "--yes", *morning).code == 0
    said = [
        ("user", "Please build the filter."),
        ("assistant", "We settled on Redis for the cache."),
        ("user", "Make the theme green instead."),
    ]
    path = session_file(tmp_path, workspace.parent, said)
    done = run("extract", "--session", str(path), "--propose", "@", "--json")
    assert done.code == 0
    found = registry(workspace.parent)
    (blue,) = found.heads("ui.theme.color")
    assert (blue.value, found.lifecycle(blue.id)) == ("blue", "challenged")
    (green,) = found.proposals("ui.theme.color")
    assert (green.value, green.trust) == ("green", "reported")
    assert green.sources[0].quote == "Make the theme green instead."
    assert green.sources[0].ref is not None
    assert green.sources[0].ref.endswith("#u2")
    (redis,) = found.heads("cache")
    assert not redis.reviewed
    assert redis.sources[0].by == "agent:claude"


def test_an_agents_words_do_not_challenge(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    assert run("fact", "propose", "database", "MySQL", "--yes").code == 0
    path = session_file(tmp_path, workspace.parent, [("assistant", "We decided to use PostgreSQL for the database.")])
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    found = registry(workspace.parent)
    (active,) = found.heads("database")
    assert found.lifecycle(active.id) == "active"
    assert [fact.value for fact in found.proposals("database")] == ["PostgreSQL"]


def test_an_agents_constraint_waits_for_a_person(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    path = session_file(tmp_path, workspace.parent, [("assistant", "Do not touch the user table.")])
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    (fact,) = registry(workspace.parent).facts.values()
    assert (fact.kind, fact.acts) == ("constraint", ())


def test_open_items_count_at_once_only_from_the_person(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    said = [("user", "TODO: paging on /list"), ("assistant", "The export button still needs tests.")]
    path = session_file(tmp_path, workspace.parent, said)
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    (record,) = Workspace.open(find_existing(workspace.parent)).load().tasks.values()
    assert [(item.text, item.accepted) for item in record.state.pending] == [
        ("paging on /list", True),
        ("The export button still needs tests.", False),
    ]


def test_proposing_twice_adds_nothing(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    said = [("user", "We decided to use Go. TODO: paging on /list")]
    path = session_file(tmp_path, workspace.parent, said)
    first = run("extract", "--session", str(path), "--propose", "@", "--json").json["proposed"]
    second = run("extract", "--session", str(path), "--propose", "@", "--json").json["proposed"]
    assert (len(first["active"]), len(first["pending"])) == (1, 1)
    assert (second["active"], second["pending"]) == ([], [])
    assert len(registry(workspace.parent).facts) == 1


def test_what_was_refused_is_not_proposed_again_in_other_words(
    run: Any, task: str, workspace: Path, tmp_path: Path
) -> None:
    path = session_file(tmp_path, workspace.parent, [("assistant", "Do not touch the user table.")])
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    (fact,) = registry(workspace.parent).facts.values()
    assert run("fact", "reject", fact.id, "--why", "no", "--yes").code == 0
    path = session_file(tmp_path, workspace.parent, [("assistant", "Please do not touch the user table!")])
    again = run("extract", "--session", str(path), "--propose", "@", "--json").json["proposed"]
    assert [row["why"] for row in again["left_out"]] == ["refused before"]
    assert len(registry(workspace.parent).facts) == 1


def test_a_secret_reaches_no_record(run: Any, task: str, workspace: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = session_file(tmp_path, workspace.parent, [("user", f"We decided to use the token {secret} for CI.")])
    assert run("extract", "--session", str(path), "--propose", "@").code == 0
    assert [p for p in workspace.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()] == []


def test_a_new_task_takes_over_from_a_task_and_says_what_stays(run: Any, task: str, workspace: Path) -> None:
    slug = "filter"
    assert run("fact", "propose", "filter.mode", "multi", "--scope", slug, "--yes").code == 0
    assert run("state", "update", slug, "--pending", "paging on /list", "--pending", "write docs").code == 0
    assert run("state", "update", slug, "--done", "write docs").code == 0
    document = run("task", "new", "Sorting", "--carry", slug, "--yes", "--json").json
    assert document["carried"]["facts"] == 1
    assert [item["text"] for item in document["task"]["state"]["pending"]] == ["paging on /list"]
    assert "1 done items" in document["carried"]["left"]
    (fact,) = registry(workspace.parent).heads("filter.mode", document["task"]["id"])
    assert fact.value == "multi"


def test_a_new_task_takes_over_from_a_session(run: Any, workspace: Path, tmp_path: Path) -> None:
    path = session_file(tmp_path, workspace.parent, [("user", "We decided to use Go. TODO: paging on /list")])
    document = run("task", "new", "Port", "--carry", str(path), "--yes", "--json").json
    assert (document["carried"]["facts"], document["carried"]["open"]) == (1, 1)
    assert [fact.value for fact in registry(workspace.parent).heads("language")] == ["Go"]


def test_nothing_is_made_where_there_is_nothing_to_take_from(run: Any, workspace: Path) -> None:
    assert run("task", "new", "Sorting", "--carry", "no-such-thing", "--yes").code == 3
    assert run("task", "list", "--json").json["tasks"] == []


def test_a_workspaces_phrases_count_once_it_is_trusted(run: Any, workspace: Path) -> None:
    (workspace / "workspace.toml").write_text('[extraction]\nmarkers = ["decision: cast in stone"]\n')
    (workspace.parent / "notes.md").write_text("The header is cast in stone.\n")
    assert run("extract", "notes.md", "--json").json["decisions"] == []
    assert run("trust", "--yes").code == 0
    (item,) = run("extract", "notes.md", "--json").json["decisions"]
    assert item["rule"] == "workspace"


def test_a_phrase_without_a_kind_is_named(run: Any, workspace: Path) -> None:
    assert run("trust", "--yes").code == 0
    (workspace / "workspace.toml").write_text('[extraction]\nmarkers = ["cast in stone"]\n')
    (workspace.parent / "notes.md").write_text("x\n")
    result = run("extract", "notes.md")
    assert result.code == 2
    assert "cast in stone" in result.err


@pytest.fixture
def proposed(run: Any, task: str, workspace: Path) -> str:
    """Notes of which everything was proposed, a claim among it; the id of that change."""
    assert run("fact", "propose", "theme", "blue", "--yes").code == 0
    (workspace.parent / "notes.md").write_text(NOTES)
    done = run("extract", "notes.md", "--propose", "@", "--json").json["proposed"]
    assert (len(done["pending"]), done["claims"]) == (1, 1)
    return str(run("log", "--limit", "1", "--json").json["changes"][0]["id"])


def test_what_was_proposed_is_taken_back_and_the_claim_stays(run: Any, proposed: str, workspace: Path) -> None:
    back = run("undo")
    assert back.code == 0, back.err
    assert "as it was before; 1 claim on record stays" in back.out
    records = Workspace.open(find_existing(workspace.parent)).load()
    assert [fact.key for fact in records.facts.values()] == ["theme"]
    assert [task.state.pending for task in records.tasks.values()] == [()]
    assert [line.kind for line in records.evidence] == ["claim"]
    assert run("undo").code == 0  # what is older is reached
    assert not registry(workspace.parent).facts


def test_a_proposal_whose_place_another_fact_took_is_not_taken_away(run: Any, proposed: str, workspace: Path) -> None:
    (port,) = registry(workspace.parent).group("port")
    assert run("fact", "propose", "port", "9090", "--yes").code == 0
    (new,) = registry(workspace.parent).heads("port")
    assert new.supersedes == (port.id,)
    refused = run("undo", proposed, "--json")
    assert (refused.code, new.id in refused.error["message"] + refused.error["hint"]) == (4, True)
    assert port.id in registry(workspace.parent).facts


def test_a_byte_order_mark_is_no_part_of_a_text(run: Any, task: str, workspace: Path) -> None:
    (workspace.parent / "notes.md").write_text("\ufeffNever push to main.\n", "utf-8")
    done = run("extract", "notes.md", "--json").json
    assert [find["quote"] for find in done["decisions"]] == ["Never push to main."]
    (workspace.parent / "in.jsonl").write_text('\ufeff{"id": 1, "text": "port: 8080"}\n', "utf-8")
    assert json.loads(run("extract", "--jsonl", "in.jsonl").out)["items"][0]["text"] == "port: 8080"


def test_a_proposal_that_waits_is_not_counted_as_a_new_one(run: Any, task: str, workspace: Path) -> None:
    (workspace.parent / "notes.md").write_text("Never push to main.\n", "utf-8")
    first = run("extract", "notes.md", "--propose", "@", "--json").json["proposed"]
    assert len(first["proposed"]) == 1
    again = run("extract", "notes.md", "--propose", "@", "--json").json["proposed"]
    assert again["proposed"] == []
    assert again["left_out"] == [{"text": "Never push to main.", "why": "it is proposed already"}]
    assert "0 proposed" in run("extract", "notes.md", "--propose", "@").out


def test_what_another_wrote_is_proposed_and_what_she_adds_holds(run: Any, task: str, workspace: Path) -> None:
    said = "Another agent reviewed your work:\n\n1. Never rebase main.\n\nPlease go on.\nNever push to release."
    path = session_file(workspace, workspace, [("user", said), ("assistant", "ok")])
    done = run("extract", "--session", str(path), "--propose", "@", "--json").json["proposed"]
    facts = registry(workspace).facts
    assert [facts[name].statement for name in done["proposed"]] == ["Never rebase main."]
    assert [facts[name].statement for name in done["active"]] == ["Never push to release."]


def test_what_is_only_weighed_as_a_rule_is_kept_as_a_decision(run: Any, task: str, workspace: Path) -> None:
    said = "I need you to review the design for errors.\n\nDo not change the schema of the orders table."
    path = session_file(workspace, workspace, [("user", said), ("assistant", "ok")])
    done = run("extract", "--session", str(path), "--propose", "@", "--json").json["proposed"]
    kinds = {fact.statement: fact.kind for fact in registry(workspace).facts.values()}
    assert kinds.pop("Do not change the schema of the orders table.") == "constraint"
    assert "constraint" not in kinds.values()
    assert done["proposed"] == []
