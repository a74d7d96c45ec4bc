"""Budgets, the packing order, forms, and what a blocked compile says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.compiler.make import at, fact, item, material, message, ran, request, shop, task
from tests.compiler.reading import sections
from workbench.compiler import Blocked, Compilation, Compiled, EvidenceItem, Material, Row, Target, compile_package
from workbench.domain.contract import AcceptanceItem, Contract
from workbench.domain.evidence import Evidence
from workbench.domain.note import Guideline
from workbench.errors import UsageError
from workbench.tokens import counter

O200K = counter("o200k")


def compiled(of: Material, budget: int | None = None, **options: object) -> Compiled:
    outcome = compile_package(of, request(budget, **options), O200K)  # type: ignore[arg-type]
    assert isinstance(outcome, Compiled)
    return outcome


def target(window: int | None, *, estimated: bool = False) -> Target:
    return Target("codex", window, "o200k", estimated)


@pytest.mark.parametrize(
    ("given", "to", "options", "tokens"),
    [
        (None, target(200_000), {}, 6000),
        (None, target(40_000), {}, 2000),
        (None, target(None), {}, 6000),
        (3000, target(200_000), {}, 3000),
        (3000, target(200_000, estimated=True), {}, 2700),
        (9000, target(10_000), {"reserves": {"system": 1500, "output": 500}}, 8000),
        (None, target(40_000), {"share": 0.1, "default_tokens": 3000}, 3000),
    ],
)
def test_how_much_room_there_is(given: int | None, to: Target, options: dict[str, object], tokens: int) -> None:
    budget = compiled(shop(), given, to=to, **options).budget
    assert budget["tokens"] == tokens
    assert budget["given"] == given


def test_an_unknown_window_is_shown_as_assumed() -> None:
    budget = compiled(shop(), to=target(None)).budget
    assert budget["assumed"] is True
    assert budget["window"] == 128_000
    assert compiled(shop()).budget["assumed"] is False


def test_the_margin_and_every_reserve_are_shown() -> None:
    budget = compiled(shop(), to=target(200_000, estimated=True), reserves={"tools": 7}).budget
    assert budget["margin"] == 0.10
    assert budget["reserves"] == {"system": 0, "tools": 7, "output": 0, "protocol": 0}
    assert compiled(shop()).budget["margin"] == 0


def test_a_budget_of_nothing_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        compile_package(shop(), request(0), O200K)


def test_a_blocked_compile_says_by_how_much_and_who_could_shorten_what() -> None:
    blocked = compile_package(shop(), request(100), O200K)
    assert isinstance(blocked, Blocked)
    document = blocked.as_json()
    assert document["status"] == "blocked"
    assert document["code"] == "task_context_overflow"
    assert isinstance(compile_package(shop(), request(100 + blocked.over_by), O200K), Compiled)
    who = {row["id"]: row["could_shorten"] for row in document["required"]}
    assert who["task000001"] == who["f000000005"] == "person"
    assert who["state"] == "agent"
    failure = next(row for row in document["required"] if row["id"] == "ev00000001")
    assert 0 < failure["smallest"] <= failure["tokens"]


def ids(rows: tuple[Row, ...], tier: str) -> list[str]:
    return [row.id for row in rows if row.tier == tier and row.included]


def test_high_takes_sixty_percent_and_optional_the_rest_while_both_last() -> None:
    facts = [fact(f"f{n:03d}", f"key{n:03d}", f"value {n:03d} of the shop", day=1 + n % 20) for n in range(100)]
    said = [item(message(n, f"message {n:03d} about the shop", at=at(1 + n % 20))) for n in range(100)]
    of = material(task=task(Contract(objective="shop message value")), facts=facts, history=tuple(said))
    rows = compiled(of, 900).manifest
    high, optional = (
        sum(row.tokens for row in rows if row.tier == tier and row.included) for tier in ("high", "optional")
    )
    assert 0.5 < high / (high + optional) < 0.7


def test_a_spent_list_yields_to_the_other() -> None:
    facts = [fact(f"f{n:03d}", f"key{n:03d}", f"value {n:03d}") for n in range(100)]
    assert len(ids(compiled(material(facts=facts), 700).manifest, "high")) > 50


def test_room_enlarges_forms_in_rank_order() -> None:
    output = "\n".join(f"line {n}: an error that matters" for n in range(60))
    of = material(evidence=(EvidenceItem(ran("e1", "make unit", 2, excerpt=output), True),))
    compilation = Compilation(of, request(), O200K)
    forms = []
    for budget in (190, 350, 2000):
        outcome = compilation.pack(budget)
        assert isinstance(outcome, Compiled)
        forms.append(next(row.form for row in outcome.manifest if row.id == "e1"))
    assert forms == ["reference", "excerpt", "body"]


def test_literal_items_are_never_cut() -> None:
    long = "Every label has to be checked against the list. " * 30
    of = material(task=task(Contract(objective=long)), guidelines=(Guideline(id="g1", text=long),))
    blocked = compile_package(of, request(200), O200K)
    assert isinstance(blocked, Blocked)
    package = compiled(of, 200 + blocked.over_by)
    assert package.prompt.count(long.strip()) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_fixed_text_is_short_below_a_thousand_tokens(language: str) -> None:
    package = compiled(material(task=task(Contract(objective="x"))), 999, language=language)
    longer = compiled(material(task=task(Contract(objective="x"))), 1200, language=language)
    assert package.tokens < 110
    assert longer.tokens > package.tokens + 100
    assert "# " not in package.prompt


def test_long_text_repeats_what_matters_at_the_end_and_short_text_puts_it_there() -> None:
    long, short = sections(compiled(shop(), 6000).prompt), sections(compiled(shop(), 800).prompt)
    rule = "- Never print customer names. (privacy.names = never)"
    assert rule in long["keep"]
    assert rule in long["last"]
    assert list(long)[-1] == "last"
    assert list(short)[-3:] == ["done_when", "keep", "last"]
    assert rule in short["keep"]
    assert rule not in short["last"]


def test_what_had_no_room_is_not_called_none() -> None:
    facts = [fact("f1", "paper", "A5"), fact("f2", "paper", "A4 or something much longer " * 20, state="proposed")]
    many = [fact(f"x{n:03d}", f"key{n:03d}", f"value {n:03d} of the shop", day=9) for n in range(99)]
    prompt = compiled(material(facts=[*facts, *many]), 300).prompt
    assert "No room: To settle." in prompt
    assert "None: " in prompt


def test_the_budget_shapes_nothing_but_the_packing() -> None:
    compilation = Compilation(shop(), request(), O200K)
    first = compilation.pack(700)
    compilation.pack(4000)
    compilation.pack(700, pins=["note000002"], without=["f000000003"])
    again = compilation.pack(700)
    assert first.as_json() == again.as_json()


def test_a_counter_that_estimates_is_kept_under_the_budget_too() -> None:
    for name in ("t0", "bytes", "cl100k"):
        one = counter(name)
        outcome = compile_package(shop(), request(3000), one)
        assert isinstance(outcome, Compiled)
        assert outcome.tokens == one.count(outcome.prompt.replace(outcome.snapshot, "")) + 16 <= 3000
        assert outcome.tokenizer == name


def test_the_snapshot_follows_content_not_the_tokenizers_figures() -> None:
    of = shop()
    one, same = compiled(of, 6000), compiled(replace(of), 6000)
    assert one.snapshot == same.snapshot
    assert len(one.snapshot) == 16
    other = replace(of, guidelines=(Guideline(id="gui0000001", text="Answer in two paragraphs."),))
    assert compiled(other, 6000).snapshot != one.snapshot
    assert one.prompt.count(one.snapshot) == 1


def test_the_time_of_day_makes_no_difference() -> None:
    later = request(2000)
    later = replace(later, now=later.now.replace(hour=23))
    assert compile_package(shop(), later, O200K).as_json() == compiled(shop(), 2000).as_json()


def test_acceptance_that_has_passed_is_not_among_the_unmet() -> None:
    contract = Contract(
        acceptance=(AcceptanceItem(id="a1", text="signed off"), AcceptanceItem(id="a2", text="printed"))
    )
    seen = EvidenceItem(Evidence(id="e1", kind="confirmation", task="task000001", item="a1", at=at(3)), True)
    found = sections(compiled(material(task=task(contract), evidence=(seen,)), 3000).prompt)
    assert "- signed off [a1]; shown by a person's confirmation; passed so far" in found["done_when"]
    assert "- printed" in found["last"]
    assert "- signed off" not in found["last"]
