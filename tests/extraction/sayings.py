"""Rules as people put them, and what is heard in a text."""

from __future__ import annotations

from hypothesis import strategies as st

from workbench.extraction import Extractor, Place

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


def kinds(text: str) -> list[tuple[str, str]]:
    return [(find.kind, find.text) for find in EXTRACTOR.extract(text).finds]


def said(frame: str, rule: str, name: str = "") -> str:
    return frame.format(rule=rule, Rule=rule[0].upper() + rule[1:], name=name)


def heard(text: str) -> list[tuple[str, bool]]:
    """What a message of hers would make hold at once, as kind and whether a constraint."""
    finds = EXTRACTOR.extract(text, Place(session="s", message="s#1", by="human:dev", typed=True)).finds
    return [(find.kind, find.constraint) for find in finds if find.place.typed]
