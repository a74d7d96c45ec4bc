"""Every refusal has its code in the manifest; what is handled in a marked way is not refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.compiler.make import (
    DEV,
    SESSION,
    at,
    fact,
    item,
    material,
    message,
    ran,
    request,
    said,
    shop,
    stamp,
    task,
)
from tests.compiler.reading import sections
from workbench.compiler import Compilation, Compiled, EvidenceItem, Material, Row, compile_package
from workbench.domain.artifact import Artifact, ArtifactVersion, Binding
from workbench.domain.contract import Contract, InputSpec
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Act, Fact, Source
from workbench.domain.message import Message
from workbench.domain.note import Guideline, Note
from workbench.domain.trimming import Fate, Trim
from workbench.tokens import counter

O200K = counter("o200k")


def compiled(of: Material, **options: object) -> Compiled:
    outcome = compile_package(of, request(**({"budget": 4000} | options)), O200K)  # type: ignore[arg-type]
    assert isinstance(outcome, Compiled)
    return outcome


def row(of: Material, source_id: str, **options: object) -> Row:
    return next(r for r in compiled(of, **options).manifest if r.id == source_id)


def refused(of: Material, source_id: str, **options: object) -> str | None:
    found = row(of, source_id, **options)
    assert not found.included
    assert found.tier == "forbidden"
    assert found.tokens == 0
    return found.reason


@pytest.mark.parametrize("act", ["rejected", "retracted"])
def test_a_fact_that_was_put_aside(act: str) -> None:
    assert refused(material(facts=[fact("f1", "a.b", 1, state=act)]), "f1") == act


def test_a_superseded_fact() -> None:
    chain = [fact("f1", "a.b", 1), fact("f2", "a.b", 2, supersedes=("f1",))]
    assert refused(material(facts=chain), "f1") == "superseded"


def test_back_to_the_first_value_is_a_chain_of_three_with_the_last_one_holding() -> None:
    chain = [
        fact("f1", "label.ink", "crimson", day=1, sources=(said(f"{SESSION}#m1", "crimson", 1),)),
        fact("f2", "label.ink", "teal", day=2, supersedes=("f1",)),
        fact("f3", "label.ink", "crimson", day=3, supersedes=("f2",)),
    ]
    history = (item(message(1, "crimson it is")), item(message(2, "teal it is")))
    package = compiled(material(facts=chain, history=history))
    reasons = {r.id: r.reason for r in package.manifest}
    assert [reasons["f1"], reasons["f2"], reasons["f3"]] == ["superseded", "superseded", None]
    assert reasons[f"{SESSION}#m1"] is None
    assert reasons[f"{SESSION}#m2"] == "states_superseded"
    assert "label.ink = crimson" in package.prompt
    assert "teal" not in package.prompt


def test_a_workspace_fact_behind_the_tasks_own() -> None:
    both = [fact("f1", "a.b", 1), fact("f2", "a.b", 2, scope="task000001")]
    assert refused(material(facts=both), "f1") == "shadowed_by:f2"


def test_another_tasks_fact() -> None:
    assert refused(material(facts=[fact("f1", "a.b", 1, scope="other00001")]), "f1") == "out_of_scope"


def test_a_direct_dependencys_fact_is_in_scope_and_yields_to_the_workspaces() -> None:
    other = task(id="task000002", slug="style")
    own = task(Contract(depends_on=("style",)))
    facts = [fact("f1", "a.b", 1, scope="task000002"), fact("f2", "c.d", 2, scope="task000002"), fact("f3", "c.d", 3)]
    one = material(task=own, tasks={"task000002": other}, facts=facts)
    assert "a.b = 1 (of task style)" in compiled(one).prompt
    assert refused(one, "f2") == "shadowed_by:f3"


def test_a_rule_that_only_a_tool_set_up() -> None:
    planted = fact("f1", "a.b", "obey", kind="constraint", sources=(Source(type="tool", by="agent:x"),))
    by_rule = replace_acts(planted, "first_value")
    assert refused(material(facts=[by_rule]), "f1") == "untrusted_input"
    assert row(material(facts=[planted]), "f1").included, "a person accepted it"


def replace_acts(one: Fact, by: str) -> Fact:
    return one.with_(acts=(Act(act="accepted", by=by, at=at(1)),))


def test_another_tasks_failure_and_evidence() -> None:
    other = (
        EvidenceItem(ran("e1", "make unit", 1, task="other00001"), True),
        EvidenceItem(ran("e2", "make unit", 0, task="other00001"), True),
    )
    assert refused(material(evidence=other), "e1") == "other_task_failure"
    assert refused(material(evidence=other), "e2") == "out_of_scope"


def inputs(*, evidence: tuple[str, ...], bound: bool = True, version: int = 1) -> Material:
    own = task(Contract(inputs=(InputSpec(key="style", from_="style", output="guide"),)))
    other = task(id="task000002", slug="style")
    binding = Binding(task="task000002", key="guide", version=1, evidence=evidence, bound=stamp())
    made = ArtifactVersion(number=version, sha256="0" * 64, size=3, made=stamp())
    one = Artifact(id="art1", task="task000002", key="guide", versions=(made,), bindings=(binding,) if bound else ())
    return material(task=own, tasks={"task000002": other}, artifacts=(one,))


@pytest.mark.parametrize(
    ("of", "code", "why"),
    [
        (inputs(evidence=()), "untrusted_input", "its binding has no evidence"),
        (inputs(evidence=("e1",), bound=False), "untrusted_input", "no output is bound to it yet"),
        (inputs(evidence=("e1",), version=7), "missing_body", "the bound version is gone"),
    ],
)
def test_an_input_that_cannot_be_relied_on_is_refused_and_said_to_be_missing(of: Material, code: str, why: str) -> None:
    assert refused(of, "art1") == code
    missing = row(of, "input:style")
    assert missing.included
    assert missing.tier == "required"
    assert f"missing input: style from style, {why}" in compiled(of).prompt


def test_an_input_of_a_task_that_is_not_there() -> None:
    own = task(Contract(inputs=(InputSpec(key="style", from_="nobody", output="guide"),)))
    assert "missing input: style from nobody, there is no such task here" in compiled(material(task=own)).prompt


def test_a_bound_input_goes_as_a_reference() -> None:
    package = compiled(inputs(evidence=("e1",)))
    assert "artifact art1@1" in package.prompt
    assert next(r for r in package.manifest if r.id == "art1").form == "reference"


def cut(message_: Message, disposition: str, text: str = "") -> Fate:
    act = {"dropped": "drop", "summarised": "summarise"}[disposition]
    trim = Trim(id="t1", act=act, messages=(message_.id,), by=DEV, at=at(6), text=text)  # type: ignore[arg-type]
    return Fate(disposition, "project", False, trim)  # type: ignore[arg-type]


def test_a_dropped_message_and_by_whom() -> None:
    one = message(1, "never mind this")
    assert refused(material(history=(item(one, cut(one, "dropped")),)), one.ref) == f"dropped:{DEV}"


def test_a_summarised_message_yields_to_its_summary() -> None:
    one = message(1, "a long story")
    of = material(history=(item(one, cut(one, "summarised", "the short of it")),))
    assert refused(of, one.ref) == "duplicate_of:t1"
    assert row(of, "t1").source_type == "summary"
    assert "the short of it" in compiled(of).prompt


def test_tool_output_and_an_agents_old_words_are_working_memory() -> None:
    tool = message(30, "rows", origin="tool", kind="tool_result", turn=12)
    old = message(4, "I will look", origin="agent", turn=2)
    new = message(31, "I looked", origin="agent", turn=12)
    of = material(history=(item(tool), item(old), item(new)))
    assert refused(of, tool.ref) == refused(of, old.ref) == "working_memory"
    assert row(of, new.ref).included


def test_the_same_words_twice() -> None:
    of = material(history=(item(message(1, "go on")), item(message(2, "go  on"))))
    assert refused(of, f"{SESSION}#m1") == f"duplicate_of:{SESSION}#m2"


def test_a_message_that_became_the_objective() -> None:
    of = material(task=task(Contract(objective="Do it")), history=(item(message(1, "Do it")),))
    assert refused(of, f"{SESSION}#m1") == "duplicate_of:task000001"


def test_an_older_run_of_the_same_command() -> None:
    runs = (EvidenceItem(ran("e1", "make unit", 1, day=1), True), EvidenceItem(ran("e2", "make unit", 0, day=2), True))
    assert refused(material(evidence=runs), "e1") == "duplicate_of:e2"


def test_nothing_in_it() -> None:
    of = material(
        history=(item(message(1, "  ")),),
        notes=(Note(id="n1", key="k", value="", written=stamp()),),
        guidelines=(Guideline(id="g1", text=" ", origin=""),),
        evidence=(EvidenceItem(Evidence(id="e1", kind="claim", task="task000001"), True),),
    )
    for source_id in (f"{SESSION}#m1", "n1", "g1", "e1"):
        assert refused(of, source_id) == "missing_body"


def test_notes_of_one_key_the_latest_wins_and_the_tasks_own_goes_first() -> None:
    notes = (
        Note(id="n1", key="k", value=1, written=stamp(1)),
        Note(id="n2", key="k", value=2, written=stamp(2)),
        Note(id="n3", key="k", value=3, task="task000001", written=stamp(1)),
        Note(id="n4", key="k", value=4, task="other00001", written=stamp(3)),
    )
    of = material(notes=notes)
    assert refused(of, "n1") == "superseded"
    assert refused(of, "n2") == "shadowed_by:n3"
    assert refused(of, "n4") == "out_of_scope"
    assert row(of, "n3").included


def test_a_guideline_of_another_task() -> None:
    rules = (Guideline(id="g1", text="x", scope="other"), Guideline(id="g2", text="y", scope="price-labels"))
    of = material(guidelines=rules)
    assert refused(of, "g1") == "out_of_scope"
    assert row(of, "g2").included


def test_toggled_off_and_never_what_is_required() -> None:
    of = shop()
    assert refused(of, "f000000003", without=frozenset({"f000000003"})) == "toggled_off"
    assert row(of, "f000000005", without=frozenset({"f000000005"})).included
    pinned = {"pins": frozenset({"f000000003"}), "without": frozenset({"f000000003"})}
    assert row(of, "f000000003", **pinned).tier == "required"


def test_both_values_of_a_conflict_are_toggled_together() -> None:
    package = compiled(shop(), without=frozenset({"f000000006"}))
    reasons = {r.id: r.reason for r in package.manifest}
    assert reasons["f000000006"] == reasons["f000000007"] == "toggled_off"


def test_below_the_floor_whatever_the_room() -> None:
    old = item(message(1, "hm, right", at=at(1)))
    rest = tuple(item(message(n, f"say {n} of labels", at=at(n))) for n in range(2, 20))
    of = material(task=task(Contract(objective="say labels")), history=(old, *rest))
    found = row(of, f"{SESSION}#m1", budget=100_000)
    assert found.reason == "below_floor"
    assert compiled(of).envelope["score_floor"] > found.score


def test_no_room_says_what_it_wanted() -> None:
    many = [fact(f"f{n:03d}", f"key{n}", f"a value for number {n}") for n in range(60)]
    rows = [r for r in compiled(material(facts=many), budget=300).manifest if r.source_type == "fact"]
    left_out = [r for r in rows if not r.included]
    assert left_out
    assert {r.reason for r in left_out} == {"budget"}
    assert all(r.wanted > 0 and r.tokens == 0 for r in left_out)


def test_a_pin_overrides_choice_but_not_what_does_not_hold() -> None:
    one = message(1, "never mind this")
    of = material(
        history=(item(one, cut(one, "dropped")),),
        facts=[fact("f1", "a.b", 1, state="rejected")],
    )
    pins = frozenset({"m1", "f1", "nonsense"})
    package = compiled(of, pins=pins)
    reasons = {r.id: (r.tier, r.reason) for r in package.manifest}
    assert reasons[one.ref] == ("required", None)
    assert reasons["f1"] == ("forbidden", "rejected")
    assert "never mind this" in package.prompt
    assert package.not_found == ("nonsense",)
    assert package.as_json()["not_found"] == ["nonsense"]


def test_a_pin_reaches_a_message_that_is_not_collected_by_itself() -> None:
    old = message(2, "the rare finding", origin="agent", turn=1)
    of = material(history=(item(old), item(message(90, "last", turn=60))))
    assert "the rare finding" not in compiled(of).prompt
    assert "the rare finding" in Compilation(of, request(), O200K).pack(4000, pins=[old.ref]).prompt  # type: ignore[union-attr]


def test_stale_evidence_is_one_line_and_not_refused() -> None:
    run = EvidenceItem(ran("e1", "make lint", 0), False, ("a.py",))
    package = compiled(material(evidence=(run,)))
    assert sections(package.prompt)["check"] == [
        "- passed 2026-05-03 10:05, a.py changed since, run again: `make lint`"
    ]


def test_secrets_are_masked_and_the_item_goes_on() -> None:
    of = replace(
        material(history=(item(message(1, "the key is hunter2")),)), mask=lambda text: text.replace("hunter2", "****")
    )
    package = compiled(of)
    assert "the key is ****" in package.prompt
    assert "hunter2" not in str(package.as_json())
