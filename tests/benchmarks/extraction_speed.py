"""What extraction costs: ``python tests/benchmarks/extraction_speed.py [MESSAGES]``.

Prints seconds per 100,000 messages and the slowest single message. Every message is another text, so that nothing
is answered from memory.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from workbench.extraction import Extractor

SET = Path(__file__).parents[1] / "extraction" / "labelled.jsonl"


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    texts = [json.loads(line)["text"] for line in SET.read_text("utf-8").splitlines()]
    extractor = Extractor()
    extractor.extract("warm up")
    slowest = 0.0
    begun = time.perf_counter()
    for number in range(count):
        said = time.perf_counter()
        extractor.extract(f"{texts[number % len(texts)]} ({number})")
        slowest = max(slowest, time.perf_counter() - said)
    took = time.perf_counter() - begun
    print(f"{count:,} messages in {took:.1f} s: {took / count * 100_000:.1f} s per 100,000")
    print(f"{took / count * 1000:.3f} ms a message, the slowest {slowest * 1000:.1f} ms")


if __name__ == "__main__":
    main()
