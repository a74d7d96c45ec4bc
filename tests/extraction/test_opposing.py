"""What she takes back without naming a key is shown as holding nowhere; nothing else is called into doubt by it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.e2e.talk import ClaudeTalk
from tests.extraction.hearing import hear
from workbench.compiler.compilation import Blocked
from workbench.extraction import Extractor, Place
from workbench.extraction.opposing import KEPT, TAKES_BACK, TURNS, opening, opposes
from workbench.services import extraction, facts, packages, proposing, reviewing, tasks
from workbench.services.context import Context
from workbench.services.viewing import build_view

PAIRS = [
    ("Fields need no quotes.", "Always quote every field."),
    ("Fields need no quotes.", "Actually, fields do need quotes."),
    ("We don't need authentication.", "Authentication is required."),
    ("Never log requests.", "Log every request."),
    ("Log every request.", "Don't log requests any more."),
    ("Headers are optional.", "Headers are required now."),
    ("Show the sidebar by default.", "Hide the sidebar by default."),
    ("Exports must include the header row.", "Exports must not include the header row."),
    ("Tests run in parallel.", "Tests run sequentially."),
    ("Skip empty rows.", "Keep empty rows."),
    ("No need to validate dates.", "Dates must be validated."),
    ("字段不需要加引号。", "每个字段都要加引号。"),
    ("导出要带表头。", "导出不要带表头。"),
    ("导出要带表头。", "导出别带表头了。"),
    ("不用写测试。", "测试还是要写。"),
    ("空行跳过。", "空行保留。"),
    ("日期不用校验。", "日期必须校验。"),
    ("默认显示侧边栏。", "默认隐藏侧边栏。"),
]
APART = [
    ("The first column must be sortable.", "The last column must be sortable."),
    ("最大值要校验。", "最小值要校验。"),
    ("Run the tests.", "Do not run the tests on Windows."),
    ("Do not log user names.", "Log user ids."),
    ("Don't use Redis for sessions.", "Use Redis."),
    ("Do not touch it.", "We touch the table."),
    ("Do not deploy on Fridays.", "Deploy the docs every day."),
    ("Only admins may delete rows.", "Members may not delete rows."),
    ("Use tabs in Makefiles.", "Do not use tabs in Python."),
    ("No tests are skipped.", "Nine, not ten, tests."),
    ("Retry twice.", "Do not retry 4 times."),
    ("No sidebar.", "Drop the sidebar."),
    ("字段不需要加引号。", "日期不需要校验。"),
    ("不要动用户表。", "用户表要加索引。"),
    ("微前端不上。", "微前端：不上。"),
    ("服务没状态。", "服务无状态。"),
    ("别改接口。", "除非我同意，否则别改接口。"),
    ("Fields need no quotes.", "字段要加引号。"),
]
WORDS = st.sampled_from(["widget", "ledger", "parser", "cache", "banner", "invoice", "socket", "mirror", "folder"])
VERBS = st.sampled_from(["quote", "compress", "rename", "index", "publish", "translate", "sort", "upload"])
SAYS = st.sampled_from(
    ["always {0} the {1}", "never {0} the {1}", "do not {0} the {1}", "{0} every {1}", "we must {0} each {1}",
     "there is no need to {0} the {1}", "the {1} must not {0}", "no, {0} the {1}", "that's wrong: {0} every {1}"]
)  # fmt: skip
WORDS_ZH = st.sampled_from(["报表", "日志", "订单", "图片", "菜单", "索引", "邮件", "缓存", "按钮"])
VERBS_ZH = st.sampled_from(["压缩", "翻译", "排序", "上传", "发布", "备份", "加密", "打印"])
SAYS_ZH = st.sampled_from(
    ["{1}必须{0}", "{1}不用{0}", "不要{0}{1}", "每个{1}都要{0}", "禁止{0}{1}", "不对，{1}要{0}", "{1}不{0}"]
)
FRAMES = st.sampled_from(["{0}", "{0}!", "Please {0}", "So {0}.", "{0} from now on", "OK, {0}", "Actually, {0}"])
FRAMES_ZH = st.sampled_from(["{0}", "{0}。", "请{0}", "以后{0}", "其实{0}", "现在{0}了"])


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_the_contrary_is_heard_whichever_was_said_first(before: str, after: str) -> None:
    assert opposes(after, before)
    assert opposes(before, after)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_leaves_the_other_as_it_is_contradicts_nothing(one: str, other: str) -> None:
    assert not opposes(other, one)
    assert not opposes(one, other)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("No, that's wrong: always quote every field.", TAKES_BACK),
        ("Scratch that, quote all fields.", TAKES_BACK),
        ("No need to quote.", KEPT),
        ("Actually we do need it.", TURNS),
        ("Wait for the lock.", KEPT),
        ("不对，字段要加引号。", TAKES_BACK),
        ("不是，字段要加引号。", TAKES_BACK),
        ("改一下，测试要写。", TAKES_BACK),
        ("不对齐也行。", KEPT),
        ("不加引号。", KEPT),
        ("其实要写测试。", TURNS),
    ],
)
def test_an_opening_says_whether_something_is_taken_back(text: str, how: int) -> None:
    assert opening(text) == how


def test_what_takes_back_the_message_before_may_put_another_thing_in_its_place() -> None:
    assert opposes("No, that's wrong: retry five times.", "Retry three times.", answers=True)
    assert not opposes("No, that's wrong: retry five times.", "Retry three times.")
    assert not opposes("No, the tests go into tests/unit.", "Tests run in parallel.", answers=True)
    assert not opposes("No, fields need no quotes in the header.", "Fields need no quotes.", answers=True)


@given(SAYS, WORDS, VERBS, SAYS, WORDS, VERBS, st.booleans())
def test_of_unrelated_statements_none_contradicts_another(
    one: str, word: str, verb: str, other: str, word2: str, verb2: str, answers: bool
) -> None:
    assume(word != word2 and verb != verb2)
    assert not opposes(other.format(verb2, word2), one.format(verb, word), answers=answers)


@given(SAYS_ZH, WORDS_ZH, VERBS_ZH, SAYS_ZH, WORDS_ZH, VERBS_ZH, st.booleans())
def test_of_unrelated_statements_none_contradicts_another_in_chinese(
    one: str, word: str, verb: str, other: str, word2: str, verb2: str, answers: bool
) -> None:
    assume(word != word2 and verb != verb2)
    assert not opposes(other.format(verb2, word2), one.format(verb, word), answers=answers)


@given(st.one_of(SAYS, st.sampled_from([text for pair in PAIRS[:11] for text in pair])), WORDS, VERBS, FRAMES)
def test_a_statement_never_contradicts_itself_in_other_words(one: str, word: str, verb: str, frame: str) -> None:
    text = one.format(verb, word)
    assert not opposes(frame.format(text[0].lower() + text[1:].rstrip(".")), text, answers=True)


@given(
    st.one_of(SAYS_ZH, st.sampled_from([text for pair in PAIRS[11:] for text in pair])), WORDS_ZH, VERBS_ZH, FRAMES_ZH
)
def test_a_statement_never_contradicts_itself_in_other_words_in_chinese(
    one: str, word: str, verb: str, frame: str
) -> None:
    text = one.format(verb, word)
    assert not opposes(frame.format(text.rstrip("。")), text, answers=True)


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_said_can_be_set_against_anything(one: str, other: str) -> None:
    assert not opposes(one, one, answers=True)
    opposes(one, other, opens=TAKES_BACK, answers=True)


# In a workspace.


def lifecycles(ctx: Context) -> dict[str, str]:
    registry = ctx.workspace.load().registry
    return {fact.line: registry.lifecycle(fact.id) for fact in registry.facts.values()}


def sections(ctx: Context) -> dict[str, str]:
    result = packages.preview(ctx, tasks.resolve(ctx, "@"), "codex").result
    assert not isinstance(result, Blocked)
    return {part.partition("\n")[0].strip(): part for part in result.prompt.split("\n# ")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We decided that fields need no quotes.", "No, that's wrong: always quote every field."),
        ("We decided that fields need no quotes.", "No, that's wrong. Always quote every field."),
        ("We don't need authentication.", "Authentication is required."),
        ("We don't need authentication.", "Actually we do need authentication."),
        ("No need to validate dates.", "Dates must be validated."),
        ("Exports must include the header row.", "Exports must not include the header row."),
        ("日期不用校验。", "日期必须校验。"),
        ("字段不需要加引号。", "不对，每个字段都要加引号。"),
        ("导出不要带表头。", "错了，导出要带表头。"),
    ],
)
def test_what_she_takes_back_without_a_key_is_to_settle(ctx: Context, talk: ClaudeTalk, before: str, after: str):
    talk.person(before)
    talk.agent("I see.")
    follower = hear(ctx)
    assert lifecycles(ctx) == {before: "active"}
    talk.person(after)
    hear(ctx, follower)
    said = next(line for line in lifecycles(ctx) if line != before)
    assert lifecycles(ctx) == {before: "challenged", said: "proposed"}
    assert [need.code for need in build_view(ctx).needs_you] == ["challenged"]
    told = sections(ctx)
    settle = next(part for name, part in told.items() if "settle" in name.lower())
    assert before.rstrip(".。") in settle
    assert said.rstrip(".。") in settle
    assert before.rstrip(".。") not in told.get("What holds now", "")
    one = next(one for one in reviewing.review(ctx).offered if one.text == said)
    reviewing.accept(ctx, one)
    assert lifecycles(ctx) == {before: "superseded", said: "active"}


def test_what_is_repeated_corroborates_and_what_an_agent_says_takes_back_nothing(ctx: Context, talk: ClaudeTalk):
    talk.person("We don't need authentication.")
    talk.agent("No, that's wrong: authentication is required. We decided that authentication is required.")
    talk.person("We don't need authentication!")
    hear(ctx)
    assert lifecycles(ctx)["We don't need authentication."] == "active"
    assert "challenged" not in lifecycles(ctx).values()


def test_what_was_pasted_takes_back_nothing(ctx: Context, talk: ClaudeTalk):
    talk.person("We don't need authentication.")
    talk.person("Codex wrote this:\n\nNo, that's wrong: authentication is required.\nAuthentication is required.")
    hear(ctx)
    assert lifecycles(ctx)["We don't need authentication."] == "active"


@pytest.mark.parametrize(
    "text", ["No, should we have authentication?", "No, I'll look at authentication first.", "No, thanks.", "不对吧？"]
)
def test_what_takes_back_nothing_that_is_known_leaves_no_record(ctx: Context, talk: ClaudeTalk, text: str):
    talk.person("We don't need authentication.")
    talk.person(text)
    hear(ctx)
    assert lifecycles(ctx) == {"We don't need authentication.": "active"}


def test_a_retraction_counts_among_process_and_is_no_find() -> None:
    place = Place(session="s", message="s#1", by="human:dev", typed=True)
    found = Extractor().extract("Scratch that: validate the dates.", place)
    assert (found.finds, found.process, [find.text for find in found.retracting]) == (
        (), 1, ["Scratch that: validate the dates."],
    )  # fmt: skip
    assert not Extractor().extract("Scratch that: validate the dates.").retracting


def test_a_session_that_is_proposed_is_heard_in_the_same_way(ctx: Context, talk: ClaudeTalk):
    talk.person("We decided that fields need no quotes.")
    talk.person("No, that's wrong: always quote every field.")
    done = extraction.from_session(str(talk.path), ctx=ctx, env=ctx.env)
    proposing.propose(ctx, tasks.resolve(ctx, "@"), done.found)
    assert lifecycles(ctx)["We decided that fields need no quotes."] == "challenged"


# What a text brings that is proposed by hand.


def test_a_conflict_that_a_text_brings_is_put_before_her(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "port", 8080)
    done = extraction.from_text("The port is 9090.\nretries: 3\n", ctx=ctx)
    proposing.propose(ctx, tasks.resolve(ctx, "@"), done.found)
    view = build_view(ctx)
    assert [(need.code, need.key) for need in view.needs_you] == [("proposal", "s")]
    (one,) = reviewing.review(ctx).offered
    assert (one.text, one.fact.against[0].value) == ("The port is 9090.", 8080)
    reviewing.accept(ctx, one)
    assert [need.code for need in build_view(ctx).needs_you] == []


def test_of_many_conflicts_that_a_text_brings_three_stand_before_her_and_ten_a_day(ctx: Context, talk: ClaudeTalk):
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "iota", "kappa", "sigma", "omega", "rho"]
    for name in names:
        facts.propose(ctx, f"{name}_port", 1000)
    text = "\n".join(f"{name} port: 2000" for name in names)
    proposing.propose(ctx, tasks.resolve(ctx, "@"), extraction.from_text(text, ctx=ctx).found)
    view = build_view(ctx)
    assert len([need for need in view.needs_you if need.code == "proposal"]) == 3
    assert sum(row.asked for row in view.facts if row.lifecycle == "proposed") == 3
    seen = set()
    while offered := reviewing.review(ctx).offered:
        seen |= {one.id for one in offered}
        reviewing.skip(ctx, offered[0])
    assert len(seen) == 10


def test_a_conflict_in_an_agents_prose_is_not_put_before_her(ctx: Context, talk: ClaudeTalk):
    facts.propose(ctx, "port", 8080)
    talk.agent("The port is 9090 now.")
    done = extraction.from_session(str(talk.path), ctx=ctx, env=ctx.env)
    proposing.propose(ctx, tasks.resolve(ctx, "@"), done.found)
    assert build_view(ctx).needs_you == ()
