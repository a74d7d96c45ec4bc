"""Forms of evidence: the last failure with the lines that matter, and one line for everything else."""

from __future__ import annotations

import re

from workbench.compiler.acceptance import command_line, passed
from workbench.compiler.collect_records import FailedAttempt
from workbench.compiler.layout import Form, Group, Piece, clean, entry, flat, stale_mark, when
from workbench.compiler.material import EvidenceItem, Material
from workbench.compiler.qualify import Judged
from workbench.compiler.words import Words
from workbench.domain.evidence import Evidence

_MATTERS = re.compile(
    r"error|fail|fatal|panic|assert|traceback|exception|denied|not found|undefined|expected|unexpected|"
    r"错误|失败|异常|未找到|不存在",
    re.IGNORECASE,
)
_COMMAND = 300
_UNCHANGING = frozenset({"file_change", "artifact", "call"})
"""What these show stays true when the files change again: that it came to be."""


def lines_that_matter(text: str, lines: int, width: int) -> str:
    """The lines of an output that name what went wrong, else its last ones, in their order."""
    rows = [row for row in clean(text).split("\n") if row.strip()]
    telling = [n for n, row in enumerate(rows) if _MATTERS.search(row)]
    chosen = telling[-lines:] if telling else list(range(len(rows)))[-lines:]
    return "\n".join(_clipped(rows[number].strip(), width) for number in chosen)


def _clipped(row: str, width: int) -> str:
    return row if len(row) <= width else row[: width - 1] + "…"


class EvidenceShaper:
    """Makes the forms of failures and other evidence."""

    def __init__(self, material: Material, words: Words) -> None:
        self.material = material
        self.words = words

    def _command(self, evidence: Evidence) -> str:
        return flat(self.material.mask(command_line(evidence)), _COMMAND).replace("`", "'")

    def failure(self, judged: Judged) -> list[Form]:
        """The failed command with its exit code, and as much of its output as there is room for."""
        record, words = judged.candidate.record, self.words
        if isinstance(record, FailedAttempt):
            attempt = record.attempt
            ended = attempt.ended
            why = flat(ended.why, 400) if ended and ended.why else words["none"]
            at = when(ended.at if ended else "", words)
            text = words["failure.attempt"].format(id=attempt.id, executor=attempt.executor, when=at, why=why)
            return [Form("body", (Piece("failed", ("1", attempt.id), entry(text)),))]
        assert isinstance(record, EvidenceItem)
        evidence = record.evidence
        text = words["failure"].format(
            command=self._command(evidence),
            exit=evidence.exit_code,
            when=when(evidence.at, words),
            id=evidence.id,
        )
        head = Piece("failed", ("2", "0"), entry(text, judged.stale if self._in_command(judged) else (), words))
        output = self.material.mask(evidence.excerpt)
        if not output.strip():
            return [Form("body", (head,))]
        excerpts = [
            ("reference", lines_that_matter(output, 2, 160)),
            ("excerpt", lines_that_matter(output, 12, 400)),
            ("body", clean(output).strip("\n")),
        ]
        return [Form(name, (head, self._output(judged, evidence, lines))) for name, lines in excerpts]

    def _in_command(self, judged: Judged) -> bool:
        item = judged.candidate.record
        assert isinstance(item, EvidenceItem)
        line = command_line(item.evidence).casefold()
        return any(value.needle in line for value in judged.stale)

    def _output(self, judged: Judged, evidence: Evidence, lines: str) -> Piece:
        words = self.words
        label = words["output_of"].format(command=self._command(evidence))
        section = "failed"
        if judged.handling == "history":
            label, section = f"{stale_mark(judged.stale, words)}; {label}", "history"
        group = Group(f"failure:{evidence.id}", flat(label, 400), fenced=True)
        return Piece(section, ("2", "1"), f"{words['output']}\n{lines}\n", (group,))

    def evidence(self, judged: Judged) -> list[Form]:
        """One line: what ran or came to be, when, and whether it still holds."""
        item = judged.candidate.record
        assert isinstance(item, EvidenceItem)
        evidence = item.evidence
        if evidence.kind == "file_change":
            return self._files(evidence)
        if evidence.kind == "claim":
            return self._claim(evidence)
        if judged.handling == "stale" and evidence.kind not in _UNCHANGING:
            return self._stale(judged, item)
        return self._line(judged, evidence)

    def _files(self, evidence: Evidence) -> list[Form]:
        group = Group("files", self.words["files_changed"])
        paths = sorted({f.path for f in evidence.files}) or [evidence.text or evidence.id]
        text = "".join(entry(flat(path, 400)) for path in paths)
        return [Form("body", (Piece("read", ("2", paths[0], evidence.id), text, (group,)),))]

    def _claim(self, evidence: Evidence) -> list[Form]:
        words = self.words
        group = Group("claims", words["claims"], fenced=True)

        def form(name: str, limit: int) -> Form:
            said = flat(self.material.mask(evidence.text or evidence.excerpt), limit)
            text = words["evidence.claim"].format(when=when(evidence.at, words), by=evidence.executor, text=said)
            return Form(name, (Piece("finished", ("2", evidence.at, evidence.id), entry(text), (group,)),))

        return [form("excerpt", 160), form("body", 1000)]

    def _stale(self, judged: Judged, item: EvidenceItem) -> list[Form]:
        evidence, words = item.evidence, self.words
        files = flat(words["list"].join(item.changed), 300) if item.changed else words["evidence.files"]
        at = when(evidence.at, words)
        outcome = passed(self.material, evidence)
        if outcome is None:
            said = self._subject(evidence)
            text = words["evidence.stale_other"].format(kind=evidence.kind, when=at, files=files, text=said)
        else:
            name = "evidence.stale" if outcome else "evidence.stale_failed"
            text = words[name].format(when=at, files=files, command=self._command(evidence))
        line = entry(text, judged.stale if self._in_command(judged) else (), words)
        return [Form("body", (Piece("check", ("1", evidence.at, evidence.id), line),))]

    def _subject(self, evidence: Evidence) -> str:
        return flat(self.material.mask(command_line(evidence) or evidence.text or evidence.excerpt), 200)

    def _line(self, judged: Judged, evidence: Evidence) -> list[Form]:
        words = self.words
        outcome = passed(self.material, evidence)
        at = when(evidence.at, words)
        if evidence.kind == "command":
            name = {True: "evidence.passed", False: "evidence.failed", None: "evidence.unknown"}[outcome]
            text = words[name].format(when=at, command=self._command(evidence), exit=evidence.exit_code, id=evidence.id)
        else:
            text = words["evidence.other"].format(
                kind=evidence.kind, when=at, text=self._subject(evidence), id=evidence.id
            )
        line = entry(text, judged.stale if judged.stale else (), words)
        if outcome is False:
            return [Form("body", (Piece("failed", ("3", evidence.at, evidence.id), line),))]
        if evidence.kind == "command" and outcome is None:
            return [Form("body", (Piece("check", ("2", evidence.at, evidence.id), line),))]
        verified = evidence.trust != "reported"
        group = Group("verified" if verified else "reported", words["verified" if verified else "as_reported"])
        order = ("0" if verified else "1", "1", evidence.at, evidence.id)
        return [Form("body", (Piece("finished", order, line, (group,)),))]
