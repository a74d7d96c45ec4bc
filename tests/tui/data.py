"""A view full of plausible work, made here: an invoice export that two agents have touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.contract import AcceptanceItem, Contract, VariableSpec
from workbench.domain.differences import FieldDifference
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Act, Fact, Source
from workbench.domain.message import FileChange, Message, Outcome, PlanItem, ToolCall, ToolResult, Usage
from workbench.domain.package import Difference, Envelope, Identity, PackageEvent
from workbench.domain.record import Stamp
from workbench.domain.task import Attempt, DoneItem, PendingItem, SessionRef, Started, Task, TaskState
from workbench.domain.trimming import Fate, Trim, default_class
from workbench.services.following import Heard
from workbench.services.request import Carried, RequestView, Share, Stated, part_of
from workbench.services.reviewing import Found, Review
from workbench.services.view import (
    AcceptanceView,
    FactView,
    HistoryView,
    MessageView,
    Need,
    PackageView,
    Place,
    SessionView,
    Step,
    TaskView,
    View,
)
from workbench.tui.desk import SessionChoice

STEPS = (
    Step(
        "ch3", "2026-04-14T16:04:00Z", "human:dev", "fact edit f0", "the archive asked", 3,
        (FieldDifference("statement", "Pages are wide", "Pages are landscape"), FieldDifference("reason", None, "A4")),
    ),
    Step("ch2", "2026-04-14T12:04:00Z", "agent:claude", "fact propose pdf.orientation", "", 2,
         tuple(FieldDifference(f"sources “{n}”", None, {"by": "agent:claude"}) for n in range(11))),
    Step("ch1", "2026-04-14T09:04:00Z", "human:dev", "fact propose pdf.orientation", "", 1, (), gone=True),
)  # fmt: skip
NOW = datetime(2026, 4, 14, 16, 30, tzinfo=UTC)
SESSION = "claude:7d1e"
TASK_ID = "t1nv0icee5"


SESSIONS = (
    SessionChoice("claude:7d1e", "claude", "Export invoices as PDF/A", True, "2026-04-14T16:29:00Z", 1_240_000,
                  task="invoice-pdf", here=True, running=True, children=2, full=0.83),
    SessionChoice("claude:9a2b", "claude", "Make it portrait instead, A4", True, "2026-04-14T16:28:00Z", 42_000,
                  offered="begun in the same worktree after claude …7d1e"),
    SessionChoice("codex:019a", "codex", "发票导出：字体子集 und Umlaute äöü", False, "2026-04-12T09:00:00Z", 310_000,
                  worktree="archive", task="archive-fonts"),
    SessionChoice("claude:0c11", "claude", "", False, "2026-03-01T10:00:00Z", 2_100),
)  # fmt: skip


def at(hour: int, minute: int = 0) -> str:
    return f"2026-04-14T{hour:02}:{minute:02}:00Z"


def message(seq: int, text: str = "", **fields: object) -> Message:
    settings: dict[str, object] = {
        "id": f"m{seq:04}",
        "session": SESSION,
        "seq": seq,
        "text": text,
        "size": len(text),
        "at": at(9 + seq // 60, seq % 60),
        "turn": seq // 4,
        **fields,
    }
    return Message.of(**settings)  # type: ignore[arg-type]


def says(seq: int, text: str, human: bool = False) -> Message:
    role = "user" if human else "assistant"
    return message(seq, text, role=role, origin="human" if human else "agent")


def call(seq: int, name: str, command: str | None = None, paths: tuple[str, ...] = ()) -> Message:
    made = ToolCall(call_id=f"c{seq}", name=name, kind="execute" if command else "read", command=command, paths=paths)
    return message(seq, kind="tool_call", role="assistant", call=made)


def result(seq: int, text: str, of: int, code: int | None = None, status: str = "ok") -> Message:
    changes = (FileChange(path="src/export/pdf.py", added=3, removed=1),)
    got = ToolResult(call_id=f"c{of}", outcome=Outcome(status=status, exit_code=code, changes=changes))  # type: ignore[arg-type]
    return message(seq, text, kind="tool_result", role="tool", origin="tool", result=got)


LOG = "\n".join(
    [
        "============================= test session starts ==============================",
        *(f"tests/export/test_pdf.py::test_page_{n} PASSED" for n in range(1, 24)),
        "tests/export/test_pdf.py::test_totals_align FAILED",
        "E   AssertionError: column 4 ends at x=512.4, expected 510.0",
        "========================= 1 failed, 23 passed in 4.12s =========================",
    ]
)


def messages() -> tuple[Message, ...]:
    return (
        message(1, "You work in a monorepo. Amounts are integers in cents.", role="system", origin="harness"),
        says(2, "Customers cannot file our invoices: export them as PDF/A with the totals right-aligned.", True),
        says(3, "I will look at the present exporter first, then write the PDF writer behind the same interface."),
        call(4, "Read", paths=("src/export/csv.py",)),
        result(5, "class CsvExport:\n    ...\n" * 60, 4),
        message(6, kind="thinking", text="The interface is small: open, row, close.", role="assistant"),
        call(7, "Bash", "uv run pytest tests/export -q"),
        result(8, LOG, 7, 1, "failed"),
        message(
            9,
            kind="plan",
            role="assistant",
            plan=(
                PlanItem(text="PDF writer", status="completed"),
                PlanItem(text="align totals", status="in_progress"),
                PlanItem(text="embed the fonts"),
            ),
        ),
        says(10, "Landscape looks odd in the archive. Make it portrait instead, A4.", True),
        says(11, "Understood: portrait A4. I change the page setup and keep the column widths in one place."),
        call(12, "Edit", paths=("src/export/pdf.py",)),
        result(13, "The file src/export/pdf.py has been updated.", 12),
        call(14, "Bash", "uv run pytest tests/export -q"),
        result(15, "24 passed in 4.02s", 14, 0),
        says(16, "日本語の請求書でも合計の桁が揃うことを確認しました。フォントの埋め込みが残っています。"),
        call(17, "WebFetch", None, ("fonts.example/licence",)),
        result(18, '{"licence": "OFL-1.1", "faces": [' + '{"name": "Noto Sans"},' * 220 + "]}", 17),
        says(19, "The licence allows embedding. Next: subset the font, else each file grows by 4 MB."),
    )


TOKENS = (14, 21, 19, 12, 612, 11, 16, 498, 24, 18, 20, 14, 13, 16, 9, 41, 12, 1840, 22)


REQUESTS = (1, 3, 4)
"""Numbers of the requests of the session."""


def request(number: int) -> RequestView:
    """What one of them carried: the messages before the turn that bears its number."""
    answer = next(one for one in messages() if one.turn == number)
    carried = tuple(
        Carried(one, part_of(one), tokens, number - 1 <= one.turn, one.text)
        for one, tokens in zip(messages(), TOKENS, strict=True)
        if one.seq < answer.seq
    )
    used = {part: sum(row.tokens for row in carried if row.part == part) for part in ("person", "tools", "agent")}
    rows = {part: sum(row.part == part for row in carried) for part in ("instructions", "person", "tools", "agent")}
    parts = (
        Share("instructions", rows["instructions"], 434, 14_180),
        Share("person", rows["person"], used["person"]),
        Share("tools", rows["tools"], used["tools"]),
        Share("agent", rows["agent"], used["agent"]),
    )
    counted = sum(part.recorded for part in parts)
    return RequestView(
        session=SESSION,
        number=number,
        numbers=REQUESTS,
        answer=answer,
        model="claude-x",
        usage=Usage(key="r", input=counted + 14_180),
        tokenizer="o200k",
        estimated=True,
        parts=parts,
        stated=(Stated("base instructions", "Answer in the language of the question.", 420),),
        messages=carried,
        basis=f"{counted + 14_180:,} input tokens by the request's usage record, less {counted:,} counted here (o200k)",
    )


def history() -> HistoryView:
    rows = []
    for one, tokens in zip(messages(), TOKENS, strict=True):
        fate = Fate(memory=default_class(one))
        if one.seq == 5:
            trim = Trim(id="x1", act="drop", messages=(one.id,), by="human:dev", at=at(12), why="read")
            fate = replace(fate, disposition="dropped", trim=trim)
        if one.seq == 8:
            trim = Trim(id="x2", act="summarise", messages=(one.id,), by="human:dev", at=at(12), text="1 of 24 failed")
            fate = replace(fate, disposition="summarised", trim=trim)
        if one.seq == 2:
            fate = replace(fate, pinned=True)
        rows.append(MessageView(one, fate, tokens, one.seq in (2, 10)))
    total = sum(TOKENS)
    kept = sum(r.tokens for r in rows if r.fate.disposition == "kept")
    return HistoryView(tuple(rows), total, kept)


def fact(id_: str, key: str, value: object, **fields: object) -> Fact:
    return Fact(id=id_, key=key, value=value, **fields)  # type: ignore[arg-type]


ACCEPTED = (Act(act="accepted", by="human:dev", at=at(9)),)


def facts() -> tuple[FactView, ...]:
    landscape = fact(
        "f0landscap",
        "pdf.orientation",
        "landscape",
        statement="Invoices are exported in landscape",
        kind="decision",
        trust="authoritative",
        acts=ACCEPTED,
        sources=(Source(type="person", by="human:dev", at=at(9)),),
    )
    portrait = fact(
        "f0portrait",
        "pdf.orientation",
        "portrait",
        statement="Invoices are exported in portrait, A4",
        kind="decision",
        sources=(
            Source(
                type="session",
                ref=f"{SESSION}#m0010",
                quote="Make it portrait instead, A4.",
                by="human:dev",
                at=at(9, 10),
            ),
        ),
    )
    return (
        FactView(portrait, "pdf.orientation", "proposed", (landscape,)),
        FactView(landscape, "pdf.orientation", "challenged", (portrait,)),
        FactView(
            fact("f0cents000", "money.unit", "integer cents", kind="constraint", trust="authoritative", acts=ACCEPTED),
            "money.unit",
            "active",
        ),
        FactView(fact("f0fonts000", "pdf.font", "Noto Sans", trust="verified", acts=ACCEPTED), "pdf.font", "active"),
        FactView(
            fact("f0python00", "python.version", "3.12", acts=ACCEPTED), "python.version", "active", past_review=True
        ),
        FactView(fact("f0tax00000", "tax.rates", [7, 19], acts=ACCEPTED), "tax.rates", "active", shadowed=True),
    )


def task() -> Task:
    contract = Contract(
        objective="Export invoices as PDF/A so that customers can file them; totals right-aligned, fonts embedded.",
        targets=("src/export/",),
        acceptance=(
            AcceptanceItem(id="a1", text="the export tests pass", check="command:tests"),
            AcceptanceItem(id="a2", text="a ten-page invoice validates as PDF/A-2b", check="command:verapdf"),
            AcceptanceItem(id="a3", text="totals line up in print", check="manual", required=False),
        ),
        variables={"page": VariableSpec(type="string"), "font_mb": VariableSpec(type="number")},
    )
    stamp = Stamp(by="human:dev", at=at(9))
    return Task(
        id=TASK_ID,
        slug="invoice-pdf",
        title="Invoices as PDF",
        plan_revision=2,
        running="at2runs000",
        contract=contract,
        created=stamp,
        state=TaskState(
            updated_at=at(11),
            variables={"page": "A4"},
            done=(
                DoneItem(id="d1", text="PDF writer behind the export interface", known="verified", at=at(10)),
                DoneItem(id="d2", text="portrait page setup", at=at(11)),
            ),
            pending=(
                PendingItem(id="p1", text="embed a subset of the font", priority=1, at=at(11)),
                PendingItem(
                    id="p2",
                    text="validate with veraPDF",
                    started=Started(by="agent:codex", at=at(9), attempt="at1gone000"),
                ),
                PendingItem(id="p3", text="a note in the changelog", priority=3),
            ),
        ),
    )


def attempts() -> tuple[Attempt, ...]:
    return (
        Attempt(
            id="at1gone000",
            task=TASK_ID,
            executor="agent:codex",
            status="handed_over",
            started=Stamp(by="human:dev", at="2026-04-13T15:02:00Z"),
            ended=Stamp(by="human:dev", at=at(9)),
        ),
        Attempt(
            id="at2runs000",
            task=TASK_ID,
            executor="agent:claude",
            status="running",
            plan_revision=1,
            branch="invoice-pdf",
            sessions=(SessionRef(agent="claude", id="7d1e", joined=Stamp(by="human:dev", at=at(9))),),
            started=Stamp(by="human:dev", at=at(9)),
        ),
    )


def card() -> TaskView:
    it = task()
    failure = Evidence(
        id="e1",
        kind="command",
        task=TASK_ID,
        argv=("verapdf", "--flavour", "2b", "out/ten-pages.pdf"),
        exit_code=1,
        excerpt="FAIL out/ten-pages.pdf\nrule 6.2.11.4.1: the font program is not embedded",
        at=at(10, 40),
    )
    return TaskView(
        task=it,
        running=attempts()[1],
        attempts=attempts(),
        acceptance=(
            AcceptanceView("the export tests pass", True, "passed", "uv run pytest tests/export: exit 0 at 11:05"),
            AcceptanceView("a ten-page invoice validates as PDF/A-2b", True, "failed", "verapdf: exit 1 at 10:40"),
            AcceptanceView("totals line up in print", False, "waiting", "a person's confirmation"),
        ),
        evidence=(),
        failure=failure,
        interrupted=("validate with veraPDF",),
    )


def package(
    id_: str, status: str, to: str = "codex", differences: tuple[Difference, ...] = (), why: str = ""
) -> PackageView:
    identity = Identity(task=TASK_ID, plan_revision=2, to=to, date="2026-04-14", from_executor="agent:claude")
    envelope = Envelope(
        id=id_,
        snapshot="9d3f00aa17bc2e54",
        task=TASK_ID,
        identity=identity,
        content={},
        tokens=1184,
        tokenizer="o200k",
        prompt_sha256="0" * 64,
        prepared_by="human:dev",
        prepared_at=at(11, 20),
    )
    event = PackageEvent(id=f"{id_}1", status=status, by="human:dev", at=at(11, 20), why=why)  # type: ignore[arg-type]
    return PackageView(envelope, status, (event,), differences)  # type: ignore[arg-type]


def packages() -> tuple[PackageView, ...]:
    moved = (
        Difference(code="file_changed", subject="src/export/pdf.py", was="3be1…", now="90ac…"),
        Difference(code="fact_changed", subject="pdf.orientation", was="active", now="challenged"),
        Difference(code="new_messages", subject=SESSION, was="15", now="19", stops=False),
    )
    return (
        package("pk2pending", "pending", "gemini"),
        package("pk1stale00", "pending", "codex", moved),
        package("pk0closed0", "cancelled", "codex", why="replaced by pk1stale00"),
    )


def view(**changes: object) -> View:
    made = View(
        place=Place("billing", Path("/repo/billing/.workbench"), Path("/repo/billing"), None, "invoice-pdf", "ab12", 3),
        revision="r1",
        tasks=(task(),),
        task=card(),
        facts=facts(),
        history=history(),
        packages=packages(),
        sessions=(
            SessionView(
                "claude", "7d1e", "/s/7d1e.jsonl", 19, at(16, 28), "live", "Invoices", context=148_000, window=200_000
            ),
            SessionView("codex", "01a9", None, 0, None, "absent"),
        ),
        needs_you=(
            Need("challenged", "pdf.orientation: your later words differ from what holds", "s", "f0portrait"),
            Need("stale", "package for codex: src/export/pdf.py changed", "4", "pk1stale00"),
        ),
        damaged=(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def empty_view() -> View:
    return view(
        revision="r0",
        tasks=(),
        task=None,
        facts=(),
        history=HistoryView(),
        packages=(),
        sessions=(),
        needs_you=(),
    )


def review() -> Review:
    """Two lines before the person, one of them against what holds; three kept without asking."""
    change, _, cents, font, *_ = facts()
    said = Source(type="session", ref=f"{SESSION}#m0002", quote="totals right-aligned", by="human:dev", at=at(9, 2))
    aligned = fact(
        "f0aligned0",
        "decision.totals_right_aligned",
        "The totals are right-aligned.",
        statement="The totals are right-aligned.",
        kind="decision",
        sources=(said,),
    )
    return Review(
        offered=(
            _found(change, "human:dev", "Make it portrait instead, A4.", "m0010", offered=True, apart=TASK_ID),
            _found(FactView(aligned, aligned.key, "active"), "human:dev", said.quote or "", "m0002", offered=True),
        ),
        rest=(
            _found(font, "agent:claude", "The licence allows embedding Noto Sans.", "m0019"),
            _found(cents, "agent:claude", "金额一律以分为单位。", "m0016", language="zh"),
            Found(
                id="p9subset00",
                kind="open",
                text="subset the font, else each file grows by 4 MB",
                quote="subset the font, else each file grows by 4 MB",
                by="agent:claude",
                at=at(9, 19),
                ref=f"{SESSION}#m0019",
                language="en",
                task=TASK_ID,
            ),
        ),
        held=0,
        heard=Heard(count=19, last="m0019", said=6, sentences=14, process=9, before=128, after=41),
    )


def _found(row: FactView, by: str, quote: str, ref: str, **more: object) -> Found:
    fields: dict[str, object] = {
        "id": row.fact.id,
        "kind": row.fact.kind,
        "text": row.fact.line,
        "quote": quote,
        "by": by,
        "at": at(9, 10),
        "ref": f"{SESSION}#{ref}",
        "language": "en",
        "fact": row,
        **more,
    }
    return Found(**fields)  # type: ignore[arg-type]
