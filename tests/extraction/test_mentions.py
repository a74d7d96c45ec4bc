"""Mentions that are no statements, and statements that are, around keys and values of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.extraction import Extractor

EXTRACTOR = Extractor()
VALUES = st.sampled_from(
    ["PostgreSQL", "Redis", "8080", "Kafka", "green", "pnpm", "tabs", "v2.3.1", "eu-west-1", "30s"]
)
KEYS = st.sampled_from(["port", "database", "theme", "timeout", "region", "cache", "log level", "page size", "license"])
KEYS_ZH = st.sampled_from(["端口", "数据库", "主题", "超时", "区域", "缓存", "日志级别", "分页大小", "许可证"])

ENGLISH = {
    "considered": [
        "We considered {value} for the {key}.",
        "Maybe the {key} could be {value}.",
        "We talked about changing the {key} to {value}.",
    ],
    "asked": [
        "Should the {key} be {value}?",
        "Did we decide to use {value} for the {key}?",
        "What about {value} as {key}?",
    ],
    "quoted": [
        'The README says "always set the {key} to {value} in production".',
        "> we decided to use {value} for the {key}",
        'He wrote: "we decided to use {value} for the {key}".',
    ],
    "conditional": [
        "If the load grows, set the {key} to {value}.",
        "We would use {value} for the {key} if we had more time.",
        "Suppose the {key} is {value}.",
    ],
    "logged": [
        "2026-03-01T10:00:00Z INFO {key} set to {value}",
        "[ERROR] config.py:12 {key} must be {value}",
        "10:38:01 WARN decided to use {value} for {key}",
    ],
    "code": [
        "```\nthe {key} must be {value}\n```",
        '{{"{key}": "{value}", "decision": "use {value}"}}',
        "$ app --set {key}={value}",
    ],
    "another project": [
        "In the other repo the {key} is {value}.",
        "At my last job we decided to use {value} for the {key}.",
        "The upstream project uses {value} as {key}.",
    ],
    "the agent's plans": [
        "I'll set the {key} to {value} and run the tests.",
        "Let me switch the {key} to {value}.",
        "I would suggest {value} for the {key}.",
    ],
}
CHINESE = {
    "considered": ["{key}我们考虑过用 {value}。", "也许{key}可以用 {value}。", "讨论过把{key}改成 {value}。"],
    "asked": ["{key}要不要用 {value}？", "我们是不是决定{key}用 {value}？", "{key}用 {value} 吗"],
    "quoted": [
        "README 写着“{key}必须一直用 {value} 才行”。",
        "> 决定{key}用 {value}",
        "同事说：“我们决定{key}用 {value}”。",
    ],
    "conditional": [
        "如果负载上来，就把{key}改成 {value}。",
        "要是有时间，{key}就用 {value}。",
        "假设{key}是 {value}。",
    ],
    "logged": ["2026-03-01 10:00:00 INFO {key}已设为 {value}", "[ERROR] config.py:12 {key}必须是 {value}"],
    "code": ["```\n{key}必须是 {value}\n```", '{{"{key}": "{value}", "决定": "用 {value}"}}'],
    "another project": [
        "另一个仓库里{key}是 {value}。",
        "上家公司我们决定{key}用 {value}。",
        "上游项目的{key}是 {value}。",
    ],
    "the agent's plans": [
        "我会把{key}设成 {value}，然后跑测试。",
        "让我把{key}换成 {value}。",
        "我建议{key}用 {value}。",
    ],
}


@pytest.mark.parametrize("why", ENGLISH)
@given(key=KEYS, value=VALUES, number=st.integers(0, 2))
def test_a_mention_is_no_fact(why: str, key: str, value: str, number: int) -> None:
    text = ENGLISH[why][number].format(key=key, value=value)
    assert [(find.rule, find.text) for find in EXTRACTOR.extract(text).finds] == []


@pytest.mark.parametrize("why", CHINESE)
@given(key=KEYS_ZH, value=VALUES, number=st.integers(0, 2))
def test_a_mention_in_chinese_is_no_fact(why: str, key: str, value: str, number: int) -> None:
    templates = CHINESE[why]
    text = templates[number % len(templates)].format(key=key, value=value)
    assert [(find.rule, find.text) for find in EXTRACTOR.extract(text).finds] == []


@given(
    key=KEYS,
    value=VALUES,
    template=st.sampled_from(
        [
            "We decided to use {value} for the {key}.",
            "Change the {key} to {value}.",
            "Agreed: the {key} is {value}.",
            "Let's go with {value} for the {key}.",
        ]
    ),
)
def test_a_choice_is_a_decision(key: str, value: str, template: str) -> None:
    text = template.format(key=key, value=value)
    assert [find.kind for find in EXTRACTOR.extract(text).finds] == ["decision"]


@given(
    key=KEYS_ZH,
    value=VALUES,
    template=st.sampled_from(
        ["决定{key}用 {value}。", "把{key}改成 {value}。", "说好了，{key}用 {value}。", "{key}定为 {value}。"]
    ),
)
def test_a_choice_in_chinese_is_a_decision(key: str, value: str, template: str) -> None:
    text = template.format(key=key, value=value)
    assert [find.kind for find in EXTRACTOR.extract(text).finds] == ["decision"]


CONSTRAINTS = [
    "The {key} must be {value}.",
    "Constraint: {key} = {value}",
    "The {key} must stay {value}.",
    "Always use {value} for the {key}.",
    "Do not use anything other than {value} for the {key}.",
    "Keep the {key} at {value}.",
    "Only {value} is allowed for the {key}.",
    "The {key} should always be {value}.",
]
CONSTRAINTS_ZH = [
    "{key}必须是 {value}。",
    "约束：{key} = {value}",
    "{key}只能用 {value}。",
    "{key}不得使用 {value} 以外的值。",
    "请保持{key}为 {value}。",
    "{key}统一用 {value}。",
]


@given(
    english=st.booleans(),
    keys=st.tuples(KEYS, KEYS_ZH),
    value=VALUES,
    number=st.integers(0, 40),
    noise=st.lists(st.tuples(st.sampled_from(sorted(ENGLISH)), VALUES, st.integers(0, 2)), max_size=4),
)
def test_a_constraint_is_found_among_mentions(
    english: bool, keys: tuple[str, str], value: str, number: int, noise: list[tuple[str, str, int]]
) -> None:
    key = keys[0] if english else keys[1]
    templates, mentions = (CONSTRAINTS, ENGLISH) if english else (CONSTRAINTS_ZH, CHINESE)
    lines = [mentions[why][n % len(mentions[why])].format(key=key, value=other) for why, other, n in noise]
    lines.insert(len(lines) // 2, templates[number % len(templates)].format(key=key, value=value))
    (find,) = EXTRACTOR.extract("\n\n".join(lines)).finds
    assert find.kind == "decision"
    assert value.lower() in str(find.value).lower()


@given(st.text(max_size=300))
def test_any_text_is_read_without_harm(text: str) -> None:
    found = EXTRACTOR.extract(text)
    for find in found.finds:
        assert find.text
        assert find.quote.strip() in text or "\n" in text or find.quote in text
        assert find.key is None or " " not in find.key


@given(
    st.lists(
        st.sampled_from(["决定用 Go。", "TODO: docs", "hm", "- [ ] tests", "```", "> no", "port: 80", ""]), max_size=12
    )
)
def test_reading_twice_gives_the_same(parts: list[str]) -> None:
    text = "\n".join(parts)
    assert EXTRACTOR.extract(text) == Extractor().extract(text)


@pytest.mark.parametrize(
    "text",
    [
        "We never decided on Postgres.",
        "We decided to use Postgres, haha no.",
        "I dreamt that we decided to use Postgres.",
        "You must be joking, the build is green again.",
        "You must not use tabs, just kidding.",
        "It must be Friday.",
        "我们从来没有决定用 Postgres。",
        "不要客气。",
        "不得不说，你做得很好。",
    ],
)
def test_what_is_said_in_jest_or_by_way_of_speaking_is_no_statement(text: str) -> None:
    assert EXTRACTOR.extract(text).finds == ()
