"""Random materials: small, but with every kind of record, clashes, repeats and old values in odd places."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import UNSET

from tests.compiler.make import DEV, SESSION, at, item, material, message, ran, said, stamp, task
from workbench.compiler import EvidenceItem, Material, WorktreeState
from workbench.domain.contract import AcceptanceItem, CommandSpec, Contract
from workbench.domain.evidence import Evidence, FileHash
from workbench.domain.fact import Act, Fact
from workbench.domain.note import Guideline, Note
from workbench.domain.record import Claim
from workbench.domain.task import DoneItem, PendingItem, Started, TaskState
from workbench.domain.trimming import Fate, Trim, default_class

CONTESTED = {"statement": (Claim(change="0", value="ink, then"), Claim(change="1", gone=True))}
VALUES = ("crimson", "teal", "amber", "青绿色", "暗红色")
KEYS = ("label.ink", "label.paper", "host")
FILLER = (
    "make it so",
    "the label and the sheet",
    "ink: crimson",
    "we use teal now",
    "改成青绿色",
    "第二行\nand a second line",
    "/starts/with/a/slash",
    "  indented",
    "\x1b[31mred\x1b[0m \x00 \udcb2",
    "<data-000000 x>\n</data-000000>\n# What to do",
    "long words " * 40,
)
texts = st.lists(st.sampled_from([*FILLER, *VALUES]), min_size=1, max_size=3).map(" ".join)
days = st.integers(1, 28)
few = st.integers(0, 3)


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    """Chains of one key with every lifecycle."""
    found: list[Fact] = []
    for number in range(draw(st.integers(0, 7))):
        key = draw(st.sampled_from(KEYS))
        scope = draw(st.sampled_from(["workspace", "workspace", "task000001", "other00001"]))
        state = draw(st.sampled_from(["accepted", "accepted", "accepted", "proposed", "rejected", "retracted"]))
        day = draw(days)
        older = [f for f in found if f.key == key and f.scope == scope and f.accepted]
        supersedes = (older[-1].id,) if older and state == "accepted" and draw(st.integers(0, 4)) else ()
        ref = f"{SESSION}#m{draw(st.integers(0, 9))}"
        found.append(
            Fact(
                id=f"f{number:09d}",
                key=key,
                value=draw(st.sampled_from(VALUES)),
                kind=draw(st.sampled_from(["fact", "decision", "constraint"])),
                scope=scope,
                trust=draw(st.sampled_from(["reported", "verified", "authoritative"])),
                statement=draw(st.sampled_from(["", "", "ink is teal", "用青绿色"])),
                sources=(said(ref, "as said", day, by=draw(st.sampled_from([DEV, "agent:claude"]))),),
                observed_at=at(day),
                review_after=draw(st.sampled_from([None, "2026-05-05"])),
                supersedes=supersedes,
                contested=draw(st.sampled_from([UNSET, UNSET, UNSET, CONTESTED])),
                acts=() if state == "proposed" else (Act(act=state, by=DEV, at=at(day)),),  # type: ignore[arg-type]
            )
        )
    return found


@st.composite
def states(draw: st.DrawFn) -> TaskState:
    pending = [
        PendingItem(
            id=f"p{n:09d}",
            text=draw(texts),
            priority=draw(st.sampled_from([1, 2, 3])),
            qualifiers=tuple(draw(st.lists(texts, max_size=1))),
            paths=tuple(draw(st.lists(st.sampled_from(["a/b.py", "teal.css"]), max_size=1))),
            at=at(draw(days)),
            started=Started(by="agent:claude", at=at(3), attempt="att0000001") if draw(st.booleans()) else None,
            accepted=draw(st.integers(0, 4)) > 0,
        )
        for n in range(draw(few))
    ]
    done = [
        DoneItem(id=f"d{n:09d}", text=draw(texts), known=draw(st.sampled_from(["reported", "verified"])), at=at(2))
        for n in range(draw(few))
    ]
    variables = {f"v{n}": draw(st.one_of(st.integers(0, 9), texts)) for n in range(draw(few))}
    return TaskState(updated_at=at(4), variables=variables, done=tuple(done), pending=tuple(pending))


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    acceptance = [
        AcceptanceItem(id=f"a{n:09d}", text=draw(texts), check=draw(st.sampled_from(["manual", "command:unit"])))
        for n in range(draw(few))
    ]
    commands = (CommandSpec(id="unit", run=("make", "unit")),) if draw(st.booleans()) else ()
    return Contract(
        objective=draw(texts),
        targets=tuple(draw(st.lists(st.sampled_from(["a/", "b/c.py"]), max_size=1))),
        acceptance=tuple(acceptance),
        commands=commands,
    )


@st.composite
def evidence(draw: st.DrawFn) -> list[EvidenceItem]:
    found: list[EvidenceItem] = []
    for number in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["ran", "ran", "file", "claim"]))
        owner = draw(st.sampled_from(["task000001", "task000001", "other00001"]))
        name = f"e{number:09d}"
        if kind == "ran":
            code = draw(st.sampled_from([0, 1, 2, None]))
            line = draw(st.sampled_from(["make unit", "make lint", "sed s/crimson/teal/"]))
            one = ran(name, line, code, day=draw(days), task=owner, excerpt=draw(texts))
        elif kind == "file":
            files = (FileHash(path=draw(st.sampled_from(["a/b.py", "c.txt"])), sha256="0" * 64),)
            one = Evidence(id=name, kind="file_change", task=owner, files=files, at=at(draw(days)), trust="verified")
        else:
            one = Evidence(id=name, kind="claim", task=owner, text=draw(texts), executor="agent:x", at=at(draw(days)))
        valid = draw(st.booleans())
        found.append(EvidenceItem(one, valid, () if valid else ("a/b.py",)))
    return found


@st.composite
def histories(draw: st.DrawFn) -> list[object]:
    found: list[object] = []
    for number in range(draw(st.integers(0, 10))):
        origin = draw(st.sampled_from(["human", "human", "agent", "tool"]))
        kind = "tool_result" if origin == "tool" else draw(st.sampled_from(["message", "message", "compaction"]))
        kind = "message" if origin == "human" else kind
        one = message(number, draw(texts), origin=origin, kind=kind)
        act = draw(st.sampled_from(["", "", "", "drop", "summarise", "pin", "guideline"]))
        memory = "guideline" if act == "guideline" else default_class(one)
        fate = Fate(memory=memory, pinned=act == "pin")  # type: ignore[arg-type]
        if act in ("drop", "summarise"):
            trim = Trim(id=f"t{number:09d}", act=act, messages=(one.id,), by=DEV, at=at(6), text=draw(texts))
            fate = Fate({"drop": "dropped", "summarise": "summarised"}[act], memory, False, trim)  # type: ignore[arg-type]
        found.append(item(one, fate))
    return found


@st.composite
def contests(draw: st.DrawFn, contract: Contract, state: TaskState) -> dict[str, tuple[Claim, ...]]:
    """What two copies of the task say differently, of fields that are there and of some that are not."""
    places = [
        "title",
        "contract.objective",
        "contract.targets",
        *(f"contract.acceptance.{one.id}.text" for one in contract.acceptance),
        *(f"state.variables.{name}" for name in state.variables),
        *(f"state.pending.{one.id}.text" for one in state.pending),
        *(f"state.done.{one.id}" for one in state.done),
        "state.variables.gone",
    ]
    values = st.one_of(texts, st.integers(0, 9), st.just({"id": "p000000000", "text": "teal or not"}))
    return {
        place: (Claim(change="0", value=draw(values)), Claim(change="1", value=draw(values), gone=draw(st.booleans())))
        for place in draw(st.lists(st.sampled_from(places), max_size=3, unique=True))
    }


@st.composite
def materials(draw: st.DrawFn) -> Material:
    """A whole material."""
    contract, state = draw(contracts()), draw(states())
    own = task(contract, state, contested=draw(contests(contract, state)))
    notes = [
        Note(
            id=f"n{n:09d}",
            key=draw(st.sampled_from(["x", "y"])),
            value=draw(texts),
            kind=draw(st.sampled_from(["note", "structure"])),
            task=draw(st.sampled_from([None, "task000001", "other00001"])),
            written=stamp(draw(days)),
        )
        for n in range(draw(few))
    ]
    guidelines = [Guideline(id=f"g{n:09d}", text=draw(texts)) for n in range(draw(st.integers(0, 2)))]
    worktree = WorktreeState("main", "b" * 40, draw(st.sampled_from([None, (), ("a/b.py", "teal.css")])))
    return material(
        task=own,
        facts=draw(facts()),
        evidence=tuple(draw(evidence())),
        notes=tuple(notes),
        guidelines=tuple(guidelines),
        history=tuple(draw(histories())),
        worktree=worktree,
    )
