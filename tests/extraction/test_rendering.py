"""Conclusions as text: sections, dates, what is left out, and what it saves."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from workbench.extraction import Extraction, Extractor, Place
from workbench.extraction.render import render
from workbench.services.extraction import from_text

PROCESS = ("先看了一下现状", "讨论了分页放在哪一层", "要不要加缓存？", "我们考虑过用 Redis", "试了两种写法，第一种不行")
AT = "2026-03-01T10:00:00Z"


def extracted(text: str, at: str = "") -> Extraction:
    return Extractor().extract(text, Place(at=at))


def test_sections_come_in_order_and_each_in_its_language() -> None:
    text = render(extracted("TODO: docs\nwrote openapi.yaml\ndecided: REST\nport: 8080"))
    assert [line.split("]")[0] + "]" for line in text.splitlines()] == [
        "[Facts, reported]",
        "[Settled decisions]",
        "[Artifacts]",
        "[To do]",
    ]
    assert render(extracted("决定用 Go")).startswith("【已定决策】")


def test_confirmed_stands_only_over_what_somebody_stands_for() -> None:
    found = extracted("port: 8080\nregion = eu-west-1")
    text = render(found, confirmed=found.finds[:1])
    assert "[Confirmed facts] port: 8080" in text
    assert "[Facts, reported] region = eu-west-1" in text


def test_each_item_has_its_date_and_says_when_it_is_past_review() -> None:
    found = extracted("port: 8080", AT)
    early, late = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 8, 2, tzinfo=UTC)
    ages = {"number": 30}
    assert "port: 8080 (as of 2026-03-01)" in render(found, now=early, review_after=ages)
    assert "(as of 2026-03-01, check first)" in render(found, now=late, review_after=ages)


def test_what_does_not_fit_is_counted_and_named_and_constraints_stay() -> None:
    long = "with all of the endpoints and every parameter in the order of the code"
    found = extracted(f"Wrote a.md {long}\nWrote b.md {long}\nretries: 3\nDo not touch the user table.")
    whole = render(found)
    short = render(found, room=len(whole) - 90)
    assert "left out: " in short
    assert "Do not touch the user table" in short
    assert all(find.text[:20] in short or (find.key or "-") in short for find in found.finds)


def test_the_conclusions_of_thirteen_lines(shared_dir: Path) -> None:
    (page,) = (shared_dir / "seeds").glob("000*.txt")
    labelled = re.findall(r"^【[^】]+】(.+)$", page.read_text("utf-8"), re.M)
    eight = [part for line in labelled for part in line.split("；")]
    lines = [line for pair in zip(eight, (*PROCESS, ""), strict=False) for line in pair if line] + eight[6:]
    assert len(lines) == 13
    done = from_text("\n".join(lines))
    assert [len(done.found.of(kind)) for kind in ("fact", "decision", "artifact", "open")] == [1, 3, 2, 2]
    assert done.found.process == 5
    assert done.found.form == "record"
    assert done.after < done.before
    assert done.tokenizer == "o200k"


def test_a_wordy_text_gains_and_a_clean_one_is_better_whole() -> None:
    talk = "Let me look at the tests first, then at the build, and at what the log says about it. " * 12
    assert from_text(talk + "\nWe decided to use Go.").ratio > 3
    assert from_text(talk + "\nWe decided to use Go.").advice == ""
    assert from_text("decided: REST for v1").advice


def test_of_much_that_does_not_fit_a_few_are_named_and_all_counted() -> None:
    found = Extractor().extract("\n".join(f"Never push to branch-{number}." for number in range(400)))
    assert len(found.finds) == 400
    last = render(found, room=200).splitlines()[-1]
    assert "…" in last
    assert any(f"{count}" in last for count in range(380, 401))
    assert len(last) < 1500
