"""What must hold of every package, over generated materials."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generate import materials
from tests.compiler.make import request
from tests.compiler.reading import sections, unmarked
from workbench.compiler import Blocked, Compilation, Compiled, Material, Staleness, compile_package
from workbench.compiler.collect_contested import Contested
from workbench.compiler.envelope import snapshot_of
from workbench.compiler.frame import Filled, Frame
from workbench.compiler.layout import SECTIONS
from workbench.compiler.words import words_for
from workbench.domain.fact import WORKSPACE, Registry
from workbench.tokens import counter

O200K = counter("o200k")
LADDER = (60, 150, 300, 500, 800, 990, 1000, 1010, 1100, 1300, 2000, 4000, 9000)
languages = st.sampled_from(["en", "zh"])
strategies = st.sampled_from(["recent", "summary_recent", "evidence", "evidence_role"])


def counted(compiled: Compiled) -> int:
    """Tokens of the prompt, by the documented rule: without the id, plus sixteen."""
    return O200K.count(compiled.prompt.replace(compiled.snapshot, "")) + 16


def least_budget(compilation: Compilation) -> int:
    """The smallest budget that is not blocked."""
    blocked = compilation.pack(1)
    assert isinstance(blocked, Blocked)
    return 1 + blocked.over_by


@settings(max_examples=120)
@given(materials(), languages, st.sampled_from(["o200k", "cl100k", "t0", "bytes"]))
def test_required_is_carried_or_the_compile_is_blocked_exactly_at_the_boundary(
    material: Material, language: str, tokenizer: str
) -> None:
    compilation = Compilation(material, request(language=language), counter(tokenizer))
    least = least_budget(compilation)
    below, at, above = (compilation.pack(least + change) for change in (-1, 0, 1))
    assert isinstance(below, Blocked)
    assert below.over_by == 1
    for budget, compiled in ((least, at), (least + 1, above)):
        assert isinstance(compiled, Compiled)
        assert compiled.tokens <= budget
        assert all(row.included for row in compiled.manifest if row.tier == "required")


@settings(max_examples=120)
@given(materials(), languages, strategies)
def test_never_over_budget_and_more_room_never_loses_an_item(material: Material, language: str, strategy: str) -> None:
    compilation = Compilation(material, request(language=language, strategy=strategy), O200K)
    least = least_budget(compilation)
    before: set[tuple[str, str]] = set()
    for budget in sorted({*LADDER, *range(least, least + 60, 7)}):
        compiled = compilation.pack(budget)
        if isinstance(compiled, Blocked):
            assert budget < least
            continue
        assert counted(compiled) == compiled.tokens <= budget
        assert O200K.count(compiled.prompt) <= budget
        now = {(row.source_type, row.id) for row in compiled.manifest if row.included}
        assert before <= now
        before = now
        for tier in ("high", "optional"):
            taken = [row.included for row in compiled.manifest if row.tier == tier]
            assert taken == sorted(taken, reverse=True)


def shuffled(material: Material, seed: int) -> Material:
    chance = random.Random(seed)

    def mixed(values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(chance.sample(values, len(values)))

    facts = list(material.registry.facts.values())
    names = ("evidence", "notes", "guidelines", "history", "attempts", "artifacts")
    parts = {name: mixed(getattr(material, name)) for name in names}
    return replace(material, registry=Registry(chance.sample(facts, len(facts))), **parts)  # type: ignore[arg-type]


@settings(max_examples=80)
@given(materials(), st.integers(0, 1000), st.sampled_from([400, 900, 1500, 6000]))
def test_the_same_bytes_whatever_the_order_of_records(material: Material, seed: int, budget: int) -> None:
    one = compile_package(material, request(budget), O200K)
    other = compile_package(shuffled(material, seed), request(budget), O200K)
    assert one.as_json() == other.as_json()
    if isinstance(one, Compiled) and isinstance(other, Compiled):
        assert one.envelope == other.envelope
        assert one.snapshot == other.snapshot == snapshot_of(one.envelope)


@settings(max_examples=120)
@given(materials(), languages, strategies, st.sampled_from([500, 900, 2000, 20_000]))
def test_values_that_no_longer_hold_stand_only_under_to_settle_or_in_marked_history(
    material: Material, language: str, strategy: str, budget: int
) -> None:
    pins = frozenset({"m1", "m3"})
    compiled = compile_package(material, request(budget, language=language, strategy=strategy, pins=pins), O200K)
    if isinstance(compiled, Blocked):
        return
    staleness = Staleness(material.registry, (WORKSPACE, "task000001"))
    for value in staleness.of_fact.values():
        if value.alone:
            assert unmarked(compiled.prompt, value.old) == []


@settings(max_examples=80)
@given(materials(), languages, strategies, st.sampled_from([400, 900, 20_000]))
def test_a_contested_field_is_to_settle_and_holds_nowhere(
    material: Material, language: str, strategy: str, budget: int
) -> None:
    compiled = compile_package(material, request(budget, language=language, strategy=strategy), O200K)
    if isinstance(compiled, Blocked):
        return
    task, words = material.task, words_for(language)
    carried = {row.id for row in compiled.manifest if row.included}
    items = [entry for entries in compiled.envelope["items"].values() for entry in entries]
    for field in task.contests:
        name = field.rpartition(".")[2]
        if field.startswith(("state.variables.", "state.done.")):
            assert not carried & {f"variable:{name}", name}
        else:
            assert f"contested:{field}" in carried
        if f"contested:{field}" in carried:
            begins = words["settle.field"].partition("{values}")[0].format(field=Contested(field, ()).name)
            assert any(begins in line for line in sections(compiled.prompt)["settle"])
    mark = words["settle.marked"].partition("{text}")[0]
    for item in task.state.pending:
        if item.accepted and f"state.pending.{item.id}.text" in task.contests:
            said = words["open"].partition("{text}")[0]
            lines = [line for entry in items if entry["id"] == "state" for line in entry["text"].split("\n")]
            assert any(mark in line for line in lines if said in line or item.started)
    if "contract.objective" in task.contests:
        (said,) = (entry["text"] for entry in items if entry["id"] == task.id)
        assert mark in said


@settings(max_examples=80)
@given(materials(), languages, st.sampled_from([700, 3000]))
def test_one_row_for_every_candidate_and_a_row_behind_every_line(
    material: Material, language: str, budget: int
) -> None:
    compiled = compile_package(material, request(budget, language=language), O200K)
    if isinstance(compiled, Blocked):
        return
    rows = [(row.source_type, row.id) for row in compiled.manifest]
    assert len(rows) == len(set(rows))
    for row in compiled.manifest:
        assert row.included == (row.reason is None) == (row.form is not None)
    carried = [entry for entries in compiled.envelope["items"].values() for entry in entries]
    included = {(row.source_type, row.id) for row in compiled.manifest if row.included}
    assert {(entry["source_type"], entry["id"]) for entry in carried} == included
    known = {line for entry in carried for line in entry["text"].split("\n")}
    known |= fixed_lines(compiled, language)
    fence = compiled.envelope["fence"]
    for line in compiled.prompt.replace(compiled.snapshot, "").split("\n"):
        label = line.startswith((f"<data-{fence} ", f"</data-{fence}>")) or line.endswith((":", "："))
        assert line in known or label


def fixed_lines(compiled: Compiled, language: str) -> set[str]:
    frame = Frame(words_for(language), compiled.identity, "price-labels")
    lines = {"", words_for(language)["none"], words_for(language)["cut_off"]}
    for long in (True, False):
        for present in (SECTIONS, ()):
            for text in frame.text(Filled(present, ()), long=long):
                lines |= set(text.split("\n"))
    return lines | {
        line for line in compiled.prompt.split("\n") if line.startswith(("None: ", "No room: ", "无：", "略去："))
    }


@settings(max_examples=80)
@given(materials(), st.sampled_from([600, 6000]))
def test_data_stays_inside_its_fence_and_no_control_character_gets_through(material: Material, budget: int) -> None:
    compiled = compile_package(material, request(budget), O200K)
    if isinstance(compiled, Blocked):
        return
    prompt, fence = compiled.prompt, compiled.envelope["fence"]
    assert not [c for c in prompt if (ord(c) < 32 and c not in "\n\t") or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF]
    assert prompt.count(f"<data-{fence} ") == prompt.count(f"</data-{fence}>")
    for one in material.history:
        assert fence not in one.body


@settings(max_examples=60)
@given(materials(), st.lists(st.sampled_from(["m1", "m2", "n000000000", "f000000001", "e000000000"]), max_size=3))
def test_pins_give_the_same_package_whenever_they_were_set(material: Material, pins: list[str]) -> None:
    set_before = compile_package(material, request(3000, pins=frozenset(pins)), O200K)
    compilation = Compilation(material, request(3000), O200K)
    compilation.pack(900, pins=["m5"], without=["m4"])
    assert compilation.pack(pins=pins).as_json() == set_before.as_json()
