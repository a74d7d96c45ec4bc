"""Keys and values, qualifiers, two items of a line, forms and places."""

from __future__ import annotations

import pytest

from workbench.extraction import Extractor, Find, Place, RuleBook
from workbench.extraction.reading import read
from workbench.extraction.rules import rules_of

EXTRACTOR = Extractor()


def finds(text: str) -> tuple[Find, ...]:
    return EXTRACTOR.extract(text).finds


def only(text: str) -> Find:
    (find,) = finds(text)
    return find


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("switch the theme from blue to green", "theme.color", "green"),
        ("把主题色改成绿色", "theme.color", "green"),
        ("not blue after all: green", "theme.color", "green"),
        ("make it green instead", "theme.color", "green"),
        ("pnpm instead of npm", "package_manager", "pnpm"),
        ("用 pnpm 代替 npm。", "package_manager", "pnpm"),
        ("retries: 3", "retries", 3),
        ("retries go to 3 on our side", "retries", 3),
        ("我们那边把重试次数定在 3 次", "retries", 3),
        ("not PostgreSQL 15, 16", "database", "PostgreSQL 16"),
        ("不是 PostgreSQL 15，是 16", "database", "PostgreSQL 16"),
        ("Use Postgres 16.", "database", "PostgreSQL 16"),
        ("set the timeout to 30 seconds", "timeout", "30s"),
        ("超时设为 30 秒", "timeout", "30s"),
        ("Change the port from 8080 to 9090.", "port", 9090),
        ("把端口从 8080 改成 9090。", "port", 9090),
        ("The service is deployed in Frankfurt.", "service.location", "Frankfurt"),
        ("服务部署在上海区", "服务.location", "上海区"),
    ],
)
def test_key_and_value_are_read_off(text: str, key: str, value: object) -> None:
    find = only(text)
    assert (find.key, find.value) == (key, value)


def test_the_same_thing_has_the_same_key_in_both_languages() -> None:
    assert only("set the retries to 5").key == only("重试次数改为 5").key
    assert only("Use Postgres.").key == only("数据库用 MySQL。").key


def test_a_constraint_says_what_it_forbids() -> None:
    find = only("Please do not touch the user table.")
    assert find.constraint
    assert find.key == "user_table"
    assert only("不要动 user 表。").key == "user_table"


def test_a_change_names_what_it_puts_aside() -> None:
    assert only("Use pnpm instead of npm.").old == "npm"


def test_an_open_item_keeps_its_qualifiers() -> None:
    assert "raised last week" in only("paging check missing on /list, raised last week").text
    assert only("分页参数校验未处理（接口 /list，上周提出）").text.endswith("上周提出）")


def test_a_qualifier_may_stand_in_the_next_sentence() -> None:
    find = only("Error messages haven't been translated yet. That is for the settings page only.")
    assert "settings page" in find.text


def test_a_line_with_two_statements_gives_two_items() -> None:
    fact, open_ = finds("It's built on macOS 15 only, the minimum version is not verified.")
    assert (fact.kind, open_.kind) == ("fact", "open")
    assert "minimum version" in open_.text
    assert "minimum version" not in fact.text


def test_a_todo_in_code_has_file_and_line() -> None:
    assert only("src/list.ts:41: // TODO: validate the page parameter").paths == ("src/list.ts:41",)
    inside = finds("```ts\n// TODO: cap the size\nlet a = 1\n```")
    assert [find.kind for find in inside] == ["open"]


def test_lists_under_a_heading_are_what_the_heading_says() -> None:
    text = "## Open\n- rate limits\n- paging on /list\n\n## Considered\n- Redis as cache\n\nDecisions:\n- REST for v1\n"
    assert [(find.kind, find.text) for find in finds(text)] == [
        ("open", "rate limits"),
        ("open", "paging on /list"),
        ("decision", "REST for v1"),
    ]


@pytest.mark.parametrize("heading", ["# Notes", "## Log", "# Background", "# 笔记", "## 背景"])
def test_under_a_heading_that_says_nothing_of_them_lines_are_judged_by_themselves(heading: str) -> None:
    text = f"{heading}\n- port: 8080\n- Should the port be 8081?\n- paging on /list is not done yet\n"
    assert [find.kind for find in finds(text)] == ["fact", "open"]


@pytest.mark.parametrize("heading", ["# Plan", "# Next steps", "## 计划", "## 下一步"])
def test_what_is_planned_is_open_unless_it_is_done(heading: str) -> None:
    text = f"{heading}\n- rate limits for /search\n- migrate the jobs table: done\n"
    assert [(find.kind, find.text) for find in finds(text)] == [("open", "rate limits for /search")]


def test_what_is_done_is_not_open_but_may_be_an_artifact() -> None:
    assert [find.kind for find in finds("# Done\n- wrote docs/api.yaml\n- paging on /list is missing\n")] == [
        "artifact"
    ]


@pytest.mark.parametrize("heading", ["# Options", "# Rejected ideas", "# Examples", "## 备选", "## 例子"])
def test_what_a_heading_calls_not_so_is_process(heading: str) -> None:
    assert finds(f"{heading}\n- port: 8080\n- Use Redis for the cache.\n") == ()


def test_a_box_is_one_line_with_its_bullet() -> None:
    found = EXTRACTOR.extract("- [ ] write the changelog")
    assert [find.text for find in found.finds] == ["write the changelog"]
    assert found.process == 0
    assert [find.text for find in finds("- [ ] one thing [x] another [ ] a third")] == ["one thing", "a third"]


def test_a_half_width_comma_parts_chinese_clauses() -> None:
    assert only("数据库是 MySQL 8.0,部署在 10.0.3.12").value == "MySQL 8.0"
    assert [find.kind for find in finds("短信通道用的是阿里云,备用通道还没接")][-1:] == ["open"]
    assert only("端口改成 8,080").value != 8


@pytest.mark.parametrize(
    "text",
    [
        "Amounts are stored in cents, never floats.",
        "The nightly job runs at 02:00 UTC.",
        "Timestamps are stored in UTC.",
        "The report runs on Mondays.",
        "The handler is called on every request.",
        "备份跑在凌晨两点",
    ],
)
def test_a_time_or_a_unit_is_no_place_and_no_name(text: str) -> None:
    keys = [find.key or "" for find in finds(text)]
    assert not [key for key in keys if key.endswith((".location", "_name"))]


def test_a_place_is_read_off_without_what_follows_it() -> None:
    assert only("The dashboard runs on grafana.example.org since Monday.").value == "grafana.example.org"
    find = only("The nightly job runs at 02:00 UTC on the worker box.")
    assert (find.key, find.value) == ("nightly_job.location", "worker box")


def test_how_something_works_now_with_a_certain_name_is_a_fact() -> None:
    assert only("CSV export works behind the flag `billing_export_v2`.").kind == "fact"


def test_what_was_rendered_can_be_read_again() -> None:
    text = "【事实（仅为报告）】端口是 8080\n【已定决策】决定用 Go；不改动 user 表\n【待办】补文档；测 Windows"
    kinds = [find.kind for find in finds(text)]
    assert kinds.count("decision") == 2
    assert kinds.count("open") == 2


def test_boxes_that_are_ticked_are_not_open() -> None:
    assert [find.text for find in finds("- [x] tests\n- [ ] docs\n- [X] lint")] == ["docs"]


def test_place_and_quote_are_carried() -> None:
    place = Place(session="claude:1", message="claude:1#u7", by="human:dev", at="2026-03-01T10:00:00Z")
    found = EXTRACTOR.extract("Fine.\nWe decided to use Go. Thanks.", place).finds[0]
    assert found.quote == "We decided to use Go."
    assert (found.place.session, found.place.message, found.place.by) == ("claude:1", "claude:1#u7", "human:dev")
    assert (found.place.line, found.place.sentence) == (2, 1)


def test_a_record_is_told_from_talk() -> None:
    record = "decided: REST for v1\nport: 8080\nopen: paging on /list\nwrote openapi.yaml"
    talk = "I think we are done here. Let me know what you want next.\nOk, thanks!"
    assert EXTRACTOR.extract(record).form == "record"
    assert EXTRACTOR.extract(talk).form == "chat"


def test_a_workspace_may_add_phrases_of_its_own() -> None:
    plain = Extractor()
    own = Extractor(RuleBook.standard({"decision": ("cast in stone",), "process": ("shower thought",)}))
    assert [find.kind for find in plain.extract("The header is cast in stone.").finds] != ["decision"]
    assert [find.kind for find in own.extract("The header is cast in stone.").finds] == ["decision"]
    assert own.extract("shower thought: we decided to use Go").finds == ()


def test_added_phrases_are_taken_literally() -> None:
    own = Extractor(RuleBook.standard({"open": ("(a+)+$",)}))
    assert own.extract("a" * 40 + "!").finds == ()
    assert [find.kind for find in own.extract("x (a+)+$ y").finds] == ["open"]


@pytest.mark.parametrize(
    "text",
    [
        "Dropping the header IS a client concern so, in that case we must NOT do it in the parser",
        "Keep the retry; fix the comment to stop promising a limit.",
        "Idea is that the project settings should take precedence over those of the user",
        "The profile is gone until the next login",
        "The client is here",
        "Do not run other commands.",
        "Do not print others yet.",
    ],
)
def test_a_piece_of_a_sentence_is_neither_name_nor_value(text: str) -> None:
    assert [find.key for find in Extractor().extract(text).finds if find.key] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("主题色改成绿色，不要蓝色", ("theme.color", "green", "blue")),
        ("端口用 9090，不要 8080", ("port", 9090, 8080)),
        ("不要用蓝色，用绿色", ("theme.color", "green", "blue")),
        ("不要蓝色，改成绿色", ("theme.color", "green", "blue")),
        ("导出格式改成 CSV，不要 Excel", ("导出格式", "CSV", "Excel")),
        ("错误信息改成中文，不要英文", ("错误信息", "中文", "英文")),
        ("超时改成 30 秒，10 秒太短", ("timeout", "30s", None)),
        ("日志级别从 info 调到 debug", ("log_level", "debug", "info")),
        ("注释一律写英文，不要中文", ("注释", "英文", "中文")),
        ("默认分支改名为 main", ("default_branch", "main", None)),
        ("网关由 Kong 切换至 APISIX", ("网关", "APISIX", "Kong")),
        ("价格字段统一用整数「分」", ("价格字段", "整数「分」", None)),
        ("短信签名统一成「云仓」", ("短信签名", "云仓", None)),
        ("主键使用 UUIDv7", ("主键", "UUIDv7", None)),
        ("插件宿主定为单独进程，只此一个", ("插件宿主", "单独进程", None)),
        ("redis 换成 valkey", ("cache", "Valkey", "Redis")),
        ("端口改成 9090，不要重启", ("port", 9090, None)),
        ("The upload limit used to be 10 MB, now it is 20 MB.", ("upload_limit", "20mb", "10mb")),
        ("The service runs in Frankfurt, not in Dublin.", ("service.location", "Frankfurt", "Dublin")),
        ("Make the id a UUID", ("id", "UUID", None)),
        ("I want weekly digests instead of daily digests", (None, "weekly digests", "daily digests")),
    ],
)
def test_what_is_put_aside_is_the_other_value_and_the_key_is_the_thing(text: str, expected: tuple[object, ...]) -> None:
    found = read(text, rules_of(text))
    assert (found.key, found.value, found.old) == expected


@pytest.mark.parametrize(
    "text",
    [
        "备用的门禁卡在前台左手第二个抽屉里",
        "沿用现有 jQuery 页面",
        "磁盘使用情况一般",
        "冷启动用户的列表空着",
        "MySQL 因为支持差被否了",
        "报表每晚 02:30 从核心系统同步",
        "现在是 30 天",
        "现在改成 9090",
        "决议：网关先不换",
        "备注：日活按设备去重",
        "否决：会话存成 YAML",
        "门诊叫号屏跟语音差两秒",
        "隔壁用 Consul",
        "Comments are in English, not German.",
        "Files go into data, not into tmp.",
        "Indent with four spaces, not tabs.",
        "Put the menu on the left, not on the right.",
        "Rejected: client-side PDF rendering.",
        "Resolved: the newsletter goes double opt-in.",
        "Keep the monolith until Q3.",
        "Orders placed after 14:00 leave the house on the following day.",
        "On the warehouse tablets the scanner key arrives as F13",
    ],
)
def test_better_no_key_than_a_wrong_one(text: str) -> None:
    found = read(text, rules_of(text))
    assert (found.key, found.old) == (None, None)


@pytest.mark.parametrize(
    ("text", "key", "banned"),
    [
        ("don't set the timeout to 60 seconds", "timeout", "60s"),
        ("Don’t bump the pool size to 40", "pool_size", 40),
        ("Do not raise the limit to 50", "limit", 50),
        ("Never put the log level to debug", "log_level", "debug"),
        ("There's no need to move the database to MySQL.", "database", "MySQL"),
        ("Stop setting the retries to 10", "retries", 10),
        ("Avoid raising the page size to 500.", "page_size", 500),
        ("Please avoid port 8080", "port", 8080),
        ("We won't switch the default branch to dev", "default_branch", "dev"),
        ("We are not going to use Redis for sessions", "cache", "Redis"),
        ("I don't want the port to be 9000", "port", 9000),
        ("I don't think we should set the timeout to 60 seconds", "timeout", "60s"),
        ("Nobody may set the retries to 0.", "retries", 0),
        ("Under no circumstances set the port to 80", "port", 80),
        ("The log level must never be set to debug", "log_level", "debug"),
        ("Do not make the theme green", "theme.color", "green"),
        ("Do not change the port from 8080 to 9000", "port", 9000),
        ("don't use port 8080", "port", 8080),
        ("不要把端口改成 8080", "port", 8080),
        ("不要把数据库从 Postgres 换成 MySQL。", "database", "MySQL"),
        ("别把超时设成 60 秒", "timeout", "60s"),
        ("千万别把默认分支改成 dev", "default_branch", "dev"),
        ("没必要把端口改成 8080", "port", 8080),
        ("不许把重试次数改成 5", "retries", 5),
        ("不准把端口换成 9000", "port", 9000),
        ("不用把分页大小调到 100", "page_size", 100),
        ("禁止将日志级别设为 debug。", "log_level", "debug"),
        ("绝不能把端口设为 80", "port", 80),
        ("不建议把超时改成 60 秒", "timeout", "60s"),
        ("主题别换成红色", "theme.color", "red"),
        ("数据库不要用 MySQL", "database", "MySQL"),
        ("以后不要再用 npm 当包管理器", "package_manager", "npm"),
        ("别用 8080 端口", "port", 8080),
    ],
)
def test_what_is_not_to_be_so_is_no_value(text: str, key: str, banned: object) -> None:
    for constraint in (False, True):
        found = read(text, rules_of(text), constraint=constraint)
        assert (found.key, found.value, found.old) == (key, f"not {banned}", banned)


@pytest.mark.parametrize(
    ("text", "key", "value", "old"),
    [
        ("端口别用 9090，用 8080", "port", 8080, 9090),
        ("端口用 9090，别用 8080", "port", 9090, 8080),
        ("别把超时设成 60 秒，改成 45 秒", "timeout", "45s", "60s"),
        ("数据库不要用 MySQL，用 Postgres", "database", "PostgreSQL", "MySQL"),
        ("Don't use port 9090, use 8080 instead", "port", 8080, 9090),
        ("Don't set the timeout to 60 seconds, make it 45 seconds", "timeout", "45s", "60s"),
        ("Don't bump the retries to 10, 5 is enough", "retries", 5, 10),
        ("Do not move the database to MySQL, stay with Postgres", "database", "PostgreSQL", "MySQL"),
        ("Don't forget to set the timeout to 60 seconds", "timeout", "60s", None),
        ("别忘了把端口改成 8080", "port", 8080, None),
        ("日志级别设成 debug", "log_level", "debug", None),
    ],
)
def test_what_is_to_be_so_in_its_place_is_the_value(text: str, key: str, value: object, old: object) -> None:
    found = read(text, rules_of(text), constraint=True)
    assert (found.key, found.value, found.old) == (key, value, old)


@pytest.mark.parametrize(
    "text",
    [
        "Do not use more than 3 retries",
        "Don't let the timeout exceed 60 seconds",
        "不要让超时超过 60 秒",
        "Keep the bundle below 200 kB",
        "Keep the timeout under 30 seconds",
        "Uploads above 20 MB are refused.",
        "Drop support for Python 3.9",
        "只支持 Python 3.12",
        "改用 Terraform 部署",
        "只用标准库",
        "继续用 Valhalla。",
        "价格以元为单位存储",
        "单次批量导入以 5000 行为限",
        "决定了：不做移动端。",
        "要求：所有接口都要有鉴权。",
        "Requirement: every endpoint needs authentication",
        "Convention: two spaces",
        "端口要不要用 8080？",
        "上限能不能降到 10？",
    ],
)
def test_bounds_labels_and_questions_are_no_keys(text: str) -> None:
    for constraint in (False, True):
        found = read(text, rules_of(text), constraint=constraint)
        assert found.key is None


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Make the timeout 45 seconds", "timeout", "45s"),
        ("Leave the timeout at 30 seconds", "timeout", "30s"),
        ("Make the refresh 20 s", "refresh", "20s"),
        ("Always use port 9001", "port", 9001),
        ("We always run on port 9001", "port", 9001),
        ("决定了：用 pnpm。", "package_manager", "pnpm"),
        ("要求：端口用 8080", "port", 8080),
        ("Requirement: the port is 9000", "port", 9000),
        ("先用 SQLite", "database", "SQLite"),
    ],
)
def test_the_key_is_the_thing_and_not_the_words_around_it(text: str, key: str, value: object) -> None:
    found = read(text, rules_of(text))
    assert (found.key, found.value) == (key, value)


@pytest.mark.parametrize(
    "text",
    [
        "you set the timeout to 60 seconds, why",
        "You changed the port to 9000, why?",
        "he set the timeout to 60 seconds and it broke",
        "Bob changed the port to 9000 yesterday and everything broke.",
        "They moved the database to MySQL last year.",
        "Codex raised the retries to 10 and the build hung.",
        "昨天小王把超时改成 60 秒，结果挂了。",
        "他把端口改成 9000，所以连不上了",
        "你怎么把超时设成 60 秒了",
        "上周运维把数据库换成 MySQL，出了问题",
        "有人把日志级别改成 debug 了",
    ],
)
def test_what_another_did_is_told_and_not_asked_for(text: str) -> None:
    assert read(text, rules_of(text)).key is None
    assert not finds(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("我们昨天把端口改成 9000 了", 9000), ("昨天决定把端口改成 9000", 9000), ("We set the port to 9000", 9000)],
)
def test_what_she_did_herself_holds(text: str, value: int) -> None:
    assert [(find.key, find.value) for find in finds(text)] == [("port", value)]
