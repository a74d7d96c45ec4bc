"""The explicit state: deltas, what they meet, and what is odd about the result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.alike import Alikes, alike
from workbench.domain.contract import Contract, VariableSpec
from workbench.domain.delta import Delta, Hand, delta_from
from workbench.domain.record import Stamp
from workbench.domain.state import apply
from workbench.domain.state_findings import find, is_vague
from workbench.domain.task import DoneItem, PendingItem, Started, Task, TaskState
from workbench.errors import NotFoundError, UsageError

AT = "2026-03-01T10:00:00Z"
HAND = Hand(by="agent:claude", at=AT, attempt="w3n8t5c1ke", evidence={"held000000": "", "bad0000000": "it is a claim"})
DECLARED = {
    "port": VariableSpec(type="integer", minimum=1024, maximum=65535),
    "tool": VariableSpec(type="string", enum=("vite", "webpack")),
    "tag": VariableSpec(type="string", pattern=r"v\d+"),
}


def pending(text: str, **fields: object) -> PendingItem:
    return PendingItem(id=fields.pop("id", text.replace(" ", "")[:10].ljust(10, "x")), text=text, **fields)  # type: ignore[arg-type]


def change(state: TaskState, base: TaskState | None = None, **delta: object):  # type: ignore[no-untyped-def]
    return apply(delta_from(delta), state, DECLARED, HAND, base)


def texts(state: TaskState) -> tuple[list[str], list[str]]:
    return [i.text for i in state.pending], [i.text for i in state.done]


def test_done_moves_an_item_in_one_step_and_keeps_its_id():
    before = TaskState(pending=(pending("Write filter.ts", paths=("src/filter.ts",)), pending("Run npm test")))
    out = change(before, done=["write  filter.ts"])
    assert texts(out.state) == (["Run npm test"], ["Write filter.ts"])
    (item,) = out.state.done
    assert (item.id, item.known, item.by, item.at) == (before.pending[0].id, "reported", "agent:claude", AT)
    assert item.paths == ("src/filter.ts",)
    assert out.state.updated_at == AT


def test_what_is_done_or_pending_adds_nothing_and_says_so():
    state = TaskState(
        pending=(pending("Run npm test"),),
        done=(DoneItem(id="d000000000", text="Write filter.ts", by="agent:pi", at=AT),),
    )
    out = change(state, pending=["write filter.ts.", "run npm test"], done=["Write filter.ts"])
    assert out.state == state
    assert out.applied == []
    assert len(out.said) == 3
    assert "done already" in out.said[0]
    assert "agent:pi" in out.said[1]
    assert "pending already" in out.said[2]


def test_only_evidence_that_holds_makes_it_verified():
    state = TaskState(pending=(pending("Run npm test"),))
    assert change(state, done=[{"item": "Run npm test", "evidence": ["held000000"]}]).state.done[0].known == "verified"
    out = change(state, done=[{"item": "Run npm test", "evidence": ["bad0000000"]}])
    assert out.state.done[0].known == "reported"
    assert "it is a claim" in out.said[0]
    again = change(out.state, done=[{"item": "run npm test", "evidence": ["held000000"]}])
    assert again.state.done[0].known == "verified"


def test_starting_giving_up_and_an_id_that_is_none():
    state = TaskState(pending=(pending("Run npm test"),))
    begun = change(state, start=["Run npm test"]).state
    assert begun.pending[0].started == Started(by="agent:claude", at=AT, attempt="w3n8t5c1ke")
    assert change(begun, start=["run npm test"]).applied == []
    assert change(begun, give_up=["Run npm test"]).state.pending[0].started is None
    assert texts(change(state, start=["Look at build.log"]).state)[0] == ["Run npm test", "Look at build.log"]
    with pytest.raises(NotFoundError):
        change(state, done=["k7m2qx0a9d"])
    with pytest.raises(NotFoundError) as problem:
        change(state, drop=["Run npm tset"])
    assert "Run npm test" in problem.value.details["candidates"][0]


def test_what_is_done_is_not_started_again():
    state = TaskState(done=(DoneItem(id="d000000000", text="Deploy to staging", by="agent:pi", at=AT),))
    out = change(state, start=["deploy to staging"])
    assert out.state == state
    assert "reopen" in out.said[0]
    assert texts(change(state, reopen=["d0000"]).state) == (["Deploy to staging"], [])


def test_steps_of_an_item_stay_when_it_goes():
    step = pending("Rename parse()", parent="top0000000")
    state = TaskState(pending=(pending("Move the parser", id="top0000000"), step))
    assert change(state, drop=["top0"]).state.pending == (step.with_(parent=None),)
    assert "1 of its steps" in change(state, done=["Move the parser"]).said[0]
    new = change(state, pending=[{"text": "Fix imports in a.py", "parent": "Move the parser"}]).state.pending[-1]
    assert new.parent == "top0000000"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("port", "8080", "declared as integer"),
        ("port", True, "declared as integer"),
        ("port", 80, "lies from 1024 to 65535"),
        ("tool", "make", "one of vite, webpack"),
        ("tag", "release", "has the form"),
        ("prot", 8080, "not declared"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(name, value, said):
    with pytest.raises(UsageError) as problem:
        change(TaskState(), set={name: value})
    assert said in problem.value.message
    if name == "prot":
        assert problem.value.details["candidates"][0] == "port"


def test_a_name_can_be_typed_and_a_secret_lies_in_the_environment():
    out = change(TaskState(), declare={"depth": "integer"}, set={"depth": 3, "tool": "env:BUILD_TOOL"})
    assert out.variables["depth"].type == "integer"
    assert out.state.variables == {"depth": 3, "tool": "env:BUILD_TOOL"}
    assert out.state.variables_set["depth"] == Stamp(by="agent:claude", at=AT)
    with pytest.raises(UsageError, match="declared already"):
        apply(delta_from({"declare": {"port": "string"}}), TaskState(), DECLARED, HAND)


def test_an_invented_field_is_named():
    with pytest.raises(UsageError, match="dnoe"):
        delta_from({"dnoe": []})
    with pytest.raises(UsageError, match=r"pending\[0\]\.priority"):
        delta_from({"pending": [{"text": "x", "priority": 9}]})


def test_what_touches_nothing_changed_since_is_applied_and_the_rest_comes_back_with_both_values():
    seen = TaskState(
        variables={"port": 8080, "tool": "vite"}, pending=(pending("Write filter.ts"), pending("Run npm test"))
    )
    now = change(seen, set={"port": 9090}, done=["Write filter.ts"]).state
    out = change(now, base=seen, set={"port": 7070, "tool": "webpack"}, start=["Write filter.ts", "Run npm test"])
    assert {c.subject: (c.seen, c.now, c.wanted) for c in out.conflicts}["variable port"] == (8080, 9090, 7070)
    about = next(c for c in out.conflicts if c.subject == "Write filter.ts")
    assert "pending" in about.seen
    assert "done (reported, by agent:claude" in about.now
    assert out.state.variables == {"port": 9090, "tool": "webpack"}
    assert out.state.pending[0].started is not None


def test_the_same_wish_as_what_happened_since_is_no_conflict():
    seen = TaskState(variables={"port": 8080}, pending=(pending("Write filter.ts"), pending("Run npm test")))
    now = change(seen, set={"port": 9090}, done=["Write filter.ts"], drop=["Run npm test"]).state
    out = change(now, base=seen, set={"port": 9090}, done=["Write filter.ts"], drop=["Run npm test"])
    assert (out.conflicts, out.state) == ([], now)
    assert len(out.said) == 3


_WORDS = st.sampled_from(["write a.ts", "run b", "Write A.ts", "look at c", "fix d", "run  b."])
_DELTAS = st.builds(
    Delta,
    done=st.lists(_WORDS, max_size=3).map(tuple),
    pending=st.lists(_WORDS, max_size=3).map(tuple),
    start=st.lists(_WORDS, max_size=2).map(tuple),
    set=st.dictionaries(st.just("port"), st.integers(2000, 2003)),
)


@given(st.lists(_DELTAS, max_size=6))
def test_no_item_is_ever_twice_and_a_delta_again_changes_nothing(deltas):
    state = TaskState()
    for delta in deltas:
        state = apply(delta, state, DECLARED, HAND).state
        every = [" ".join(i.text.casefold().rstrip(".").split()) for i in (*state.pending, *state.done)]
        assert len(every) == len(set(every))
        assert apply(delta, state, DECLARED, HAND).state == state


@given(_DELTAS, _DELTAS)
def test_nothing_changed_by_somebody_else_is_written_over(theirs, mine):
    seen = TaskState(pending=(pending("write a.ts"), pending("run b")), variables={"port": 1999})
    now = apply(theirs, seen, DECLARED, HAND).state
    out = apply(mine, now, DECLARED, HAND, seen)
    if now.variables != seen.variables:
        assert out.state.variables == now.variables
    for item in now.done:
        assert item in out.state.done


def task(*items: PendingItem, done: tuple[DoneItem, ...] = (), **contract: object) -> Task:
    state = TaskState(pending=items, done=done)
    made = Stamp(by="human:dev", at=AT)
    return Task(id="k7m2qx0a9d", slug="t", title="T", created=made, state=state, contract=Contract(**contract))  # type: ignore[arg-type]


def codes(t: Task, **more: object) -> list[str]:
    return [f.code for f in find(t, **more)]  # type: ignore[arg-type]


def test_each_odd_thing_comes_with_an_offer():
    done = (DoneItem(id="d000000000", text="Write filter.ts", by="agent:pi", at=AT),)
    odd = task(pending("write filter.ts"), pending("Handle the dependency problem"), done=done)
    found = {f.code: f for f in find(odd)}
    assert set(found) == {"overlap", "vague_item"}
    assert "--drop" in found["overlap"].offer
    assert "--reword" in found["vague_item"].offer
    assert all(f.offer.startswith("workbench state update t ") for f in found.values())


def test_near_duplicates_are_offered_unless_a_number_or_a_negation_tells_them_apart():
    assert codes(task(pending("Fix the import in a.py"), pending("fix import in a.py", id="b000000000"))) == [
        "near_duplicate"
    ]
    for one, other in (
        ("Open port 8080", "Open port 9090"),
        ("Commit dist/", "Do not commit dist/"),
        ("Enable cache.ts", "Disable cache.ts"),
        ("Update a.ts", "Update b.ts"),
        ("缓存 Redis 的键", "不缓存 Redis 的键"),
    ):
        assert codes(task(pending(one), pending(other, id="b000000000"))) == []


def test_steps_count_as_one_and_twenty_are_enough():
    many = [pending(f"Fix test_{n}.py", id=f"m0000000{n:02d}") for n in range(21)]
    assert codes(task(*many)) == ["too_many_pending"]
    steps = [many[0], *(item.with_(parent=many[0].id) for item in many[1:])]
    assert codes(task(*steps)) == []


def test_what_an_ended_attempt_had_begun_is_interrupted():
    item = pending("Run npm test").with_(started=Started(by="agent:pi", at=AT, attempt="gone000000"))
    assert codes(task(item)) == ["interrupted"]
    assert codes(task(item), live={"gone000000"}) == []


def test_what_was_verified_is_said_to_rest_on_a_changed_file():
    done = (DoneItem(id="d000000000", text="Write a.ts", known="verified", evidence=("e1",), by="x", at=AT),)
    assert codes(task(done=done), stale={"e1": ("src/a.ts",)}) == ["evidence_stale"]
    assert codes(task(done=done), stale={}) == []


@pytest.mark.parametrize(
    ("text", "vague"),
    [
        ("Handle the dependency problem", True), ("处理依赖问题", True), ("Fix the build", True),
        ("升级 MapStruct 到兼容版本", False), ("Run pytest", False), ("Update src/ui", False),
        ("Rename `go` to “run”", False), ("Ask Mara about the colours", False), ("Bump to 3", False),
    ],
)  # fmt: skip
def test_vague_is_what_names_no_file_no_command_and_no_thing(text, vague):
    assert is_vague(pending(text, id="x")) is vague


def test_a_word_of_the_workspace_is_a_name():
    assert is_vague(pending("change the theme color"), {"theme color"}) is False


WORDS = st.sampled_from(
    [
        "fix",
        "the",
        "paging",
        "on",
        "list",
        "page",
        "3",
        "not",
        "port",
        "8080",
        "9090",
        "lists",
        "after",
        "reload",
        "修",
        "分页",
        "不",
    ]
)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=7).map(" ".join), max_size=8),
    st.lists(WORDS, max_size=7).map(" ".join),
)
def test_among_many_the_same_look_alike_as_one_by_one(texts: list[str], text: str) -> None:
    assert Alikes(texts).has(text) == any(alike(text, other) for other in texts)
