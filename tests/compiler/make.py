"""Materials for the compiler's tests: a small shop with a colour that changed, a failing check, and more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from workbench.compiler import EvidenceItem, HistoryItem, Material, Request, Target, WorktreeState
from workbench.domain.artifact import Artifact, ArtifactVersion, Binding
from workbench.domain.contract import AcceptanceItem, CommandSpec, Contract, InputSpec, OutputSpec, VariableSpec
from workbench.domain.evidence import Evidence, FileHash
from workbench.domain.fact import Act, Fact, Registry, Source
from workbench.domain.message import Message
from workbench.domain.note import Guideline, Note, Role
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, DoneItem, PendingItem, Started, Task, TaskState
from workbench.domain.trimming import Fate, default_class

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
DEV = "human:dev"
SESSION = "claude:aaaa-1"


def at(day: int, hour: int = 10, minute: int = 5) -> str:
    """A moment in May."""
    return f"2026-05-{day:02d}T{hour:02d}:{minute:02d}:00Z"


def stamp(day: int = 1, by: str = DEV, why: str = "") -> Stamp:
    return Stamp(by=by, at=at(day), why=why)


def fact(fact_id: str, key: str, value: Any, *, state: str = "accepted", day: int = 1, **more: Any) -> Fact:
    acts = () if state == "proposed" else (Act(act=state, by=DEV, at=at(day)),)  # type: ignore[arg-type]
    more.setdefault("sources", (Source(type="person", by=DEV, at=at(day)),))
    return Fact(id=fact_id, key=key, value=value, acts=acts, observed_at=at(day), **more)


def said(ref: str, quote: str, day: int, by: str = DEV) -> Source:
    return Source(type="session", ref=ref, quote=quote, by=by, at=at(day))


def message(seq: int, text: str, *, origin: str = "human", turn: int | None = None, **more: Any) -> Message:
    role = {"human": "user", "agent": "assistant", "tool": "tool"}.get(origin, "user")
    more.setdefault("at", at(2, 8 + seq // 60, seq % 60))
    more.setdefault("id", f"m{seq}")
    session = more.pop("session", SESSION)
    return Message.of(
        session=session,
        seq=seq,
        role=role,  # type: ignore[arg-type]
        origin=origin,  # type: ignore[arg-type]
        text=text,
        size=len(text),
        turn=seq // 2 if turn is None else turn,
        **more,
    )


def item(one: Message, fate: Fate | None = None, body: str | None = None) -> HistoryItem:
    return HistoryItem(one, fate or Fate(memory=default_class(one)), one.text if body is None else body)


def ran(evidence_id: str, command: str, exit_code: int | None, *, day: int = 3, **more: Any) -> Evidence:
    more.setdefault("task", "task000001")
    more.setdefault("trust", "verified")
    return Evidence(
        id=evidence_id, kind="command", argv=tuple(command.split()), exit_code=exit_code, at=at(day), **more
    )


def task(contract: Contract | None = None, state: TaskState | None = None, **more: Any) -> Task:
    more = {"id": "task000001", "slug": "price-labels", "title": "Price labels", "created": stamp()} | more
    return Task(contract=contract or Contract(), state=state or TaskState(), **more)


def material(**more: Any) -> Material:
    facts = more.pop("facts", ())
    aliases: Mapping[str, str] = more.pop("aliases", {})
    more.setdefault("task", task())
    return Material(registry=Registry(facts, aliases), **more)


def request(budget: int | None = None, **more: Any) -> Request:
    more.setdefault("to", Target(agent="codex", window=200_000, tokenizer="o200k"))
    return Request(now=NOW, budget=budget, **more)


def shop() -> Material:
    """A material that has something of every source type."""
    contract = Contract(
        objective="Show prices with their currency on every label, and repair the failing unit check.",
        targets=("shop/labels/",),
        outputs=(OutputSpec(key="labels", path="shop/labels/render.py"),),
        commands=(CommandSpec(id="unit", run=("make", "unit"), depends=("shop/**",)),),
        acceptance=(
            AcceptanceItem(id="acc0000001", text="the unit check passes", check="command:unit", evidence="exit 0"),
            AcceptanceItem(id="acc0000002", text="labels stay readable on paper"),
        ),
        variables={"currency": VariableSpec(type="string")},
        depends_on=("task000002",),
        inputs=(
            InputSpec(key="style", from_="label-style", output="guide"),
            InputSpec(key="rates", from_="label-style", output="rates"),
        ),
    )
    state = TaskState(
        updated_at=at(4),
        variables={"currency": "EUR"},
        done=(
            DoneItem(id="done000001", text="read the old template", known="verified", at=at(2)),
            DoneItem(id="done000002", text="moved the font files", at=at(2)),
        ),
        pending=(
            PendingItem(
                id="open000001",
                text="round prices in shop/labels/render.py",
                qualifiers=("only for paper",),
                paths=("shop/labels/render.py",),
                priority=1,
                at=at(2),
            ),
            PendingItem(
                id="open000002",
                text="upload the sheet",
                started=Started(by="agent:claude", at=at(3), attempt="att0000001"),
                at=at(2),
            ),
            PendingItem(id="open000003", text="found by a rule", accepted=False),
        ),
    )
    own = task(contract, state, plan_revision=2, running="att0000001")
    style = task(id="task000002", slug="label-style", title="Style")
    facts = [
        fact("f000000001", "label.ink", "crimson", day=1),
        fact("f000000002", "label.ink", "teal", day=2, supersedes=("f000000001",), trust="authoritative"),
        fact("f000000003", "label.width", 40, trust="verified"),
        fact("f000000004", "label.font", "Serif", kind="decision", reason="it prints well"),
        fact("f000000005", "privacy.names", "never", kind="constraint", statement="Never print customer names."),
        fact("f000000006", "paper.size", "A5", sources=(said(f"{SESSION}#m1", "A5 paper", 1),)),
        fact(
            "f000000007",
            "paper.size",
            "A4",
            state="proposed",
            day=5,
            sources=(said(f"{SESSION}#m9", "no, take A4 sheets", 5),),
        ),
        fact("f000000008", "printer.host", "ink-01", review_after="2026-05-10"),
    ]
    attempt = Attempt(id="att0000001", task="task000001", executor="agent:claude", plan_revision=1, started=stamp(2))
    ended = Attempt(
        id="att0000000",
        task="task000001",
        executor="agent:pi",
        status="failed",
        started=stamp(1),
        ended=stamp(1, why="it looped"),
    )
    files = (FileHash(path="shop/labels/render.py", sha256="0" * 64),)
    evidence = (
        EvidenceItem(
            ran("ev00000001", "make unit", 2, excerpt="collecting\nE  AssertionError: 3 != 4\nmake: *** Error 1"), True
        ),
        EvidenceItem(ran("ev00000002", "make lint", 0, day=2), False, ("shop/labels/render.py",)),
        EvidenceItem(
            Evidence(id="ev00000003", kind="file_change", task="task000001", files=files, trust="verified", at=at(3)),
            True,
        ),
        EvidenceItem(
            Evidence(id="ev00000004", kind="claim", task="task000001", text="all labels are fine", executor="agent:pi"),
            True,
        ),
    )
    guide = Artifact(
        id="art0000001",
        task="task000002",
        key="guide",
        versions=(ArtifactVersion(number=3, sha256="1" * 64, size=9000, path="docs/style.md", made=stamp(2)),),
        bindings=(Binding(task="task000002", key="guide", version=3, evidence=("ev00000009",), bound=stamp(2)),),
    )
    notes = (
        Note(
            id="note000001",
            key="tables.labels",
            value={"rows": 12, "file": "shop/labels/x.csv"},
            kind="structure",
            task="task000001",
            written=stamp(3),
        ),
        Note(id="note000002", key="shop.hours", value="9 to 5", written=stamp(3)),
    )
    history = (
        item(message(1, "Please use A5 paper for labels")),
        item(message(2, "Working on it", origin="agent")),
        item(message(3, "x" * 50, origin="tool", kind="tool_result")),
        item(message(4, "Summary of the labels so far: width is 40", origin="agent", kind="compaction")),
        item(message(9, "and keep the currency sign in front")),
    )
    return material(
        task=own,
        tasks={"task000001": own, "task000002": style},
        facts=facts,
        attempts=(ended, attempt),
        running=attempt,
        evidence=evidence,
        artifacts=(guide,),
        notes=notes,
        guidelines=(Guideline(id="gui0000001", text="Answer in one paragraph."),),
        role=Role(id="rol0000001", name="printer", responsibility="prints", may=("read",), must_not=("mail",)),
        history=history,
        worktree=WorktreeState("main", "a" * 40, ("shop/labels/render.py",)),
    )
