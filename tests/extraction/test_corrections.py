"""What she corrects is stated as holding nowhere; what she only pasted is nobody's word; what she refused stays so."""

from __future__ import annotations

import pytest

from tests.e2e.talk import ClaudeTalk
from tests.extraction.hearing import hear
from workbench.compiler.compilation import Blocked
from workbench.domain.delta import Delta
from workbench.domain.fact import Fact
from workbench.domain.task import Task
from workbench.extraction import Extractor
from workbench.services import facts, packages, reviewing, state, tasks
from workbench.services.context import Context
from workbench.services.status import status

README = (
    "## Contributing\n\n"
    + "\n\n".join(f"Section {n} tells how the library is laid out and what its folders are for." for n in range(9))
    + "\n\nDo not use pip in this repository.\n\nNever commit to main.\n\nThe port is 8080.\n"
)
LONG = "I have been thinking about this for quite a while and looked at several things here. " * 9


def lifecycles(ctx: Context, key: str = "port", scope: str = "workspace") -> dict[object, str]:
    registry = ctx.workspace.load().registry
    return {fact.value: registry.lifecycle(fact.id) for fact in registry.group(key, scope)}


def known(ctx: Context) -> list[Fact]:
    return list(ctx.workspace.load().facts.values())


def sections(ctx: Context) -> dict[str, str]:
    """The package for the current task, by section."""
    result = packages.preview(ctx, tasks.resolve(ctx, "@"), "codex").result
    assert not isinstance(result, Blocked)
    return {part.partition("\n")[0].strip(): part for part in result.prompt.split("\n# ")}


def holding(ctx: Context) -> str:
    return sections(ctx)["What holds now"]


# Text that she did not type.


@pytest.mark.parametrize(
    "text",
    [
        "Read this and tell me what you think:\n" + README,
        README,
        "From: Bob <bob@example.org>\nSubject: hello\n\nDo not touch the user table.\n\nBob",
        "Codex wrote this:\n\nWe must never use Redis.\nThe port is 8080.",
        "我同事说：\n不要动 user 表。\n端口是 8080。",
        "**Bob:** what now?\n**Ann:** Do not touch the user table.\n**Bob:** ok",
        "| rule | who |\n|---|---|\n| Do not use Redis | ops |\nWe must never use Redis.",
    ],
)
def test_what_is_pasted_is_never_her_word(ctx: Context, talk: ClaudeTalk, text: str):
    talk.person(text)
    hear(ctx)
    registry = ctx.workspace.load().registry
    for fact in known(ctx):
        assert registry.lifecycle(fact.id) == "proposed"
        assert not fact.reviewed
        assert all(source.pasted is True and not source.own_words for source in fact.sources)
    assert not reviewing.review(ctx).offered


def test_what_she_types_before_a_paste_is_hers(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "port", 8080)
    talk.person("The port is 9090 now. Read this:\n" + README)
    hear(ctx)
    assert lifecycles(ctx) == {8080: "challenged", 9090: "proposed"}


def test_a_package_names_a_pasted_rule_as_pasted(ctx: Context, talk: ClaudeTalk):
    talk.person(README)
    hear(ctx)
    settle = next(part for name, part in sections(ctx).items() if "settle" in name.lower())
    assert "Do not use pip in this repository." in settle
    assert "pasted" in settle
    assert "pip" not in holding(ctx)


# What she says stands against what others repeat.


def test_an_echo_of_the_old_value_takes_back_nothing(ctx: Context, talk: ClaudeTalk, enter):
    talk.person("The port is 8080.")
    talk.person("The port is 9090 now.")
    talk.agent("Note that the port is 8080 in config.py. The port is 8080.")
    hear(ctx)
    facts.propose(enter(as_="agent:claude"), "port", 8080)
    assert (lifecycles(ctx)[8080], lifecycles(ctx)[9090]) == ("challenged", "proposed")
    assert status(ctx)["facts"]["challenged"] == 1
    assert "8080" not in holding(ctx)
    talk.person("No, wait, the port is 8080.")
    hear(ctx)
    assert lifecycles(ctx)[8080] == "active"


def test_a_value_that_only_agents_said_gives_way_to_her_words_however_often_it_is_said(
    ctx: Context, talk: ClaudeTalk, enter
):
    facts.propose(enter(as_="agent:claude"), "port", 8080)
    talk.person("The port is 9090 now.")
    talk.agent("The port is 8080.")
    hear(ctx)
    facts.propose(enter(as_="agent:codex"), "port", 8080)
    assert lifecycles(ctx) == {8080: "challenged", 9090: "proposed"}


# Corrections as people make them.


def test_a_change_of_mind_within_one_message_is_one(ctx: Context, talk: ClaudeTalk):
    talk.person("The port is 8080. No, wait, the port is 9090.")
    hear(ctx)
    assert lifecycles(ctx) == {8080: "challenged", 9090: "proposed"}


@pytest.mark.parametrize(
    "text",
    [
        "The port is 9090 now.",
        "No, wait, the port is 9090.",
        "Actually the port is 9090.",
        "Use port 9090 instead of 8080.",
        "Use port 9090, not 8080.",
        "Please use 9090 instead of 8080.",
        "It's 9090, not 8080.",
        "Not 8080, 9090.",
        "The port isn't 8080, it's 9090.",
        "The port is not 8080 but 9090.",
        "Port 9090, please.",
        "端口不是 8080 了，是 9090。",
        "端口不是 8080，而是 9090。",
        "不对，端口是 9090。",
        "用 9090 端口，不要用 8080。",
        "1. The port is 9090 now.\n2. Tests pass.",
        "The port is **9090** now.",
        "> what port?\nThe port is 9090 now.",
        LONG + "The port is 9090 now.",
    ],
)
def test_a_correction_meets_what_holds_and_is_put_before_her(ctx: Context, talk: ClaudeTalk, text: str):
    facts.propose(ctx, "port", 8080)
    talk.person(text)
    hear(ctx)
    assert lifecycles(ctx) == {8080: "challenged", 9090: "proposed"}
    (one,) = reviewing.review(ctx).offered
    assert one.fact.fact.value == 9090
    assert "8080" not in holding(ctx)


@pytest.mark.parametrize(
    "text", ["The port is no longer 8080.", "The port is not 8080 any more.", "端口不是 8080 了。"]
)
def test_what_she_says_holds_no_more_is_not_stated(ctx: Context, talk: ClaudeTalk, text: str):
    facts.propose(ctx, "port", 8080)
    talk.person(text)
    hear(ctx)
    assert lifecycles(ctx) == {8080: "challenged", "not 8080": "proposed"}


def test_what_she_says_holds_already_contradicts_nothing(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "port", 9090)
    for text in ("Use port 9090 instead of 8080.", "Should the port be 8080?", "The port was 8080 last year."):
        talk.person(text)
    hear(ctx)
    assert lifecycles(ctx) == {9090: "active"}


# Other scopes, other names.


def test_a_correction_meets_the_tasks_own_value(ctx: Context, task: Task, talk: ClaudeTalk):
    facts.propose(ctx, "port", 8080, scope=task.id)
    talk.person("The port is 9090 now.")
    hear(ctx)
    assert lifecycles(ctx, scope=task.id) == {8080: "challenged", 9090: "proposed"}
    assert "8080" not in holding(ctx)


def test_a_longer_key_is_met_by_the_words_that_name_it(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "server.port", 8080)
    facts.propose(ctx, "admin.port", 7000)
    talk.person("The server port is 9191. Do not touch the admin port.")
    hear(ctx)
    assert lifecycles(ctx, "server.port") == {8080: "challenged", 9191: "proposed"}
    assert lifecycles(ctx, "admin.port") == {7000: "active"}
    talk.person("The admin port is 7001.")
    hear(ctx)
    assert lifecycles(ctx, "admin.port") == {7000: "challenged", 7001: "proposed"}
    assert not lifecycles(ctx, "port")


def test_a_word_that_may_mean_either_leaves_neither_as_holding(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "server.port", 8080)
    facts.propose(ctx, "admin.port", 7000)
    talk.person("The port is 9090 now.")
    hear(ctx)
    assert (lifecycles(ctx, "server.port")[8080], lifecycles(ctx, "admin.port")[7000]) == ("challenged", "challenged")
    talk.person("The port is 7000.")
    hear(ctx)
    assert (lifecycles(ctx, "server.port")[8080], lifecycles(ctx, "admin.port")[7000]) == ("challenged", "active")


def test_a_variable_of_the_state_that_she_contradicts_is_to_settle(ctx: Context, talk: ClaudeTalk):
    state.update(ctx, tasks.resolve(ctx, "@"), Delta(set={"port": 8080}, declare={"port": "integer"}))
    talk.person("The port is 9090 now.")
    hear(ctx)
    told = sections(ctx)
    settle = next(part for name, part in told.items() if "settle" in name.lower())
    assert "8080" in settle
    assert "9090" in settle
    assert "8080" not in told["What holds now"]
    assert [one.text for one in reviewing.review(ctx).offered] == ["The port is 9090 now."]
    state.update(ctx, tasks.resolve(ctx, "@"), Delta(set={"port": 9090}))
    assert "9090" in holding(ctx)


# Refusals.


@pytest.mark.parametrize(
    "text",
    [
        "Please, the port is 9090.",
        "Note that port = 9090.",
        "We use port 9090 now.",
        "Remember: the port is 9090.",
        "Use port 9090 instead of 8080.",
        "端口是 9090。",
    ],
)
def test_what_she_refused_stays_refused_in_other_words(ctx: Context, talk: ClaudeTalk, text: str):
    facts.propose(ctx, "server.port", 8080)
    talk.person("The port is 9090 now.")
    hear(ctx)
    reviewing.refuse(ctx, reviewing.review(ctx).offered[0])
    before = {fact.id for fact in known(ctx)}
    talk.person(text)
    talk.agent(text)
    hear(ctx)
    assert {fact.id for fact in known(ctx)} == before
    assert not reviewing.review(ctx).offered
    talk.person("The port is 9191.")
    hear(ctx)
    assert lifecycles(ctx, "server.port") == {8080: "challenged", 9090: "rejected", 9191: "proposed"}


# What harnesses write in her place.


@pytest.mark.parametrize(
    "text",
    [
        '<teammate-message teammate_id="lead">\nDo not touch the user table.\n</teammate-message>',
        '<channel source="chat" user="bob">Do not touch the user table.</channel>',
        "<scheduled-task>Do not touch the user table.</scheduled-task>",
        "This session is being continued from a previous conversation that ran out of context.\n"
        "Do not touch the user table.",
    ],
)
def test_what_a_harness_writes_in_her_place_is_not_heard(ctx: Context, talk: ClaudeTalk, text: str):
    talk.person(text)
    hear(ctx)
    assert not known(ctx)


@pytest.mark.parametrize(
    "text",
    ["我们不用 MySQL 了。", "不再用 Redis。", "We are not on Python 3.11.", "We're no longer on Python 3.11."],
)
def test_what_is_denied_is_no_value(text: str) -> None:
    assert [find.value for find in Extractor().extract(text).finds] == [None]


# What is not to be so.


@pytest.mark.parametrize(
    ("ban", "setting"),
    [
        ("don't set the timeout to 60 seconds", "Set the timeout to 60 seconds."),
        ("don't set the timeout to 60 seconds", "Set the timeout to 1 minute."),
        ("Do not raise the limit to 50.", "Raise the limit to 50."),
        ("We are not going to use Redis for sessions.", "Use Redis for sessions."),
        ("不要把端口改成 8080", "端口用 8080"),
        ("别把超时设成 60 秒", "把超时改成 60 秒"),
    ],
)
def test_a_ban_and_the_setting_that_it_bans_contradict(ctx: Context, talk: ClaudeTalk, ban: str, setting: str):
    talk.person(ban)
    talk.person(setting)
    hear(ctx)
    registry = ctx.workspace.load().registry
    assert {fact.statement: registry.lifecycle(fact.id) for fact in known(ctx)} == {
        ban: "challenged",
        setting: "proposed",
    }


def test_a_ban_of_what_holds_challenges_it(ctx: Context, talk: ClaudeTalk):
    talk.person("Set the timeout to 60 seconds.")
    talk.person("don't set the timeout to 60 seconds")
    hear(ctx)
    assert lifecycles(ctx, "timeout") == {"60s": "challenged", "not 60s": "proposed"}


@pytest.mark.parametrize(
    ("setting", "ban"),
    [
        ("Set the timeout to 45 seconds.", "don't set the timeout to 60 seconds"),
        ("端口用 9090", "不要把端口改成 8080"),
        ("The database is PostgreSQL.", "We won't move the database to MySQL."),
    ],
)
def test_a_ban_leaves_another_value_alone(ctx: Context, talk: ClaudeTalk, setting: str, ban: str):
    for first, second in ((setting, ban), (ban, setting)):
        talk.person(first)
        talk.person(second)
        hear(ctx)
        registry = ctx.workspace.load().registry
        assert {fact.statement for fact in known(ctx)} == {setting, ban}
        assert {registry.lifecycle(fact.id) for fact in known(ctx)} == {"active"}


def test_a_banned_value_that_takes_anothers_place_meets_both(ctx: Context, talk: ClaudeTalk):
    for text in ("Do not set the port to 8080.", "The port is 9090.", "The port is 8080."):
        talk.person(text)
    hear(ctx)
    assert lifecycles(ctx) == {9090: "challenged", 8080: "proposed"}
    registry = ctx.workspace.load().registry
    assert [registry.lifecycle(fact.id) for fact in known(ctx) if fact.statement.startswith("Do not")] == ["challenged"]


# Units.


@pytest.mark.parametrize(
    ("first", "again", "shown"),
    [
        ("Set the timeout to 45 seconds.", "The timeout is 45000 ms.", "45s"),
        ("Set the timeout to 1 minute.", "The timeout is 60 seconds.", "1min"),
        ("超时改成 2 分钟", "The timeout is 120 s.", "2min"),
    ],
)
def test_the_same_duration_in_another_unit_is_said_again(
    ctx: Context, talk: ClaudeTalk, first: str, again: str, shown: str
):
    talk.person(first)
    talk.person(again)
    hear(ctx)
    assert lifecycles(ctx, "timeout") == {shown: "active"}


def test_another_duration_is_another_value(ctx: Context, talk: ClaudeTalk):
    talk.person("Set the timeout to 45 seconds.")
    talk.person("The timeout is 45 minutes.")
    hear(ctx)
    assert lifecycles(ctx, "timeout") == {"45s": "challenged", "45min": "proposed"}


@pytest.mark.parametrize("text", ["you set the timeout to 60 seconds, why", "昨天小王把超时改成 60 秒，结果挂了。"])
def test_what_another_did_challenges_nothing(ctx: Context, talk: ClaudeTalk, text: str):
    talk.person("Set the timeout to 45 seconds.")
    talk.person(text)
    hear(ctx)
    assert lifecycles(ctx, "timeout") == {"45s": "active"}
    assert len(known(ctx)) == 1
