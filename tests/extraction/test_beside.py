"""Rules that hold beside each other stay two; what goes against one puts it in doubt; what was refused stays so."""

from __future__ import annotations

import pytest

from tests.e2e.talk import ClaudeTalk
from tests.extraction.hearing import hear
from workbench.domain.fact import Fact
from workbench.extraction.narrowing import narrowed_to, said_of_others
from workbench.extraction.offer import said_again
from workbench.services import facts, packages, tasks
from workbench.services.context import Context
from workbench.services.viewing import build_view

BESIDE = [
    ("Never log passwords.", "Never log access tokens."),
    ("Do not rename the public API.", "Do not remove the public API."),
    ("Never commit to main.", "Never commit to release."),
    ("Do not use moment.", "Do not use lodash."),
    ("Don't edit the generated files.", "Don't delete the generated files."),
    ("Never store card numbers.", "Never send card numbers to the logs."),
    ("You must not change the migrations.", "You must not squash the migrations."),
    ("Do not deploy on Fridays.", "Do not deploy during the freeze."),
    ("Never touch the billing folder.", "Never touch the auth folder."),
    ("Do not upgrade Django.", "Do not upgrade Celery."),
    ("Don't mock the database in tests.", "Don't mock the clock in tests."),
    ("Never run rm -rf in scripts.", "Never run git push in scripts."),
    ("Do not change the schema of the orders table.", "Do not drop the orders table."),
    ("Never share the API keys of customers.", "Never share the addresses of customers."),
    ("Do not add new dependencies.", "Do not remove the existing dependencies."),
    ("We use Postgres in production.", "We use SQLite in tests."),
    ("The limit is 20 MB for images.", "The limit is 500 MB for videos."),
    ("Use pnpm for the website.", "Use yarn for the desktop app."),
    ("The timeout is 30 seconds for uploads.", "The timeout is 5 seconds for searches."),
    ("The log level is debug in staging.", "The log level is warning in production."),
    ("Public methods must have docstrings.", "Private methods must have docstrings."),
    ("Hidden fields must be exported.", "Deleted rows must be exported."),
    ("Open tickets must be listed.", "Closed tickets must be listed."),
    ("The light theme must pass the contrast check.", "The dark theme must pass the contrast check."),
    ("Admins may enable plugins.", "Admins may disable plugins."),
    ("Every image must have alt text.", "Every video must have captions."),
    ("Headers must be signed.", "Bodies must be encrypted."),
    ("Don't touch the parser.", "The parser must be fast."),
    ("The first row must be bold.", "The last row must be bold."),
    ("不要删 orders 表的数据", "不要删 users 表的数据"),
    ("不要改 settings.py", "不要移动 settings.py"),
    ("绝不能直接推 main", "绝不能强推 main"),
    ("密码不准打印", "令牌不准打印"),
    ("不要引入 axios", "不要引入 jquery"),
    ("价格不准缓存", "库存不准缓存"),
    ("不要动 vendor 目录", "不要删 vendor 目录"),
    ("周五不准发布", "节假日不准发布"),
    ("不要用拼音命名变量", "不要用中文命名变量"),
    ("禁止在循环里查数据库", "禁止在循环里发请求"),
    ("不要合并到 main", "不要合并到 release"),
    ("线上用 MySQL", "测试用 SQLite"),
    ("前端用 Vite", "后端用 Maven"),
    ("图片上限 5 MB", "视频上限 200 MB"),
    ("公开接口必须有文档", "私有接口必须有文档"),
    ("浅色主题必须通过对比度检查", "深色主题必须通过对比度检查"),
    ("手动任务必须记日志", "自动任务必须记日志"),
    ("标题必须翻译", "按钮必须翻译"),
    ("所有接口必须鉴权", "所有接口必须限流"),
    ("不准修改历史订单", "不准删除历史订单"),
    ("不要在日志里写手机号", "不要在日志里写身份证号"),
    ("严禁提交密钥", "严禁打印密钥"),
    ("不要升级 React", "不要升级 webpack"),
    ("不要给用户发短信", "不要给用户发邮件"),
    ("订单金额必须用整数", "订单时间必须用 UTC"),
    ("不要碰 auth 模块", "不要碰 pay 模块"),
    ("不要改接口的返回格式", "不要改接口的路径"),
    ("游客每天最多 5 次", "会员每天最多 50 次"),
    ("Never use C for the parser.", "Never use C++ for the parser."),
    (
        "Never delete the rows of the payments table in the production database of the shop.",
        "Never delete the rows of the payments table in the production database of the bank.",
    ),
    ("The config must be valid TOML.", "Don't touch the config."),
    ("We must support Python 3.11.", "We must support Python 3.12."),
    ("Port 8080 must stay closed.", "Port 9090 must stay closed."),
    ("Server 1 must run Debian.", "Server 2 must run Debian."),
    ("We decided that logs are kept in logs/app.log.", "We decided that errors are kept in logs/err.log."),
    ("必须支持 Node 18", "必须支持 Node 20"),
    ("Use Redis for sessions.", "Use Memcached for pages."),
    ("The port is 8080.", "Don't touch the port."),
    ("Do not use more than 3 retries.", "Do not use more than 2 workers."),
    ("8080 端口不准对外开放", "9090 端口不准对外开放"),
]
AGAINST = [
    ("Passwords must be hashed twice.", "Passwords must not be hashed twice."),
    ("Don't touch the parser.", "You may change the parser now."),
    ("Never push to release.", "It's okay to push to release now."),
    ("Do not edit the migrations.", "You can edit the migrations again."),
    ("Forms must have labels.", "Forms may go without labels."),
    ("Forms must have labels.", "No, forms don't need labels."),
    ("Every page needs a footer.", "The pages don't need a footer."),
    ("We decided against Kafka.", "OK, let's use Kafka after all."),
    ("The backup runs daily at 02:00.", "The backup runs daily at 04:00."),
    ("Sessions expire after 30 minutes.", "Sessions expire after 90 minutes."),
    ("Reports go out from reports@a.example.", "Reports go out from office@a.example."),
    ("The port is 8080.", "The port is 9090."),
    ("Exports must include the totals.", "Exports must exclude the totals."),
    ("Emails must be validated.", "Emails need not be validated."),
    ("The limit is 20 MB for images.", "The limit is 30 MB for images."),
    ("绝不能直接推 main", "现在可以直接推 main 了"),
    ("不要动 vendor 目录", "vendor 目录可以改了"),
    ("不要改 config.toml", "config.toml 可以改了"),
    ("图片必须有 alt 文本", "图片可以没有 alt 文本"),
    ("表单必须有标签", "表单不需要标签了"),
    ("我们决定不用 Kafka", "还是用 Kafka 吧"),
    ("每页最多 20 条", "每页最多 40 条"),
    ("会话 20 分钟过期", "会话 40 分钟过期"),
    ("备份每天 2 点执行", "备份每天 4 点执行"),
    ("端口是 8080", "端口改成 9090"),
    ("导出必须包含合计", "导出不要包含合计"),
    ("默认隐藏工具栏", "默认显示工具栏"),
    ("日志必须脱敏", "日志不用脱敏"),
    ("接口必须鉴权", "不对，接口不需要鉴权"),
    ("订单不准缓存", "订单可以缓存了"),
    ("包管理器用 pnpm", "包管理器用 yarn"),
    ("通知从 a@x.example 发出", "通知从 b@x.example 发出"),
    ("密码必须加密", "密码不必加密"),
    ("Images must have alt text.", "No, images don't need alt text."),
    ("Images must have alt text.", "Images may go without alt text."),
    ("Don't touch vendor/", "You may change vendor/ now"),
    ("Never push to main", "It's fine to push to main now"),
    ("Every endpoint needs authentication", "The endpoints don't need authentication"),
    ("We decided against GraphQL", "OK, let's use GraphQL after all"),
    ("我们决定不用 GraphQL", "还是用 GraphQL 吧"),
    ("不要动 vendor/", "vendor/ 可以改了"),
    ("Don't touch vendor/", "vendor/ 可以改了"),
    ("每页最多 50 行", "每页最多 100 行"),
    ("会话 30 分钟过期", "会话 60 分钟过期"),
    ("The job runs daily at 03:00", "The job runs daily at 05:00"),
    ("Emails go out from noreply@x.example", "Emails go out from hello@x.example"),
]


def known(ctx: Context) -> dict[str, str]:
    registry = ctx.workspace.load().registry
    return {fact.statement: registry.lifecycle(fact.id) for fact in registry.facts.values()}


def constraints(ctx: Context) -> list[Fact]:
    return [fact for fact in ctx.workspace.load().facts.values() if fact.kind == "constraint"]


@pytest.mark.parametrize(("one", "other"), BESIDE)
def test_what_holds_beside_another_is_kept_and_challenges_nothing(
    ctx: Context, talk: ClaudeTalk, one: str, other: str
) -> None:
    talk.person(one)
    talk.person(other)
    hear(ctx)
    assert known(ctx) == {one: "active", other: "active"}


@pytest.mark.parametrize(("one", "other"), AGAINST)
def test_her_later_words_put_in_doubt_what_holds(ctx: Context, talk: ClaudeTalk, one: str, other: str) -> None:
    talk.person(one)
    talk.agent("ok")
    talk.person(other)
    hear(ctx)
    assert known(ctx) == {one: "challenged", other: "proposed"}
    assert [need.code for need in build_view(ctx).needs_you] == ["challenged"]


@pytest.mark.parametrize(
    "text",
    [
        "You may change vendor/ now.",
        "It's fine to push to main now.",
        "Feel free to edit the docs.",
        "Images may go without alt text.",
        "vendor/ 可以改了",
        "现在可以直接推 main 了",
        "图片可以没有 alt 文本",
    ],
)
def test_what_lifts_a_rule_lays_down_none(ctx: Context, talk: ClaudeTalk, text: str) -> None:
    talk.person(text)
    hear(ctx)
    assert constraints(ctx) == []


def test_all_rules_of_one_thing_stand_in_the_package(ctx: Context, talk: ClaudeTalk) -> None:
    rules = [f"Never delete rows of the {name} table." for name in ("payments", "orders", "users", "stock")]
    rules += ["Do not change the schema.", "Do not drop the schema.", "不准直接推 main", "不准直接推 release"]
    for rule in rules:
        talk.person(rule)
    hear(ctx)
    assert {fact.statement for fact in constraints(ctx)} == set(rules)
    prompt = packages.preview(ctx, tasks.resolve(ctx, "@"), "codex").result.prompt  # type: ignore[union-attr]
    part = next(part for part in prompt.split("\n# ") if part.startswith("Constraints"))
    assert all(rule.rstrip(".") in part for rule in rules)


def test_what_is_narrowed_has_a_key_by_which_its_change_is_met(ctx: Context, talk: ClaudeTalk) -> None:
    for text in ("We use pnpm in the frontend.", "We use uv in the backend.", "We use poetry in the backend."):
        talk.person(text)
    hear(ctx)
    assert known(ctx) == {
        "We use pnpm in the frontend.": "active",
        "We use uv in the backend.": "challenged",
        "We use poetry in the backend.": "proposed",
    }


@pytest.mark.parametrize(
    ("refused", "again", "another"),
    [
        ("Never push to main.", "No pushes to main.", "Never push to release."),
        ("Never push to main.", "Pushing to main is forbidden.", "Pushing to release is forbidden."),
        ("Never push to main.", "You must not push to main.", "Never merge to main."),
        ("绝不能直接推 main", "不要直接推 main", "绝不能直接推 release"),
    ],
)
def test_a_refusal_counts_in_other_words_and_for_nothing_else(
    ctx: Context, talk: ClaudeTalk, refused: str, again: str, another: str
) -> None:
    talk.person(refused)
    hear(ctx)
    (fact,) = ctx.workspace.load().facts.values()
    facts.retract(ctx, fact.id, "no such rule")
    talk.person(again)
    talk.person(another)
    hear(ctx)
    assert set(known(ctx)) == {refused, another}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Never push to main.", "Pushes to main are forbidden.", True),
        ("Never log passwords.", "Please do not log passwords.", True),
        ("Never push to main.", "Push to main.", False),
        ("Never delete rows of the payments table.", "Never delete rows of the orders table.", False),
        ("不要动用户表", "请不要动用户表", True),
        ("不要动用户表", "不要删用户表", False),
    ],
)
def test_prohibitions_are_told_apart_by_what_they_name(one: str, other: str, same: bool) -> None:
    assert said_again(one, other) is same
    assert said_again(other, one) is same


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("We use pnpm in the frontend.", {"frontend"}),
        ("For guests, the limit is 10.", {"guests"}),
        ("No deploys on Fridays", {"fridays"}),
        ("Use pnpm for now.", set()),
        ("Use port 8080.", set()),
        ("后端用 uv", {"后端"}),
        ("我们用 uv", set()),
    ],
)
def test_what_a_statement_is_narrowed_to(text: str, what: set[str]) -> None:
    assert narrowed_to(text) == what
    assert not said_of_others(text, text)
