"""Prohibitions and rules that are only mentioned are not taken for the speaker's own; her own are, in many words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.extraction import Extractor

EXTRACTOR = Extractor()
THINGS = st.sampled_from(["the user table", "config/prod.yaml", "src/legacy", "the release branch", "the public API"])
RULES = st.sampled_from(
    [
        "do not touch {thing}",
        "never rename {thing}",
        "{thing} must not be changed",
        "we must never delete {thing}",
        "{thing} is off limits",
        "keep {thing} unchanged",
        "nobody may edit {thing}",
        "you may not overwrite {thing}",
        "no changes to {thing}",
        "leave {thing} alone",
        "{thing} may only be changed by Dana",
    ]
)
THINGS_ZH = st.sampled_from(["用户表", "config/prod.yaml", "src/legacy", "发布分支", "公开接口"])
RULES_ZH = st.sampled_from(
    [
        "不要改动{thing}",
        "禁止删除{thing}",
        "{thing}不能改",
        "绝不能改动{thing}",
        "{thing}不许动",
        "{thing}保持原样",
        "不得重命名{thing}",
        "别动{thing}",
        "任何人不准改{thing}",
        "严禁覆盖{thing}",
        "谁都不能动{thing}",
    ]
)
MENTIONS = {
    "considered": [
        "We considered a rule like: {rule}, but nothing came of it.",
        "We talked about whether {rule}.",
        "Maybe {rule}.",
        "Alternatively, {rule}.",
        "It was suggested that {rule}.",
        "We discussed that {rule} but came to no conclusion.",
        "I keep wondering if {rule}.",
        "Someone proposed that {rule}, nothing was decided.",
        "One option would be: {rule}.",
        "An earlier idea was that {rule}.",
    ],
    "asked": ["Should we say {rule}?", "Is it true that {rule}?", "Who said {rule}?", "Wait, {rule}?"],
    "quoted": [
        'The README says "{rule}".',
        "> {rule}",
        "According to the docs, {rule}.",
        "The ticket says: {rule}.",
        "CONTRIBUTING.md states that {rule}.",
        "Slack message from Jo: {rule}",
        'Dana\'s comment: "{rule}"',
        "Per the wiki, {rule}.",
        'The prompt began with "{rule}".',
    ],
    "conditional": [
        "If the audit fails, {rule}.",
        "Suppose {rule}.",
        "In the event of an outage, {rule}.",
        "As soon as the audit starts, {rule}.",
        "Should the client ask, {rule}.",
        "What if {rule}?",
        "Only if legal insists: {rule}.",
    ],
    "logged": [
        "2026-03-01T10:00:00Z INFO {rule}",
        "[ERROR] config.py:12 {rule}",
        "10:38:01 WARN {rule}",
        "npm ERR! {rule}",
        "remote: error: {rule}",
        "app_1  | {rule}",
        "Jun 01 10:00:01 web-1 app[312]: {rule}",
        'level=warn msg="{rule}"',
    ],
    "code": [
        "```\n{rule}\n```",
        "// {rule}",
        "/* {rule} */",
        "-- {rule}",
        '"""{rule}"""',
        'raise ValueError("{rule}")',
        "echo '{rule}'",
        'const RULE = "{rule}";',
        "    # {rule}",
    ],
    "elsewhere": [
        "In the other repo {rule}.",
        "At my last company the rule was: {rule}.",
        "In their project {rule}.",
        "On the mobile app's repo, {rule}.",
        "Over in the data team {rule}.",
    ],
    "planned": ["I'll make sure that {rule}.", "My plan: {rule}.", "I'd propose that {rule}.", "Plan: {rule}."],
    "past": ["It used to be that {rule}.", "Back then the rule was: {rule}.", "Previously {rule}.", "In v1 {rule}."],
}
MENTIONS_ZH = {
    "considered": [
        "我们考虑过{rule}，后来没定。",
        "也许{rule}。",
        "有一个选项是{rule}。",
        "聊过{rule}，没有结论。",
        "有人提议{rule}。",
        "我一直在琢磨是否{rule}。",
        "看过一种方案：{rule}。",
    ],
    "asked": ["是不是{rule}？", "为什么{rule}？", "有没有规定{rule}？", "谁说的{rule}？"],
    "quoted": [
        "README 写着“{rule}”。",
        "> {rule}",
        "评审说{rule}。",
        "工单里写着：{rule}。",
        "CONTRIBUTING.md 规定{rule}。",
        "老乔在群里发：{rule}",
        "按文档的说法，{rule}。",
    ],
    "conditional": ["如果上线，{rule}。", "一旦出故障，{rule}。", "若{rule}，就没问题。", "只要老唐同意，{rule}。"],
    "logged": ["2026-03-01 10:00:00 INFO {rule}", "错误：{rule}", "npm ERR! {rule}", "app_1  | {rule}"],
    "code": ["```\n{rule}\n```", "// {rule}", "/* {rule} */", '"""{rule}"""', "echo '{rule}'", "    # {rule}"],
    "elsewhere": ["另一个仓库里{rule}。", "他们项目里{rule}。", "兄弟项目里{rule}。", "数据组那边{rule}。"],
    "planned": ["我会确保{rule}。", "我打算加个检查，{rule}。", "我建议{rule}。", "计划：{rule}。"],
    "past": ["以前的规定是{rule}。", "旧版本里{rule}。", "过去要求{rule}。", "几年前我们规定{rule}。"],
}
OWN = [
    "{Rule}.",
    "- {rule}",
    "Rule: {rule}.",
    "Please remember: {rule}.",
    "From now on {rule}.",
    "{Rule}, no exceptions.",
]
OWN_ZH = ["{rule}。", "- {rule}", "约束：{rule}。", "请记住：{rule}。", "从现在起{rule}。", "另外{rule}。"]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(find.kind, find.text) for find in EXTRACTOR.extract(text).finds]


@pytest.mark.parametrize("why", MENTIONS)
@given(data=st.data(), thing=THINGS, rule=RULES)
def test_a_rule_that_is_mentioned_traps_nobody(why: str, data: st.DataObject, thing: str, rule: str) -> None:
    frame = data.draw(st.sampled_from(MENTIONS[why]))
    assert kinds(frame.format(rule=rule.format(thing=thing))) == []


@pytest.mark.parametrize("why", MENTIONS_ZH)
@given(data=st.data(), thing=THINGS_ZH, rule=RULES_ZH)
def test_a_rule_that_is_mentioned_in_chinese_traps_nobody(why: str, data: st.DataObject, thing: str, rule: str) -> None:
    frame = data.draw(st.sampled_from(MENTIONS_ZH[why]))
    assert kinds(frame.format(rule=rule.format(thing=thing))) == []


@given(frame=st.sampled_from(OWN), thing=THINGS, rule=RULES)
def test_her_own_rule_is_a_constraint(frame: str, thing: str, rule: str) -> None:
    said = rule.format(thing=thing)
    text = frame.format(rule=said, Rule=said[0].upper() + said[1:])
    assert [(find.kind, find.constraint) for find in EXTRACTOR.extract(text).finds] == [("decision", True)], text


@given(frame=st.sampled_from(OWN_ZH), thing=THINGS_ZH, rule=RULES_ZH)
def test_her_own_rule_in_chinese_is_a_constraint(frame: str, thing: str, rule: str) -> None:
    text = frame.format(rule=rule.format(thing=thing))
    assert [(find.kind, find.constraint) for find in EXTRACTOR.extract(text).finds] == [("decision", True)], text
