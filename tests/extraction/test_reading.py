"""Keys and values, qualifiers, two items of a line, forms and places."""

from __future__ import annotations

import pytest

from workbench.extraction import Extractor, Find, Place, RuleBook

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
