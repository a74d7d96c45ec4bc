"""Prohibitions and rules that are only mentioned are not taken for the speaker's own; her own are, in many words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.sayings import EXTRACTOR, RULES, RULES_ZH, THINGS, THINGS_ZH, kinds, said

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
    "denied": [
        "I never said {rule}.",
        "I never said that {rule}.",
        "I didn't mean that {rule}.",
        "We have never ruled that {rule}.",
        "I'm not saying {rule}.",
        "Nobody said {rule}.",
        "No one ever demanded that {rule}.",
        "There is no rule that {rule}.",
        "We have no policy that {rule}.",
        "It's not as if {rule}.",
        "It is not true that {rule}.",
        "It isn't the case that {rule}.",
        "It's wrong that {rule}.",
        "It would be wrong to say that {rule}.",
        "The claim that {rule} is wrong.",
        "Please don't say that we should always write: {rule}.",
        "You said {rule}, which is wrong.",
        "I doubt that {rule}.",
    ],
    "told": [
        "Bob says: {rule}.",
        "Bob wrote: {rule}.",
        "My boss keeps saying {rule}.",
        "Our new PM said that {rule}.",
        "The vendor told us that {rule}.",
        "{Rule}, says Bob.",
        "{Rule}, claims Bob, wrongly.",
        "{Rule}, Bob says.",
        "{Rule}, he insists.",
        "{Rule}, according to Bob.",
        "In Bob's project {rule}.",
        "@bob: {rule}",
    ],
    "supposed": [
        "Pretend that {rule}.",
        "Let's pretend {rule}.",
        "Suppose that {rule}.",
        "Imagine that {rule}.",
        "Let's say {rule}.",
        "Assume that {rule}.",
    ],
    "worded": [
        "Translate this into German: {rule}.",
        "Print the text {rule}.",
        "Add a comment that says: {rule}.",
        "Write in the README: {rule}.",
        "Put this on the button: {rule}.",
        "Commit message: {rule}",
        "PR title: {rule}",
        "The error text: {rule}.",
        "Button text: {rule}",
    ],
}
LIFTED = [
    "Remove the constraint that {rule}.",
    "Drop the rule that {rule}.",
    "Please cancel the rule that {rule}.",
    "Lift the requirement that {rule}.",
    "Forget the rule that {rule}.",
    "We dropped the rule that {rule}.",
    "The rule that {rule} is gone.",
    "The policy that {rule} no longer applies.",
    "The constraint that {rule} has been lifted.",
    "Rename the test to '{rule}'.",
    'Rename the test to "{rule}".',
    "Change the button text to '{rule}'.",
    "The label should read '{rule}'.",
    "Set the title to \u201c{rule}\u201d.",
    "Use '{rule}' as the error message.",
]
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
    "denied": [
        "我没说{rule}。",
        "我没说过{rule}。",
        "我从来没要求{rule}。",
        "没人说过{rule}。",
        "没有人规定{rule}。",
        "不是说{rule}。",
        "并不是要求{rule}。",
        "没有规定说{rule}。",
        "我的意思不是{rule}。",
        "说{rule}是错的。",
        "别说一定要{rule}。",
        "谁规定的{rule}。",
    ],
    "told": [
        "老王说{rule}。",
        "老王写道：{rule}。",
        "我老板一直说{rule}。",
        "{rule}，老王说的。",
        "{rule}，他声称。",
        "据说{rule}。",
    ],
    "supposed": ["假装{rule}。", "假设{rule}。", "想象一下{rule}。", "就当作{rule}。"],
    "worded": [
        "把下面这句翻译成英文：{rule}。",
        "在 README 里写一句：{rule}。",
        "给按钮加个提示：{rule}。",
        "提交信息：{rule}",
        "按钮文字：{rule}",
    ],
}
LIFTED_ZH = [
    "取消{rule}的规定。",
    "撤销{rule}的要求。",
    "请解除{rule}的限制。",
    "我们废除了{rule}这条规则。",
    "{rule}的规定作废了。",
    "{rule}这条约束取消了。",
    "把测试改名为“{rule}”。",
    "把按钮文字改成'{rule}'。",
    "标题设为「{rule}」。",
]
OWN = [
    "{Rule}.",
    "- {rule}",
    "Rule: {rule}.",
    "Please remember: {rule}.",
    "From now on {rule}.",
    "{Rule}, no exceptions.",
]
OWN_ZH = ["{rule}。", "- {rule}", "约束：{rule}。", "请记住：{rule}。", "从现在起{rule}。", "另外{rule}。"]


@pytest.mark.parametrize("why", MENTIONS)
@given(data=st.data(), thing=THINGS, rule=RULES)
def test_a_rule_that_is_mentioned_traps_nobody(why: str, data: st.DataObject, thing: str, rule: str) -> None:
    frame = data.draw(st.sampled_from(MENTIONS[why]))
    text = said(frame, rule.format(thing=thing))
    assert kinds(text) == [], text


@pytest.mark.parametrize("why", MENTIONS_ZH)
@given(data=st.data(), thing=THINGS_ZH, rule=RULES_ZH)
def test_a_rule_that_is_mentioned_in_chinese_traps_nobody(why: str, data: st.DataObject, thing: str, rule: str) -> None:
    frame = data.draw(st.sampled_from(MENTIONS_ZH[why]))
    text = said(frame, rule.format(thing=thing))
    assert kinds(text) == [], text


@given(frame=st.sampled_from(LIFTED), thing=THINGS, rule=RULES)
def test_a_rule_that_is_lifted_or_only_worded_is_no_constraint(frame: str, thing: str, rule: str) -> None:
    text = said(frame, rule.format(thing=thing))
    assert [find for find in EXTRACTOR.extract(text).finds if find.constraint] == [], text


@given(frame=st.sampled_from(LIFTED_ZH), thing=THINGS_ZH, rule=RULES_ZH)
def test_a_rule_that_is_lifted_in_chinese_is_no_constraint(frame: str, thing: str, rule: str) -> None:
    text = said(frame, rule.format(thing=thing))
    assert [find for find in EXTRACTOR.extract(text).finds if find.constraint] == [], text


@given(
    frame=st.sampled_from(
        [
            "It is not true that the {key} is {value}.",
            "I never said that the {key} is {value}.",
            "The {key} is {value}, says Bob.",
            "Claude: the {key} is {value}.",
            "Pretend that the {key} is {value}.",
            "Let's say the {key} is {value}.",
            "Write in the README: the {key} is {value}.",
            "我没说{key}是 {value}。",
            "老王：{key}是 {value}。",
            "假装{key}是 {value}。",
            "把这句翻译成英文：{key}是 {value}。",
        ]
    ),
    key=st.sampled_from(["port", "timeout", "page size", "batch size"]),
    value=st.integers(2, 99_999),
)
def test_a_value_that_is_not_hers_is_no_fact(frame: str, key: str, value: int) -> None:
    text = frame.format(key=key, value=value)
    assert kinds(text) == [], text


@pytest.mark.parametrize(
    "text",
    [
        "Please go on with it now.",
        "Go ahead.",
        "Continue with the next one, please.",
        "Keep going.",
        "请继续吧。",
        "继续往下做就行。",
    ],
)
def test_idle_talk_states_nothing(text: str) -> None:
    assert kinds(text) == []


@given(frame=st.sampled_from(OWN), thing=THINGS, rule=RULES)
def test_her_own_rule_is_a_constraint(frame: str, thing: str, rule: str) -> None:
    text = said(frame, rule.format(thing=thing))
    assert [(find.kind, find.constraint) for find in EXTRACTOR.extract(text).finds] == [("decision", True)], text


@given(frame=st.sampled_from(OWN_ZH), thing=THINGS_ZH, rule=RULES_ZH)
def test_her_own_rule_in_chinese_is_a_constraint(frame: str, thing: str, rule: str) -> None:
    text = frame.format(rule=rule.format(thing=thing))
    assert [(find.kind, find.constraint) for find in EXTRACTOR.extract(text).finds] == [("decision", True)], text
