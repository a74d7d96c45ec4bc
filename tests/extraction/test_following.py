"""Sessions are heard as they grow: each message once, few lines before the person, the rest kept, counted nowhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.talk import ClaudeTalk
from tests.extraction.hearing import hear
from workbench.extraction import Extractor
from workbench.services import changes, facts, offers, packages, reviewing, tasks
from workbench.services.context import Context
from workbench.services.following import Follower, heard
from workbench.services.status import status
from workbench.services.viewing import build_view

CONSTRAINTS = [f"Do not touch the {name} table." for name in ("user", "order", "price", "stock", "staff")]


def values(ctx: Context) -> dict[str, object]:
    return {fact.key: fact.value for fact in ctx.workspace.load().facts.values()}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_who_says_it_decides_what_becomes_of_it(ctx: Context, talk: ClaudeTalk):
    talk.person("Do not touch the user table.")
    talk.agent("We settled on Redis for the cache. Never log the order table.\n\n- [ ] paging on /list")
    talk.tool("decision: use MongoDB\nDo not touch the staff table.")
    hear(ctx)
    found = values(ctx)
    assert (found["user_table"], found["cache"]) == ("do not touch", "Redis")
    assert "MongoDB" not in map(str, found.values())
    assert not any("staff" in key for key in found)
    rows = {row.key: row for row in build_view(ctx).facts}
    mine, redis = rows["user_table"], rows["cache"]
    assert (mine.lifecycle, mine.asked, mine.fact.trust) == ("active", True, "reported")
    assert (redis.lifecycle, redis.asked, redis.fact.reviewed) == ("active", False, False)
    assert mine.fact.sources[0].ref.startswith(talk_name(talk) + "#")
    assert (mine.fact.sources[0].by, mine.fact.sources[0].quote) == ("human:dev", "Do not touch the user table.")
    (item,) = build_view(ctx).task.task.state.pending
    assert (item.text, item.accepted, item.by) == ("paging on /list", False, "agent:claude")


def talk_name(talk: ClaudeTalk) -> str:
    return f"claude:{talk.path.stem}"


def test_what_an_agent_said_is_counted_nowhere_and_found_by_its_words(ctx: Context, talk: ClaudeTalk):
    talk.agent("Do not touch the user table.\n\nWe settled on Redis for the cache.")
    hear(ctx)
    told = status(ctx)
    assert told["facts"] == {"active": 0, "proposed": 0, "challenged": 0, "contested": 0, "unreviewed": 2}
    assert told["needs_you"] == []
    assert {one.text for one in reviewing.review(ctx).rest} == {
        "Do not touch the user table.",
        "We settled on Redis for the cache.",
    }


def test_nothing_comes_twice_after_a_restart_and_where_the_place_was_lost(
    ctx: Context, enter: Callable[..., Context], talk: ClaudeTalk, folder: Path
):
    talk.person("Do not touch the user table. TODO: paging on /list")
    talk.agent("Wrote docs/openapi.yaml. We settled on Redis for the cache.")
    hear(ctx)
    before = ctx.workspace.load()
    hear(enter())
    assert enter().workspace.load().revision == before.revision
    ctx.workspace.local.set("heard", None)
    hear(enter())
    after = enter().workspace.load()
    assert after.facts == before.facts
    assert len(after.evidence) == len(before.evidence)
    assert [t.state.pending for t in after.tasks.values()] == [t.state.pending for t in before.tasks.values()]
    assert len(offers.rows(ctx)) == len({row.id for row in offers.rows(ctx)})


def test_two_programs_at_once_propose_once(ctx: Context, enter: Callable[..., Context], talk: ClaudeTalk):
    one, two = Follower(ctx), Follower(enter())
    for text in CONSTRAINTS[:3]:
        talk.person(text)
        one.step()
        two.step()
    hear(ctx, one)
    hear(ctx, two)
    assert len(values(ctx)) == 3
    assert len(ctx.workspace.load().facts) == len(offers.rows(ctx)) == 3


def test_two_programs_in_a_race_propose_once(ctx: Context, enter: Callable[..., Context], talk: ClaudeTalk):
    for number in range(120):
        talk.person(f"Do not touch the table{number} table.")
    contexts = [ctx, enter()]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(hear, contexts))
    found = enter().workspace.load().facts.values()
    assert len(found) == len({fact.key for fact in found}) == 120
    assert all(len(fact.sources) == 1 for fact in found)
    assert (len(offers.rows(ctx)), build_view(ctx).offered) == (120, 3)


def test_only_what_is_new_is_read(ctx: Context, talk: ClaudeTalk, monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    real = Extractor.extract
    monkeypatch.setattr(Extractor, "extract", lambda self, text, *more: read.append(text) or real(self, text, *more))
    for number in range(120):
        talk.agent(f"I look at file {number}.")
    follower = hear(ctx)
    assert len(read) == 121
    talk.person("Do not touch the user table.")
    talk.tool("x" * 100)
    hear(ctx, follower)
    hear(ctx)
    assert len(read) == 122


def test_between_any_two_messages_others_may_have_their_turn(ctx: Context, talk: ClaudeTalk):
    talk.person("Do not touch the user table.")
    talk.tool("not said by anybody")
    talk.agent("We settled on Redis for the cache.")
    turns: list[int] = []
    assert Follower(ctx).step(lambda: turns.append(len(values(ctx))))
    assert turns == [0, 0, 0]  # with the prompt that a talk begins with
    assert set(values(ctx)) == {"user_table", "cache"}


def test_what_is_given_up_within_a_message_is_heard_once_after_a_restart(
    ctx: Context, enter: Callable[..., Context], talk: ClaudeTalk
):
    talk.person(" ".join(CONSTRAINTS))
    left = iter(range(4))
    with pytest.raises(StopIteration):
        Follower(ctx).step(lambda: next(left))
    assert (values(ctx), heard(ctx)) == ({}, {})
    hear(enter())
    hear(enter())
    assert len(values(ctx)) == len(offers.rows(ctx)) == len(CONSTRAINTS)
    assert heard(ctx)[talk_name(talk)].said == 2


def test_a_read_only_program_and_an_agents_write_nothing(
    ctx: Context, enter: Callable[..., Context], talk: ClaudeTalk, folder: Path
):
    talk.person("Do not touch the user table.")
    before = files(folder)
    assert not Follower(enter(read_only=True)).step()
    assert not Follower(enter(as_="agent:claude")).step()
    assert files(folder) == before


def test_what_an_agent_said_makes_no_package_stale_and_what_the_person_said_does(ctx: Context, talk: ClaudeTalk):
    packages.prepare(ctx, tasks.resolve(ctx, "@"), "codex")
    talk.agent("Do not touch the user table. We settled on Redis for the cache.")
    follower = hear(ctx)
    assert not any(row.stale for row in build_view(ctx).packages)
    talk.person("Do not touch the order table.")
    hear(ctx, follower)
    assert all(row.stale for row in build_view(ctx).packages)


def test_three_stand_before_the_person_and_the_others_move_up(ctx: Context, talk: ClaudeTalk):
    talk.person(" ".join(CONSTRAINTS))
    hear(ctx)
    assert len(ctx.workspace.load().facts) == 5
    review = reviewing.review(ctx)
    assert (len(review.offered), review.held) == (3, 2)
    view = build_view(ctx)
    assert (view.offered, sum(row.asked for row in view.facts)) == (3, 3)
    assert [need.text for need in view.needs_you] == ["3 lines of your sessions to keep or refuse"]
    first = review.offered[0]
    reviewing.accept(ctx, first)
    assert ctx.workspace.load().facts[first.id].trust == "authoritative"
    review = reviewing.review(ctx)
    assert (len(review.offered), review.held) == (3, 1)
    assert first.id not in {one.id for one in review.offered}


def test_ten_a_day(ctx: Context, talk: ClaudeTalk):
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omega"]
    talk.person(" ".join(f"Do not touch the {name} table." for name in names))
    hear(ctx)
    seen = set()
    while offered := reviewing.review(ctx).offered:
        seen |= {one.id for one in offered}
        reviewing.skip(ctx, offered[0])
    assert len(seen) == 10
    assert reviewing.review(ctx).held == 2


def test_a_refusal_is_remembered_in_other_words_too_and_undone(ctx: Context, talk: ClaudeTalk):
    talk.person("Do not touch the user table.")
    talk.agent("- [ ] add paging to the /list page")
    follower = hear(ctx)
    for one in reviewing.review(ctx).offered:
        reviewing.refuse(ctx, one)
    assert not reviewing.review(ctx).offered
    talk.person("Please do not touch the user table!")
    talk.agent("- [ ] please add paging to the /list page")
    hear(ctx, follower)
    assert not reviewing.review(ctx).offered
    assert not build_view(ctx).task.task.state.pending
    changes.undo(ctx)
    changes.undo(ctx)
    assert {one.kind for one in reviewing.review(ctx).offered} == {"constraint", "open"}


def test_the_persons_later_words_challenge_and_are_settled(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "ui.theme.color", "blue")
    talk.agent("把主题色改成黑色。")
    talk.person("把主题色改成绿色。")
    hear(ctx)
    (one,) = reviewing.review(ctx).offered
    assert (one.text, one.language, one.fact.against[0].value) == ("把主题色改成绿色。", "zh", "blue")
    assert [need.code for need in build_view(ctx).needs_you] == ["challenged"]
    reviewing.accept(ctx, one)
    registry = ctx.workspace.load().registry
    (head,) = registry.heads("ui.theme.color")
    assert (head.value, head.trust) == ("green", "authoritative")
    assert registry.lifecycle(head.supersedes[0]) == "superseded"


def test_what_is_pasted_contradicts_nothing(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "port", 3000)
    talk.person("```\nx\n```\n**port: 8080**")
    hear(ctx)
    registry = ctx.workspace.load().registry
    assert registry.lifecycle(registry.heads("port")[0].id) == "active"
    assert not reviewing.review(ctx).offered


def test_a_line_is_corrected_while_it_is_kept(ctx: Context, talk: ClaudeTalk):
    talk.person("Do not touch the user table.")
    talk.agent("- [ ] add paging to the /list page")
    hear(ctx)
    rule, item = reviewing.review(ctx).offered
    reviewing.accept(ctx, rule, "do not drop")
    registry = ctx.workspace.load().registry
    (head,) = registry.heads("user_table")
    assert (head.value, head.trust, registry.lifecycle(rule.id)) == ("do not drop", "authoritative", "superseded")
    reviewing.accept(ctx, item, text="paging on /list, 50 a page")
    assert [one.text for one in build_view(ctx).task.task.state.pending] == ["paging on /list, 50 a page"]
    assert not reviewing.review(ctx).offered
    changes.undo(ctx)
    (again,) = reviewing.review(ctx).offered
    assert (again.id, again.text, again.accepted) == (item.id, "add paging to the /list page", False)


def test_what_it_saves_is_measured(ctx: Context, talk: ClaudeTalk):
    talk.person("Good morning! How are you today? I have slept well, thank you. Do not touch the user table.")
    hear(ctx)
    told = heard(ctx)[talk_name(talk)]
    assert told.said == 2
    assert told.process >= 3
    assert told.before > told.after > 0
    assert reviewing.review(ctx).heard.ratio == told.ratio > 1


def test_what_an_agent_leaves_open_is_listed_as_far_as_anybody_looks_and_hers_always(ctx: Context, talk: ClaudeTalk):
    talk.agent("\n".join(f"- [ ] write page_{number}.md" for number in range(130)))
    talk.person("TODO: paging on /list")
    hear(ctx)
    pending = build_view(ctx).task.task.state.pending
    assert len(pending) == 101
    assert [item.text for item in pending if item.accepted] == ["paging on /list"]
