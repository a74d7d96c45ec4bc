"""Codex's sessions are found by the folders that their records name, whatever day they began."""

from __future__ import annotations

from pathlib import Path

import pytest
from codex_records import SESSION, Rollout, identity

from workbench.sessions import FoundSession, discover


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "codex"


def place(home: Path, session: Rollout, day: str = "sessions/2026/03/01") -> Path:
    folder = home / day
    folder.mkdir(parents=True, exist_ok=True)
    return session.write(folder)


def talk(session: str = SESSION, cwd: str = "/srv/shop", text: str = "make it green", **meta: object) -> Rollout:
    made = Rollout(session, cwd, **meta)
    made.turn()
    made.given("<environment_context>\n<cwd>/srv/shop</cwd>\n</environment_context>")
    made.prompt(text)
    made.say("ok")
    return made


def found(home: Path, *folders: str) -> list[FoundSession]:
    return discover([Path(folder) for folder in folders or ("/srv/shop",)], {"CODEX_HOME": str(home), "HOME": "/none"})


def test_by_the_records(home: Path) -> None:
    place(home, talk(cwd="/srv/shop/web"))
    place(home, talk(identity(2), "/srv/shop-2"), "sessions/2026/03/02")
    del_cwd = talk(identity(3), "/elsewhere")
    del_cwd.records[3]["payload"]["content"] = []
    place(home, del_cwd)
    first, second = found(home, "/srv/shop")
    assert {first.id, second.id} == {SESSION, identity(2)}
    (web,) = found(home, "/srv/shop/web")
    assert (web.name, web.title, web.started_at) == (f"codex:{SESSION}", "make it green", "2026-03-01T10:00:01.000Z")
    assert web.updated_at == "2026-03-01T10:00:08.000Z"


def test_archived_ones_too_but_no_sub_agents(home: Path) -> None:
    place(home, talk(), "archived_sessions")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    place(home, talk(identity(2), source=source))
    assert [session.id for session in found(home)] == [SESSION]


def test_a_session_that_moved_into_the_folder_counts(home: Path) -> None:
    session = talk(cwd="/elsewhere")
    session.records[3]["payload"]["content"] = []
    for _ in range(20):
        session.say("x" * 20_000)
    session.turn(2, cwd="/srv/shop")
    place(home, session)
    assert [s.cwd for s in found(home)] == ["/srv/shop"]


def test_a_long_first_line_does_not_hide_a_session(home: Path) -> None:
    place(home, talk(base_instructions={"text": "x" * 200_000}))
    assert [s.title for s in found(home)] == ["make it green"]


def test_a_damaged_first_line_does_not_hide_a_session(home: Path) -> None:
    path = place(home, talk())
    path.write_bytes(b'{"type":"session_meta","payl\n' + path.read_bytes().partition(b"\n")[2])
    assert [s.id for s in found(home)] == [SESSION]


def test_nothing_there(home: Path) -> None:
    assert found(home) == []
