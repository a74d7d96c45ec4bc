"""Append-only lines fold by their causes; the guard over what may go."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.lines import causal_order
from workbench.domain.message import Message, ToolCall, ToolResult
from workbench.domain.trimming import Trim, fates, guard, with_partners

SESSION = "claude:s"


def message(number: int, kind: str = "message", origin: str = "agent", turn: int = 1, **fields: object) -> Message:
    return Message.of(id=f"m{number}", session=SESSION, seq=number, kind=kind, origin=origin, turn=turn, **fields)  # type: ignore[arg-type]


def trim(id_: str, act: str, *messages: str, after: str | None = None, minute: int = 0) -> Trim:
    return Trim(id=id_, after=after, act=act, messages=messages, by="human:dev", at=f"2026-03-01T10:{minute:02d}:00Z")  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 20), max_size=20), st.randoms())
def test_order_of_lines_in_the_file_does_not_matter(parents, rng: random.Random):
    lines = [trim(f"l{i}", "drop", "m1", after=f"l{p}" if p < i else None) for i, p in enumerate(parents)]
    shuffled = lines.copy()
    rng.shuffle(shuffled)
    assert causal_order(shuffled) == causal_order(lines)
    assert len(causal_order(lines + lines)) == len(lines)


def test_the_last_act_by_cause_decides_whatever_the_clocks_say():
    dropped = trim("a", "drop", "m1", minute=50)
    restored = trim("b", "restore", "m1", after="a", minute=10)
    assert fates([message(1)], [restored, dropped])["m1"].disposition == "kept"


def test_a_call_and_its_result_go_together():
    call = message(1, "tool_call", call=ToolCall(call_id="c", name="Bash"))
    result = message(2, "tool_result", "tool", result=ToolResult(call_id="c"))
    assert with_partners([call, result, message(3)], {"m2"}) == {"m1", "m2"}


def test_the_guard_keeps_guidelines_pins_own_words_and_the_newest_turns():
    rows = [
        message(0, role="system"),
        message(1, origin="human"),
        message(2, turn=1),
        message(3, turn=2),
        message(4, turn=9),
        message(5, origin="human", turn=9),
    ]
    state = fates(rows, [trim("p", "pin", "m2")])
    found = {f.message: (f.rule, f.stops) for f in guard(rows, state, {m.id for m in rows}, cited=())}
    assert found["m0"] == ("guideline", "always")
    assert found["m1"] == ("own_words", "unless_yes")
    assert found["m2"] == ("pinned", "unless_yes")
    assert found["m3"] == ("not_saved", "warns")
    assert found["m4"] == ("newest_turns", "unless_yes")
    assert found["m5"] == ("own_words", "unless_yes")


def test_a_cited_message_may_go_without_a_word():
    rows = [message(1, turn=1), message(2, turn=9)]
    assert guard(rows, fates(rows, []), {"m1"}, cited={"m1"}) == ()
