"""The two axes of a fact, and what becomes of a new value."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.alike import alike_keys
from workbench.domain.arrival import arrive
from workbench.domain.fact import TRUST_ORDER, Act, Fact, Registry, Source, is_key, means_same, same_value
from workbench.domain.ids import new_id

HUMAN, AGENT = "human:dev", "agent:claude"


def at(minute: int) -> str:
    return f"2026-03-01T10:{minute:02d}:00Z"


def fact(value: object, minute: int = 0, by: str = HUMAN, type_: str = "person", **fields: object) -> Fact:
    source = Source(type=type_, by=by, at=at(minute))  # type: ignore[arg-type]
    return Fact(id=new_id(), key="ui.theme.color", value=value, sources=(source,), observed_at=at(minute), **fields)  # type: ignore[arg-type]


def accepted(f: Fact, minute: int = 0, supersedes: tuple[str, ...] = ()) -> Fact:
    return f.with_(acts=(*f.acts, Act(act="accepted", by=HUMAN, at=at(minute))), supersedes=supersedes)


def test_the_first_value_of_a_person_holds_at_once_and_is_authoritative():
    arrival = arrive(Registry([]), fact("blue"), "entered", at(1))
    assert arrival.outcome == "active"
    assert arrival.fact.trust == "authoritative"
    assert Registry([arrival.fact]).lifecycle(arrival.fact.id) == "active"


def test_an_agents_first_constraint_is_only_proposed():
    arrival = arrive(Registry([]), fact("AA", by=AGENT, type_="command", kind="constraint"), "agent", at(1))
    assert arrival.outcome == "proposed"
    assert arrive(Registry([]), fact("AA", by=AGENT, type_="command"), "agent", at(1)).outcome == "active"


def test_tool_output_never_becomes_a_decision():
    with pytest.raises(ValueError, match="tool output"):
        arrive(Registry([]), fact("x", kind="decision"), "tool", at(1))


@pytest.mark.parametrize("voice", ["entered", "words", "agent", "extracted", "tool"])
def test_another_value_never_replaces_an_active_one_by_itself(voice):
    blue = accepted(fact("blue"))
    arrival = arrive(Registry([blue]), fact("green", 5), voice, at(5))
    assert arrival.outcome == "proposed"
    assert arrival.would_supersede == blue
    assert "blue" in {f.value for f in Registry([blue, arrival.fact]).heads("ui.theme.color")}


def test_the_same_value_again_is_one_more_source_not_a_second_record():
    blue = accepted(fact("blue", by=AGENT, type_="command"))
    arrival = arrive(Registry([blue]), fact("blue", 3), "entered", at(3))
    assert arrival.outcome == "corroborated"
    assert arrival.fact.id == blue.id
    assert len(arrival.fact.sources) == 2
    assert arrival.fact.trust == "authoritative"


def test_a_loop_that_says_the_same_again_does_not_make_a_record_grow():
    known = accepted(fact("blue", 1, AGENT, "command"))
    for minute in range(2, 9):
        known = arrive(Registry([known]), fact("blue", minute, AGENT, "command"), "agent", at(minute)).fact
    assert known.sources == fact("blue", 1, AGENT, "command").sources


def test_a_person_who_says_it_again_answers_her_own_later_words():
    blue, green = accepted(fact("blue", 1)), fact("green", 5, type_="session")
    assert Registry([blue, green]).lifecycle(blue.id) == "challenged"
    again = arrive(Registry([blue, green]), fact("blue", 9), "entered", at(9)).fact
    assert Registry([again, green]).lifecycle(blue.id) == "active"


def test_the_persons_later_words_challenge_and_an_agents_do_not():
    blue = accepted(fact("blue", 1))
    said = fact("green", 9, type_="session")
    assert Registry([blue, said]).lifecycle(blue.id) == "challenged"
    assert Registry([blue, fact("green", 9, AGENT, "session")]).lifecycle(blue.id) == "active"
    assert Registry([accepted(fact("blue", 20)), said]).standing(said.id).lifecycle == "proposed"


def test_what_others_repeat_takes_back_nothing_that_she_said():
    blue, green = accepted(fact("blue", 1)), fact("green", 5, type_="session")
    for voice, by, type_ in (("agent", AGENT, "command"), ("extracted", AGENT, "session"), ("tool", "tool:x", "tool")):
        blue = arrive(Registry([blue, green]), fact("blue", 9, by, type_), voice, at(9)).fact
        assert Registry([blue, green]).lifecycle(blue.id) == "challenged"
    confirmed = blue.with_(acts=(*blue.acts, Act(act="accepted", by=HUMAN, at=at(10))))
    assert Registry([confirmed, green]).lifecycle(blue.id) == "active"


def test_where_she_never_stood_for_it_the_first_who_said_it_counts():
    def told(minute: int) -> Fact:
        return fact("blue", minute, AGENT, "command").with_(acts=(Act(act="accepted", by="first_value", at=at(30)),))

    late = told(2).with_(sources=(*told(2).sources, *told(20).sources))
    green = fact("green", 5, type_="session")
    assert Registry([late, green]).lifecycle(late.id) == "challenged"
    assert Registry([told(6), green]).lifecycle(green.id) == "proposed"
    assert "challenged" not in {Registry([one, green]).lifecycle(one.id) for one in (told(6), told(20))}


def test_what_was_pasted_waits_until_somebody_says_it():
    def pasted(minute: int, **fields: object) -> Fact:
        one = fact("blue", minute, type_="session", **fields)
        return one.with_(sources=tuple(source.with_(pasted=True) for source in one.sources))

    waiting = arrive(Registry([]), pasted(1), "extracted", at(1))
    assert waiting.outcome == "proposed"
    assert not waiting.fact.sources[0].own_words
    again = arrive(Registry([waiting.fact]), pasted(2), "extracted", at(2))
    assert again.outcome == "proposed"
    said = arrive(Registry([waiting.fact]), fact("blue", 3, AGENT, "command"), "agent", at(3))
    assert (said.outcome, said.fact.id) == ("active", waiting.fact.id)
    rule = arrive(Registry([]), pasted(1, kind="constraint"), "extracted", at(1)).fact
    told = fact("blue", 3, AGENT, "command", kind="constraint")
    assert arrive(Registry([rule]), told, "agent", at(3)).outcome == "proposed"


def test_words_older_than_the_active_fact_do_not_challenge_it():
    blue = accepted(fact("blue", 20))
    assert Registry([blue, fact("green", 9, type_="session")]).lifecycle(blue.id) == "active"


def test_blue_green_blue_is_a_chain_of_three():
    blue = accepted(fact("blue", 1))
    green = accepted(fact("green", 2), supersedes=(blue.id,))
    arrival = arrive(Registry([blue, green]), fact("blue", 3), "entered", at(3))
    assert arrival.outcome == "proposed"
    assert arrival.fact.id not in (blue.id, green.id)
    again = accepted(arrival.fact, supersedes=(green.id,))
    registry = Registry([blue, green, again])
    assert [registry.lifecycle(f.id) for f in registry.group("ui.theme.color")] == [
        "superseded",
        "superseded",
        "active",
    ]


def test_retracting_the_successor_brings_the_old_value_back():
    blue = accepted(fact("blue", 1))
    green = accepted(fact("green", 2), supersedes=(blue.id,))
    gone = green.with_(acts=(*green.acts, Act(act="retracted", by=HUMAN, at=at(3))))
    registry = Registry([blue, gone])
    assert registry.lifecycle(blue.id) == "active"
    assert registry.lifecycle(gone.id) == "retracted"


def test_two_accepted_heads_are_contested():
    one, two = accepted(fact("blue", 1)), accepted(fact("green", 2))
    registry = Registry([one, two])
    assert registry.lifecycle(one.id) == registry.lifecycle(two.id) == "contested"
    assert registry.would_supersede(fact("red")) is None


def test_an_alias_leads_to_the_canonical_key_and_a_loop_ends():
    blue = accepted(fact("blue"))
    registry = Registry([blue], {"theme.colour": "ui.theme.color", "a": "b", "b": "a"})
    assert registry.heads("Theme.Colour") == (blue,)
    assert registry.canonical("a") in ("a", "b")


def test_a_tasks_fact_shadows_the_workspaces_for_that_task_only():
    general, own = accepted(fact("blue")), accepted(fact("green", scope="task1"))
    registry = Registry([general, own])
    assert registry.shadowed_by(general, "task1") == own.id
    assert registry.shadowed_by(general, "task2") is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, True, False),
        ("1", 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
    ],
)
def test_values_are_compared_as_canonical_json(one, other, same):
    assert same_value(one, other) is same


@pytest.mark.parametrize("key", ["", "a b", "a/b", "a..b", ".a", "a.", "a\x1bb", "../x", "a\u202eb"])
def test_what_is_not_a_dotted_name_is_no_key(key):
    assert not is_key(key)


def test_keys_of_any_script_are_keys():
    assert is_key("界面.主题.颜色")


@given(st.lists(st.tuples(st.sampled_from(["blue", "green", "red"]), st.booleans(), st.integers(0, 59)), max_size=8))
def test_lifecycles_do_not_depend_on_the_order_of_records(rows):
    facts = [accepted(fact(v, m)) if yes else fact(v, m) for v, yes, m in rows]
    shuffled = facts.copy()
    random.Random(1).shuffle(shuffled)
    one, two = Registry(facts), Registry(shuffled)
    assert {f.id: one.standing(f.id) for f in facts} == {f.id: two.standing(f.id) for f in facts}


@given(
    st.lists(
        st.tuples(st.sampled_from(["blue", "green"]), st.sampled_from(["entered", "words", "agent", "tool"])),
        max_size=8,
    )
)
def test_lower_trust_never_replaces_higher_by_itself(rows):
    known: dict[str, Fact] = {}
    for minute, (value, voice) in enumerate(rows):
        before = {f.id: (f.value, f.trust) for f in Registry(known.values()).heads("ui.theme.color")}
        stored = arrive(Registry(known.values()), fact(value, minute), voice, at(minute)).fact
        known[stored.id] = stored
        after = {f.id: (f.value, f.trust) for f in Registry(known.values()).heads("ui.theme.color")}
        for id_, (old, trust) in before.items():
            assert after[id_][0] == old
            assert TRUST_ORDER[after[id_][1]] >= TRUST_ORDER[trust]


def test_a_permission_found_by_rules_and_a_tools_word_of_no_certain_nature_wait():
    may = fact("true", by="rules:extract", type_="model").with_(key="deploy.allowed")
    assert arrive(Registry([]), may, "extracted", at(1)).outcome == "proposed"
    assert arrive(Registry([]), may, "agent", at(1)).outcome == "active"
    with pytest.raises(ValueError, match="permission"):
        arrive(Registry([]), may, "tool", at(1))
    for value, outcome in ((8080, "active"), ("1.4.2", "active"), ("src/a.ts", "active"), ("ready", "proposed")):
        arrival = arrive(Registry([]), fact(value), "tool", at(1))
        assert (arrival.outcome, arrival.fact.trust) == (outcome, "verified")


def test_a_proposal_said_again_is_one_proposal_with_two_sources():
    blue = accepted(fact("blue", 1))
    first = arrive(Registry([blue]), fact("green", 2, AGENT, "command"), "agent", at(2)).fact
    again = arrive(Registry([blue, first]), fact("green", 3, type_="session"), "words", at(3))
    assert (again.outcome, again.fact.id, len(again.fact.sources)) == ("proposed", first.id, 2)
    assert again.would_supersede == blue
    assert Registry([blue, again.fact]).lifecycle(blue.id) == "challenged"


def test_a_person_who_says_what_waits_makes_it_hold():
    waiting = fact("AA", 1, AGENT, "command", kind="constraint")
    arrival = arrive(Registry([waiting]), fact("AA", 2, kind="constraint"), "entered", at(2))
    assert (arrival.outcome, arrival.fact.id, arrival.fact.trust) == ("active", waiting.id, "authoritative")
    assert arrive(Registry([waiting]), fact("AA", 3, AGENT, "command"), "agent", at(3)).outcome == "proposed"


def test_a_workspace_may_let_what_a_tool_showed_stand_over_what_was_reported():
    told = accepted(fact(8080, 1, AGENT, "command", trust="reported"))
    seen = fact(9090, 2, "tool:npm", "tool")
    assert arrive(Registry([told]), seen, "tool", at(2)).outcome == "proposed"
    arrival = arrive(Registry([told]), seen, "tool", at(2), verified_over_reported=True)
    assert (arrival.outcome, arrival.would_supersede) == ("active", told)
    assert Registry([told, arrival.fact]).lifecycle(told.id) == "superseded"
    entered = told.with_(trust="authoritative")
    assert arrive(Registry([entered]), seen, "tool", at(2), verified_over_reported=True).outcome == "proposed"


def test_who_looks_again_moves_the_date_of_review():
    known = accepted(fact(1, 1, review_after="2026-04-01T00:00:00Z"))
    later = fact(1, 2, review_after="2026-05-01T00:00:00Z")
    assert arrive(Registry([known]), later, "entered", at(2)).fact.review_after == "2026-05-01T00:00:00Z"
    assert arrive(Registry([known]), later, "agent", at(2)).fact.review_after == "2026-04-01T00:00:00Z"


def test_keys_that_look_alike_are_told_and_numbers_or_a_negation_keep_them_apart():
    assert alike_keys("serverPort", ["server.port", "server.host"]) == ("server.port",)
    assert alike_keys("ui.theme.colour", ["ui.theme.color", "ui.theme.contrast"]) == ("ui.theme.color",)
    for one, other in (
        ("retry.max2", "retry.max3"), ("cache.enabled", "cache.disabled"), ("ui.light.color", "ui.night.color"),
        ("server.port", "server.ports.list"), ("a.b", "a.c"),
    ):  # fmt: skip
        assert alike_keys(one, [other]) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("45s", "45000ms"),
        ("1min", "60s"),
        ("1 minute", "60 seconds"),
        ("2小时", "120分钟"),
        ("1.5h", "90min"),
        ("1d", "24h"),
        ("2MB", "2000kb"),
        ("1 MiB", "1024 KiB"),
    ],
)
def test_a_duration_or_size_is_the_same_in_another_unit(one: str, other: str):
    assert means_same(one, other)
    assert means_same(other, one)
    assert not same_value(one, other)
    known = accepted(fact(one))
    arrival = arrive(Registry([known]), fact(other, 2), "entered", at(2))
    assert (arrival.outcome, arrival.fact.value) == ("corroborated", one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("45s", "45min"), ("60s", 60), ("60", "60s"), ("1MB", "1MiB"), ("1d", "1 doc"), ("", "0s"), ("60s", "60kb")],
)
def test_what_is_no_measure_or_another_one_differs(one: object, other: object):
    assert not means_same(one, other)  # type: ignore[arg-type]


@given(st.integers(0, 10**6))
def test_seconds_and_milliseconds_come_to_the_same(number: int):
    assert means_same(f"{number}s", f"{number * 1000} ms")
    assert not means_same(f"{number}s", f"{number * 1000 + 1}ms")
