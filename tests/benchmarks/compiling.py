"""The compiler: a cold compile of much, what a moved budget costs, and time against size."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime

from tests.benchmarks.data import AT, Texts, fact, moment
from tests.benchmarks.table import Row, main, ms, timed
from workbench.compiler import Compilation, HistoryItem, Material, Request, Target
from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.contract import Contract
from workbench.domain.fact import Registry
from workbench.domain.message import Message
from workbench.domain.record import Stamp
from workbench.domain.task import PendingItem, Task, TaskState
from workbench.domain.trimming import Fate, default_class
from workbench.services.collecting import without_collector
from workbench.tokens import counter

_SESSION = "claude:bench"


def material(share: float) -> Material:
    """``share`` of 100,000 messages, 10,000 facts and 1,000 artifacts."""
    texts = Texts(5)
    made = Stamp(by="human:dev", at=AT)
    history = []
    for number in range(int(100_000 * share)):
        step = number % 10
        origin, role, kind = ("human", "user", "message") if step == 0 else ("agent", "assistant", "message")
        if step > 2:
            origin, role, kind = "tool", "tool", "tool_result"
        text = texts.text(40)
        message = Message.of(
            id=f"m{number}",
            session=_SESSION,
            seq=number,
            kind=kind,  # type: ignore[arg-type]
            role=role,  # type: ignore[arg-type]
            origin=origin,  # type: ignore[arg-type]
            text=text,
            size=len(text),
            at=moment(number),
            turn=number // 10,
        )
        history.append(HistoryItem(message, Fate(memory=default_class(message)), text))
    artifacts = tuple(
        Artifact(
            id=f"art{number:07}",
            key=f"output{number}",
            versions=(ArtifactVersion(number=1, sha256="0" * 64, size=10, path=f"out/{number}.txt", made=made),),
        )
        for number in range(int(1_000 * share))
    )
    task = Task(
        id="task000001",
        slug="bench",
        title="Bench",
        contract=Contract(objective=texts.text(30), targets=("out/",)),
        state=TaskState(pending=(PendingItem(id="open000001", text=texts.text(8), at=AT),), updated_at=AT),
        created=made,
    )
    return Material(
        task=task,
        registry=Registry(fact(number) for number in range(int(10_000 * share))),
        history=tuple(history),
        artifacts=artifacts,
    )


def run(share: float) -> list[Row]:
    """Measure; ``share`` of full size, and a tenth of that."""
    count = counter("o200k")
    count.count("warm up")
    request = Request(to=Target("codex", 200_000, "o200k"), now=datetime(2026, 3, 2, tzinfo=UTC))
    rows = []
    cold: dict[float, float] = {}
    busy = 0.0
    for size in (share / 10, share):
        given = material(max(size, 0.0005))
        held: list[Compilation] = []

        def compile_all(given: Material = given, held: list[Compilation] = held) -> None:
            with without_collector():
                held.append(Compilation(given, request, count))
                held[-1].pack()

        began = time.process_time()
        cold[size] = statistics.median(timed(compile_all) for _ in range(3))
        busy = (time.process_time() - began) / 3
        rows.append(Row(f"cold, {len(given.history):,} messages, {len(given.registry.facts):,} facts", ms(cold[size])))
        live = held[-1]
    change = statistics.median(timed(lambda n=n: live.pack(budget=n)) for n in (2000, 4000, 6000, 3000, 5000))  # type: ignore[misc]
    some = given.history[-10].message.id
    row = statistics.median(timed(lambda out=out: live.pack(without=out)) for out in ({some}, (), {some}, (), {some}))  # type: ignore[misc]
    ratio = cold[share] / cold[share / 10]
    rows[-1] = Row(rows[-1].what, rows[-1].measured, "< 1 s", cold[share] < 1)
    return [
        *rows,
        Row("the same, processor time", ms(busy)),
        Row("10 x the candidates", f"{ratio:.1f} x the time", "<= 12 x", ratio <= 12),
        Row("only the budget changed", ms(change), "< 150 ms", change < 0.15),
        Row("only one row changed", ms(row), "< 150 ms", row < 0.15),
    ]


if __name__ == "__main__":
    main("Compile", run)
