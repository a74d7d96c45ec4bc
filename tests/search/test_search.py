"""What a person finds: any words, exact strings first, in whatever state the index is."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.conftest import Place
from workbench.cli.run import main
from workbench.errors import UsageError
from workbench.services import artifacts, cutting, facts, history, search, tasks
from workbench.services.search import Found
from workbench.store.search_words import Question


def excerpts(found: Found) -> list[str]:
    return [hit.excerpt for hit in found.hits]


def found(place: Place, words: str, **more: Any) -> Found:
    """What a new process that may write nothing finds."""
    return search.search(place.context(read_only=True), words, **more)


def test_messages_facts_notes_and_artifacts_are_found(place: Place) -> None:
    from workbench.domain.ids import new_id
    from workbench.domain.note import Note
    from workbench.domain.record import Stamp

    ctx = place.context()
    place.says("The zebra stripes are drawn twice")
    facts.propose(ctx, "zebra.stripes", "drawn twice")
    (place.folder / "zebra.txt").write_text("x")
    artifacts.add(ctx, place.task, "picture", "zebra.txt", "file")
    with ctx.workspace.transaction("human:dev", "note") as tx:
        tx.put(Note(id=new_id(), key="zoo", value={"animal": "zebra"}, written=Stamp(by="human:dev", at=ctx.stamp())))
    hits = found(place, "zebra").hits
    assert {hit.source_type for hit in hits} == {"message", "fact", "note", "artifact"}
    assert all("zebra" in hit.excerpt.lower() for hit in hits)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("set retries:3 in the client", "retries:3"),
        ("look into src/ui/ first", "src/ui/"),
        ("it is written in c++ and a little c", "c++"),
        ('he said "stop" twice', '"'),
        ("do NOT touch it", "NOT"),
        ("either AND or OR", "AND"),
        ("a star * in the text", "*"),
        ("open (brackets", "("),
        ("key: value^2", "value^2"),
        ("column:words", "column:words"),
        ("naïve café", "cafe"),
        ("fetch_rows() failed", "fetch_rows"),
        ("ＦＵＬＬ width", "full"),
        ("emoji 🦓 here", "🦓"),
        ("100% done", "100%"),
        ("it's over", "it's"),
        ("path C:\\temp\\x", "C:\\temp"),
        ("an arrow -> there", "->"),
    ],
)
def test_any_words_are_a_valid_question(place: Place, said: str, asked: str) -> None:
    place.says("something else entirely")
    place.says(said)
    assert said in excerpts(found(place, asked))


@pytest.mark.parametrize("asked", ["", "   ", "\n\t"])
def test_nothing_to_look_for_is_said(place: Place, asked: str) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        found(place, asked)


@given(st.text(min_size=1, max_size=40))
def test_no_question_breaks_the_query_language(text: str) -> None:
    question = Question.of(text)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
    for asked in (question.whole, question.scattered, question.beginning, *question.words):
        if asked:
            db.execute("SELECT rowid FROM words WHERE words MATCH ?", (asked,)).fetchall()
    db.close()


@pytest.mark.parametrize("asked", ["色", "绿色", "主题颜色", "改成绿色", "カテゴリ", "한국"])
def test_chinese_and_its_neighbours_are_found_at_any_length(place: Place, asked: str) -> None:
    place.says("用户把主题颜色改成绿色 and カテゴリー 한국어")
    place.says("蓝天")
    hits = excerpts(found(place, asked))
    assert len(hits) == 1
    assert asked in hits[0]
    assert excerpts(found(place, "色绿")) == []


def test_exact_strings_come_first(place: Place) -> None:
    place.says("c and d++ and c++ at last")
    place.says("plain c is newer")
    place.says("c++")
    place.says("c again, the newest")
    hits = excerpts(found(place, "c++"))
    assert hits[0] == "c++"
    assert "c++ at last" in hits[1]
    assert len(hits) == 4


def test_stricter_readings_come_before_looser_ones(place: Place) -> None:
    place.says("late answers to builds")
    place.says("the answers came, and they were late")
    place.says("a late answer")
    place.says("late answers")
    hits = excerpts(found(place, "late answers"))
    assert hits[0] == "late answers"
    assert hits[2] == "the answers came, and they were late"
    begun = excerpts(found(place, "late ans"))
    assert begun == ["late answers", "a late answer", "late answers to builds", "the answers came, and they were late"]


def test_where_nothing_holds_all_words_those_with_most_of_them_are_shown(place: Place) -> None:
    place.says("one of them")
    place.says("one two")
    hits = excerpts(found(place, "one two zzz"))
    assert hits == ["one two", "one of them"]


def test_what_was_trimmed_is_found_and_says_so(place: Place) -> None:
    place.runs("make all", "compiled the ocelot module")
    place.says("done")
    ctx = place.context()
    plan = cutting.plan_cut(
        ctx, place.task, [m.message.ref for m in history.show(ctx, place.task).messages[1:2]], "drop"
    )
    cutting.cut(ctx, place.task, plan, yes=True)
    (hit,) = found(place, "ocelot").hits
    assert hit.state == "dropped"


def test_a_superseded_fact_says_so(place: Place) -> None:
    ctx = place.context()
    facts.propose(ctx, "colour", "mauve")
    new = facts.propose(ctx, "colour", "ochre").fact
    facts.confirm(ctx, new.id)
    assert [hit.state for hit in found(place, "mauve").hits] == ["superseded"]
    assert [hit.state for hit in found(place, "ochre").hits] == ["active"]


def test_a_task_narrows_it_to_its_own_and_the_workspaces(place: Place) -> None:
    ctx = place.context()
    other = tasks.new(ctx, {"title": "Other", "objective": "other"})
    place.says("a walrus in the session of the first task")
    facts.propose(ctx, "walrus.here", 1)
    facts.propose(ctx, "walrus.there", 2, scope=other.id)
    mine = found(place, "walrus", task=place.task)
    theirs = found(place, "walrus", task=other)
    assert {hit.source_type for hit in mine.hits} == {"message", "fact"}
    assert mine.total == 2
    assert theirs.total == 2
    assert found(place, "walrus").total == 3


def test_a_limit_says_what_was_left_off(place: Place) -> None:
    for number in range(12):
        place.says(f"lemur {number}")
    some = found(place, "lemur", limit=5)
    assert [hit.excerpt for hit in some.hits] == [f"lemur {n}" for n in (11, 10, 9, 8, 7)]
    assert (some.total, some.left_off) == (12, 7)


def test_secrets_are_neither_shown_nor_in_the_index(place: Place) -> None:
    secret = "ghp_" + "a1B2" * 9
    place.says(f"the token {secret} is for the gazelle")
    assert search.update(place.context())
    assert secret.encode() not in place.index.read_bytes()
    assert secret.lower().encode() not in place.index.read_bytes()
    (hit,) = found(place, "gazelle").hits
    assert secret not in hit.excerpt
    assert found(place, secret).hits[:1] != (hit,)


def test_control_characters_do_not_reach_the_screen(place: Place) -> None:
    place.says("okapi \x1b[31mred\x1b[0m")
    (hit,) = found(place, "okapi").hits
    assert "\x1b" not in hit.excerpt


# The index in every state.


def everything(place: Place) -> list[tuple[str, int]]:
    """Answers to several questions, by a process that may write nothing."""
    answers = []
    for asked in ("heron", "heron reed", "苍鹭", "her"):
        result = found(place, asked)
        answers += [(hit.source_id, hit.score) for hit in result.hits] + [("total", result.total)]
    return answers


def filled(place: Place) -> None:
    for number in range(30):
        place.says(f"heron number {number} in the reed" if number % 3 else f"苍鹭 {number}")
    facts.propose(place.context(), "heron", "grey")


def test_reading_writes_nothing(place: Place) -> None:
    filled(place)
    place.index.unlink(missing_ok=True)
    before = sorted(place.index.parent.iterdir())
    everything(place)
    assert sorted(place.index.parent.iterdir()) == before


def test_the_file_is_for_its_owner_alone(place: Place) -> None:
    old = os.umask(0)
    try:
        place.index.unlink(missing_ok=True)
        assert search.update(place.context())
    finally:
        os.umask(old)
    assert stat.S_IMODE(place.index.stat().st_mode) == 0o600


def test_answers_do_not_depend_on_the_state_of_the_index(place: Place) -> None:
    filled(place)
    place.index.unlink(missing_ok=True)
    without = everything(place)
    assert search.update(place.context())
    assert everything(place) == without
    place.says("one more heron")
    stale = everything(place)
    assert stale != without
    assert search.update(place.context())
    assert everything(place) == stale


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 400)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def torn(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def scribbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE something(else_ TEXT)")
    db.close()


def other_form(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


def linked(path: Path) -> None:
    path.unlink()
    target = path.with_name("elsewhere")
    target.write_bytes(b"")
    path.symlink_to(target)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE = (garbage, empty, torn, scribbled, foreign, other_form, linked, folder)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_never_an_error(place: Place, damage: Any) -> None:
    filled(place)
    search.update(place.context())
    right = everything(place)
    damage(place.index)
    before = place.index.read_bytes() if place.index.is_file() else b""
    assert everything(place) == right
    assert (place.index.read_bytes() if place.index.is_file() else b"") == before
    writer = place.context()
    search.update(writer)
    assert search.search(writer, "heron").total == found(place, "heron").total
    assert everything(place) == right


@pytest.mark.parametrize("damage", [d for d in DAMAGE if d not in (linked, folder)])
def test_whoever_may_write_makes_a_damaged_index_anew(place: Place, damage: Any) -> None:
    filled(place)
    search.update(place.context())
    damage(place.index)
    writer = place.context()
    search.update(writer)
    assert search.update(writer)
    db = sqlite3.connect(place.index)
    assert db.execute("SELECT count(*) FROM texts").fetchone()[0] >= 31
    db.close()


def test_a_link_in_its_place_is_not_followed(place: Place) -> None:
    search.update(place.context())
    linked(place.index)
    assert search.update(place.context())
    assert not place.index.is_symlink()
    assert place.index.with_name("elsewhere").read_bytes() == b""


def test_two_processes_see_what_the_other_wrote(place: Place) -> None:
    one, two = place.context(), place.context()
    place.says("first bittern")
    assert search.search(one, "bittern").total == 1
    assert search.search(two, "bittern").total == 1
    place.says("second bittern")
    assert search.search(two, "bittern").total == 2
    assert search.search(one, "bittern").total == 2
    place.index.unlink()
    assert search.search(one, "bittern").total == 2
    assert search.search(two, "bittern").total == 2


def test_while_another_process_writes_it_answers_from_memory(place: Place) -> None:
    from workbench.store.lock import WriterLock
    from workbench.store.primitives import Tree

    place.says("a lonely curlew")
    with WriterLock(Tree(place.index.parent.parent), relative=".local/search.lock"):
        writer = place.context()
        assert search.search(writer, "curlew").total == 1
        assert search.update(writer) is False
    assert search.update(writer)
    assert search.search(writer, "curlew").total == 1


def test_a_full_disk_is_no_error(place: Place) -> None:
    from workbench.store import primitives

    place.says("a patient egret")
    place.index.unlink(missing_ok=True)

    def full(_: str, path: str) -> None:
        if "search" in path or path == "lock":
            raise OSError(errno.ENOSPC, "No space left on device")

    writer = place.context()
    with primitives.watched(full):
        assert search.search(writer, "egret").total == 1
        assert search.update(writer) is False
    assert search.update(writer)
    assert search.search(writer, "egret").total == 1


def test_a_session_written_anew_is_found_as_it_is_now(place: Place) -> None:
    place.says("an old plover")
    search.update(place.context())
    place.path.write_bytes(place.path.read_bytes().replace(b"an old plover", b"a new dunlin "))
    assert found(place, "plover").total == 0
    assert found(place, "dunlin").total == 1
    long_lived = place.context()
    assert search.search(long_lived, "dunlin").total == 1
    place.path.write_bytes(place.path.read_bytes().replace(b"a new dunlin ", b"one more avocet"))
    assert search.search(long_lived, "dunlin").total == 0
    assert search.search(long_lived, "avocet").total == 1


def test_much_that_went_is_cleared_away(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.store import search_part

    monkeypatch.setattr(search_part, "_WASTE", 10)
    ctx = place.context()
    made = facts.propose(ctx, "teal", "0").fact
    for number in range(1, 40):
        with ctx.workspace.transaction("human:dev", "edit") as tx:
            tx.put(tx.records.facts[made.id].with_(value=str(number)))
        search.update(ctx)
    db = sqlite3.connect(place.index)
    assert db.execute("SELECT seq FROM sqlite_sequence").fetchone()[0] < 30
    db.close()
    assert found(place, "teal 39").hits[0].score == 1000


# The command.


def test_the_command_prints_hits(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ref = place.says("the gannet dives")
    monkeypatch.chdir(place.folder)
    assert main(["search", "gannet", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["total"], document["left_off"]) == (1, 0)
    (hit,) = document["hits"]
    assert hit["source_type"] == "message"
    assert hit["source_id"] == ref
    assert hit["excerpt"] == "the gannet dives"
    assert main(["search", "the", "gannet", "--task", "@"]) == 0
    assert "the gannet dives" in capfd.readouterr().out
    assert main(["search", " "]) == 2
    assert "WORDS: it is empty" in capfd.readouterr().err


def test_a_session_that_is_gone_is_named(place: Place) -> None:
    place.path.unlink()
    assert found(place, "invoices").absent == (f"claude:{place.script.session}",)
