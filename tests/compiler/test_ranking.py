"""Scores and their parts, and the matching behind them."""

from __future__ import annotations

from tests.compiler.make import DEV, at, fact, item, material, message, ran, request, shop, task
from workbench.compiler import Compiled, EvidenceItem, Material, Row, compile_package, standings
from workbench.compiler.bm25 import scores, words
from workbench.domain.contract import AcceptanceItem, CommandSpec, Contract
from workbench.domain.evidence import Evidence
from workbench.domain.trimming import Fate, Trim
from workbench.tokens import counter

O200K = counter("o200k")


def rows(of: Material, **options: object) -> dict[str, Row]:
    outcome = compile_package(of, request(9000, **options), O200K)  # type: ignore[arg-type]
    assert isinstance(outcome, Compiled)
    for row in outcome.manifest:
        assert row.score == sum(row.parts.values())
    return {row.id: row for row in outcome.manifest}


def test_every_condition_has_its_points_in_the_manifest() -> None:
    found = rows(shop(), pins=frozenset({"note000002"}))
    assert found["task000001"].parts["named"] == 1000
    assert found["state"].parts["of_the_task"] == 900
    assert found["art0000001"].parts["upstream"] == 800
    assert found["ev00000001"].parts["failure"] == 780
    assert found["ev00000003"].parts["target_path"] == 650
    assert found["note000002"].parts["named"] == 1000
    assert found["note000002"].tier == "required"
    assert found["f000000002"].parts["trust"] == 60
    assert found["f000000003"].parts["trust"] == 30


def test_what_a_person_let_stay_while_trimming_counts_more() -> None:
    back = Trim(id="t1", act="restore", messages=("m1",), by=DEV, at=at(6))
    kept = item(message(1, "keep this"), Fate("kept", "project", False, back))
    assert rows(material(history=(kept,)))["claude:aaaa-1#m1"].parts["kept"] == 500


def test_recency_is_a_rank_within_the_kind() -> None:
    facts = [fact(f"f{n}", f"k{n}", n, day=n) for n in (1, 3, 28)]
    found = rows(material(facts=facts))
    assert [found[f"f{n}"].parts.get("recency", 0) for n in (1, 3, 28)] == [0, 20, 40]


def test_ties_go_to_the_newer_then_the_shorter_then_the_id() -> None:
    facts = [
        fact("f4", "k4", "some much longer value"),
        fact("f3", "k3", "v"),
        fact("f2", "k2", "v"),
        fact("f1", "k1", "v", day=2, trust="reported"),
    ]
    order = [row.id for row in rows(material(facts=facts)).values() if row.source_type == "fact"]
    assert order == ["f1", "f2", "f3", "f4"]


def test_matching_is_a_whole_number_from_0_to_100() -> None:
    found = scores("label ink", ["the ink of a label", "a label here", "nothing of it", ""])
    assert found[0] == 100
    assert 0 < found[1] < 100
    assert found[2:] == [0, 0]
    assert scores("", ["x"]) == [0]
    assert scores("x", []) == []


def test_words_of_code_and_chinese() -> None:
    assert words("renderLabel(price_tag) v2") == ["render", "label", "price", "tag", "v2"]
    assert words("主题颜色") == ["主题", "题颜", "颜色"]
    assert words("用teal色") == ["用", "teal", "色"]
    assert scores("颜色", ["主题的颜色", "字体"]) == [100, 0]


def standing(check: str, *evidence: EvidenceItem) -> str:
    contract = Contract(
        commands=(CommandSpec(id="unit", run=("make", "unit")),),
        acceptance=(AcceptanceItem(id="a1", text="x", check=check),),
    )
    return standings(material(task=task(contract), evidence=evidence))["a1"].verdict


def test_how_an_acceptance_item_stands() -> None:
    good, bad = ran("e1", "make unit", 0, day=3), ran("e2", "make unit", 1, day=4)
    assert standing("command:unit") == "waiting"
    assert standing("command:unit", EvidenceItem(good, True)) == "passed"
    assert standing("command:unit", EvidenceItem(good, False)) == "stale"
    assert standing("command:unit", EvidenceItem(good, True), EvidenceItem(bad, True)) == "failed"
    assert standing("command:unit", EvidenceItem(good.with_(trust="reported"), True)) == "claimed"
    assert standing("command:unit", EvidenceItem(good.with_(exit_code=None), True)) == "waiting"
    claim = Evidence(id="e3", kind="claim", task="task000001", item="a1", text="done")
    assert standing("manual", EvidenceItem(claim, True)) == "claimed"
    look = Evidence(id="e4", kind="confirmation", task="task000001", item="a1")
    assert standing("manual", EvidenceItem(look, True), EvidenceItem(claim, True)) == "passed"


def test_the_last_failure_is_the_one_that_no_later_run_passed() -> None:
    contract = Contract(commands=(CommandSpec(id="unit", run=("make", "unit")),))
    runs = [
        ran("e1", "make unit", 1, day=1),
        ran("e2", "make docs", 1, day=2),
        ran("e3", "grep x y", 1, day=3),
        ran("e4", "make lint", 1, day=4),
        ran("e5", "make lint", 0, day=5),
    ]
    found = rows(material(task=task(contract), evidence=tuple(EvidenceItem(one, True) for one in runs)))
    kinds = {name: row.source_type for name, row in found.items() if name.startswith("e")}
    assert kinds["e1"] == "failure"
    assert set(kinds.values()) == {"failure", "evidence"}
    assert list(kinds.values()).count("failure") == 1
    assert found["e4"].reason == "duplicate_of:e5"
