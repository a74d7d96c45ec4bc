"""Figures of the rules layer over the labelled set: ``python -m tests.extraction.figures [tune|test] [--errors]``."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.extraction import KINDS, Extractor

SET = Path(__file__).with_name("labelled.jsonl")
Row = dict[str, Any]


@dataclass
class Figures:
    """Counts over rows; strict wants the kinds exactly, lenient forgives a fact taken for a decision and back."""

    hits: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    lenient_missed: Counter[str] = field(default_factory=Counter)
    lenient_wrong: Counter[str] = field(default_factory=Counter)
    process: int = 0
    leaked: int = 0
    cases: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    keys: list[bool] = field(default_factory=list)
    constraints: list[bool] = field(default_factory=list)
    """For every labelled constraint whether it was found and taken for one."""
    trapped: list[bool] = field(default_factory=list)
    """For every row of process whether a constraint was found in it."""
    errors: list[tuple[Row, list[str]]] = field(default_factory=list)

    def f1(self, missed: Counter[str], wrong: Counter[str]) -> float:
        """Mean of the F1 of the kinds and of process."""
        values = []
        for kind in (*KINDS, "process"):
            hits = self.hits[kind]
            values.append(2 * hits / max(1, 2 * hits + missed[kind] + wrong[kind]))
        return sum(values) / len(values)

    @property
    def strict(self) -> float:
        """Macro-F1 with kinds exact."""
        return self.f1(self.missed, self.wrong)

    @property
    def lenient(self) -> float:
        """Macro-F1 that forgives fact for decision, and a further item beside a right one."""
        return self.f1(self.lenient_missed, self.lenient_wrong)

    @property
    def leak(self) -> float:
        """Share of process rows from which something was kept."""
        return self.leaked / max(1, self.process)


def rows(half: str | None = None) -> list[Row]:
    """The labelled rows, of one half or all."""
    found = [json.loads(line) for line in SET.read_text("utf-8").splitlines()]
    return [row for row in found if half is None or row["half"] == half]


def measure(of: Iterable[Row], extractor: Extractor | None = None) -> Figures:
    """Run the rules over rows and count."""
    extractor = extractor or Extractor()
    figures = Figures()
    for row in of:
        items = extractor.extract(row["text"]).finds
        got = sorted({str(find.kind) for find in items}) or ["process"]
        want = sorted({item["kind"] for item in row["items"]}) or ["process"]
        _count(figures, got, want)
        right = got == want
        for item in row["items"]:
            if "value" in item:
                read = any((f.key, str(f.value).lower()) == (item["key"], str(item["value"]).lower()) for f in items)
                figures.keys.append(read)
                right = right and read if row["case"] == "key" else right
            if item.get("constraint"):
                figures.constraints.append(any(find.constraint for find in items))
                right = right and figures.constraints[-1]
        figures.cases[row["case"]].append(right)
        if want == ["process"]:
            figures.process += 1
            figures.trapped.append(any(find.constraint for find in items))
            figures.leaked += got != ["process"]
        if not right:
            figures.errors.append((row, [f"{f.kind}:{f.rule}:{f.key}={f.value}:{f.text!r}" for f in items]))
    return figures


def _count(figures: Figures, got: Sequence[str], want: Sequence[str]) -> None:
    alike = {"fact", "decision"}
    for kind in want:
        if kind in got:
            figures.hits[kind] += 1
        else:
            figures.missed[kind] += 1
            figures.lenient_missed[kind] += not (kind in alike and alike & set(got))
    for kind in got:
        if kind not in want:
            figures.wrong[kind] += 1
            beside = bool(set(got) & set(want)) and "process" not in want
            figures.lenient_wrong[kind] += not (beside or (kind in alike and alike & set(want)))


def table(name: str, figures: Figures) -> str:
    """The figures as lines of text."""
    total = sum(map(len, figures.cases.values()))
    lines = [
        f"{name}: {total} rows, macro-F1 strict {figures.strict:.3f}, lenient {figures.lenient:.3f}, "
        f"process leak {figures.leak:.3f}, key and value {sum(figures.keys)}/{len(figures.keys)}"
    ]
    for kind in (*KINDS, "process"):
        hits, missed, wrong = figures.hits[kind], figures.missed[kind], figures.wrong[kind]
        precision, recall = hits / max(1, hits + wrong), hits / max(1, hits + missed)
        lines.append(f"  {kind:9} precision {precision:.2f}  recall {recall:.2f}  ({hits + missed} labelled)")
    lines.append(
        f"  constraints taken for such {sum(figures.constraints)}/{len(figures.constraints)}, "
        f"found in process {sum(figures.trapped)}/{len(figures.trapped)}"
    )
    return "\n".join(lines)


def main() -> None:
    """Print all figures; with ``--errors`` the rows that are not right, too."""
    half = next((word for word in sys.argv[1:] if word in ("tune", "test")), "test")
    found = rows(half)
    for form in ("record", "chat"):
        print(table(f"{half}, {form}", measure(r for r in found if r["form"] == form)))
    whole = measure(found)
    print(table(f"{half}, all", whole))
    for case, right in sorted(whole.cases.items()):
        print(f"  {case:15} {sum(right)}/{len(right)} = {sum(right) / len(right):.2f}")
    if "--errors" in sys.argv:
        for row, got in whole.errors:
            print(f"{row['id']:24} {[i['kind'] for i in row['items']]} <- {got}\n      {row['text']!r}")


if __name__ == "__main__":
    main()
