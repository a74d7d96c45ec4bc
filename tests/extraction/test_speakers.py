"""What somebody else says is told from what she says herself: by a name, a role, a talk that was pasted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.sayings import EXTRACTOR, RULES, RULES_ZH, THINGS, THINGS_ZH, heard, kinds, said

# A name that nobody has heard, and that begins no sentence.
SYLLABLES = st.sampled_from(["ka", "lo", "mi", "ru", "zo", "vo", "ti", "na", "xe", "bu"])
UNHEARD = st.lists(SYLLABLES, min_size=2, max_size=4).map("".join).map(str.capitalize)
KNOWN = st.sampled_from(
    ["Bob", "Priya", "Hallvard", "Claude", "Codex", "PM", "The reviewer", "Our boss", "Ann Miller", "bob"]
)
SPOKEN = [
    "{name}: {rule}.",
    "- {name}: {rule}.",
    "**{name}:** {rule}",
    "[10:32] {name}: {rule}",
    "{name} (on Slack): {rule}",
]
ASIDE = ["{name} — {rule}.", "{name} - {rule}", "{Rule}. — Bob", "{name} said: {rule}. And {rule}."]
KNOWN_ZH = st.sampled_from(
    ["老王", "小李", "阿强", "张伟", "欧阳工", "李经理", "王总", "产品经理", "老板", "Claude", "Bob", "周工"]
)
SPOKEN_ZH = [
    "{name}：{rule}。",
    "{name}: {rule}",
    "- {name}：{rule}。",
    "{name} — {rule}。",
    "{name}（群里）：{rule}",
    "10:32 {name}：{rule}",
]
LABELS = st.one_of(
    st.sampled_from(
        ["Rule", "Constraint", "Hard rule", "Requirement", "Invariant", "Policy", "Guideline", "Code style"]
    ),
    st.sampled_from(["Important", "Note", "Reminder", "Warning", "Also", "PS", "One more thing", "Me"]),
    st.sampled_from(["Tests", "Frontend", "Payments", "Migrations", "Security", "Storage", "Money", "Cookie", "CI"]),
)
LABELS_ZH = st.sampled_from(
    [
        "约束",
        "规则",
        "注意",
        "重要",
        "补充",
        "红线",
        "要求",
        "测试",
        "前端",
        "日志",
        "安全",
        "范围",
        "周期",
        "许可",
        "数据库",
        "时间",
    ]
)


@given(frame=st.sampled_from([*SPOKEN, *ASIDE]), name=KNOWN, thing=THINGS, rule=RULES)
def test_what_another_says_is_not_hers(frame: str, name: str, thing: str, rule: str) -> None:
    text = said(frame, rule.format(thing=thing), name)
    assert kinds(text) == [], text


@given(
    frame=st.sampled_from(SPOKEN), name=UNHEARD, thing=THINGS, verb=st.sampled_from(["never touch", "do not change"])
)
def test_what_somebody_unheard_of_says_does_not_hold_at_once(frame: str, name: str, thing: str, verb: str) -> None:
    text = said(frame, f"{verb} {thing}", name)
    assert heard(text) == [], text


@given(frame=st.sampled_from(SPOKEN_ZH), name=KNOWN_ZH, thing=THINGS_ZH, rule=RULES_ZH)
def test_what_another_says_in_chinese_is_not_hers(frame: str, name: str, thing: str, rule: str) -> None:
    text = said(frame, rule.format(thing=thing), name)
    assert kinds(text) == [], text


@given(names=st.lists(KNOWN, min_size=2, max_size=4), thing=THINGS, rule=RULES, own=RULES)
def test_of_a_pasted_talk_nothing_is_hers_but_what_stands_apart(
    names: list[str], thing: str, rule: str, own: str
) -> None:
    turns = "\n".join(f"{name}: {rule.format(thing=thing)}\n{rule.format(thing=thing)}" for name in names)
    assert kinds(turns) == []
    alone = EXTRACTOR.extract(f"{turns}\n\nRule: {own.format(thing=thing)}.").finds
    assert [(find.kind, find.constraint) for find in alone] == [("decision", True)]


@given(label=LABELS, thing=THINGS, verb=st.sampled_from(["never touch", "do not change", "never delete"]))
def test_a_label_is_no_speaker(label: str, thing: str, verb: str) -> None:
    text = f"{label}: {verb} {thing}."
    assert heard(text) == [("decision", True)], text


@given(label=LABELS_ZH, thing=THINGS_ZH, rule=RULES_ZH)
def test_a_label_in_chinese_is_no_speaker(label: str, thing: str, rule: str) -> None:
    text = f"{label}：{rule.format(thing=thing)}。"
    assert heard(text) == [("decision", True)], text


@given(
    text=st.sampled_from(
        [
            "I said {rule}.",
            "I told you: {rule}.",
            "We said {rule}.",
            "Me: {rule}.",
            "Add this rule: {rule}.",
            "Decided: {rule}.",
        ]
    ),
    thing=THINGS,
    verb=st.sampled_from(["never touch", "you must not change", "we must never delete"]),
)
def test_what_she_says_that_she_said_is_hers(text: str, thing: str, verb: str) -> None:
    said_so = text.format(rule=f"{verb} {thing}")
    assert heard(said_so) == [("decision", True)], said_so
