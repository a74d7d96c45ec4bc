"""Statements found in texts in which no sentence comes twice, so that nothing is answered from memory."""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path

from tests.benchmarks.table import Row, main, ms
from workbench.extraction import Extractor, Place
from workbench.services.many import extract_each

SET = Path(__file__).parents[1] / "extraction" / "labelled.jsonl"
WHOLE = 20_000
"""Messages at full size; more would tell nothing else."""


def run(scale: float = 1.0) -> list[Row]:
    """Processor time of many short messages, and the slowest; and how long 100,000 take on this machine."""
    texts = [json.loads(line)["text"] for line in SET.read_text("utf-8").splitlines()]
    extractor = Extractor()
    extractor.extract("warm up")
    gc.collect()
    gc.freeze()  # as the program does once it has read what it works with
    count = max(20, int(WHOLE * scale))
    each = []
    for number in range(count):
        text = _unlike(texts[number % len(texts)], number)
        began = time.process_time()
        extractor.extract(text)
        each.append(time.process_time() - began)
    gc.unfreeze()
    alone, slowest = sum(each) / count * 100_000, max(each)
    many = int(100_000 * scale)
    talk = [(_unlike(texts[number % len(texts)], number), Place()) for number in range(many)]
    began = time.perf_counter()
    found = sum(len(one.finds) for one in extract_each(talk))
    together = time.perf_counter() - began
    return [
        Row("100,000 messages, of one sentence mostly: processor time of one process", ms(alone)),
        Row("the slowest message", ms(slowest), "< 5 ms", slowest < 0.005),
        Row(
            f"{many:,} messages as `extract` takes them, processes started, {found:,} finds",
            ms(together),
            "< 20 s",
            together < 20,
        ),
    ]


def _unlike(text: str, number: int) -> str:
    """A text with a number within its sentence, between two words where there are some."""
    half = len(text) // 2
    place = text.find(" ", half)
    place = place if place >= 0 else half
    return f"{text[:place]} {number} {text[place:].lstrip()}"


if __name__ == "__main__":
    main("Extraction", run)
