"""What no marker settles is weighed: by data that can be read, with reasons, the same every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.figures import rows
from tests.extraction.fit import fit, samples
from workbench.extraction import Extractor, Place
from workbench.extraction.features import features_of
from workbench.extraction.weighing import (
    BINDS,
    COLUMNS,
    NOTHING,
    TWO,
    Leaning,
    Scale,
    lexicon_of,
    read_weights,
    scale_of,
    write_weights,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Positions come in over a queue in Frankfurt.", "fact"),
        ("配置中心跑在两台虚机上。", "fact"),
        ("The legend goes to the bottom left.", "decision"),
    ],
)
def test_a_statement_without_a_marker_is_found(text: str, kind: str) -> None:
    assert [find.kind for find in Extractor().extract(text).finds] == [kind]


@pytest.mark.parametrize("text", ["That got rid of the warning.", "Good catch on the race.", "这个思路没问题。"])
def test_talk_without_a_marker_is_left_out(text: str) -> None:
    assert Extractor().extract(text).finds == ()


def test_the_scale_says_why() -> None:
    scale = scale_of("en")
    body = "The service listens on 8081"
    assert scale.lean(body).kind == "fact"
    assert any("v_hold" in reason for reason in scale.why(body, "fact", most=20))


def test_names_and_numbers_count_by_their_sort() -> None:
    lexicon = lexicon_of("en")
    one = features_of("The gateway listens on 8081", lexicon, "en")
    assert one == features_of("The gateway listens on 9090", lexicon, "en")


def test_weights_are_read_as_they_were_written() -> None:
    weights = {
        "(always)": [1.0, 0, 0, 0, 0, 0, 0],
        "has the": [0.01, 0, 0, 0, 0, 0, 0],
        "label": [0.123, 0, 0, -2, 0, 1, -3],
    }
    lines = write_weights(weights)
    assert read_weights(lines) == {"(always)": (100, 0, 0, 0, 0, 0, 0), "label": (12, 0, 0, -200, 0, 100, -300)}
    assert lines[0].split("\t")[1:] == [*(kind or "process" for kind in COLUMNS), BINDS, TWO]


@given(weights=st.lists(st.lists(st.integers(-400, 400), min_size=7, max_size=7), max_size=150))
def test_each_column_is_added_by_itself(weights: list[list[int]]) -> None:
    table = {str(number): [one / 100 for one in row] for number, row in enumerate(weights)}
    scale = Scale.of("en", write_weights(table, least=0))
    leaning = scale.further(Leaning(NOTHING), table)
    sums = [sum(column) for column in zip(*weights, strict=True)] or [0] * 7
    assert [*leaning.scores.values(), leaning.binds, leaning.two] == sums


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("日志里偶发连接重置，集中在成都节点。网络组尚未答复。", ["open"]),
        ("Badge counter shows 3 with nothing unread. Comes and goes since the websocket rewrite.", ["open"]),
    ],
)
def test_what_stands_beside_an_open_item_says_more_of_it(text: str, kinds: list[str]) -> None:
    assert sorted({find.kind for find in Extractor().extract(text).finds}) == kinds


@pytest.mark.parametrize("work", ["The login test is still flaky.", "We still need to migrate the old rows."])
@pytest.mark.parametrize(
    "said",
    [
        "Let's use Postgres.",
        "Make the theme green.",
        "Use port 9090 for the preview server.",
        "Never touch the user table.",
    ],
)
def test_a_decision_beside_an_open_item_is_heard(work: str, said: str) -> None:
    extractor = Extractor()
    for text in (f"{work} {said}", f"{said} {work}"):
        found = {find.text.rstrip("."): find.kind for find in extractor.extract(text, Place(typed=True)).finds}
        assert found[said.rstrip(".")] == "decision"


@pytest.mark.parametrize("said", ["The cache is invalidated on every write.", "The export times out after 30 seconds."])
def test_a_nod_changes_nothing(said: str) -> None:
    extractor = Extractor()
    assert [find.kind for find in extractor.extract(f"{said} OK.").finds] == [
        find.kind for find in extractor.extract(said).finds
    ]


def test_the_prose_of_an_agent_is_heard_sentence_by_sentence() -> None:
    extractor = Extractor()
    parts = "Badge counter shows 3 with nothing unread.", "Comes and goes since the websocket rewrite."
    alone = [find for part in parts for find in extractor.extract(part).finds]
    heard = extractor.extract(" ".join(parts), Place(by="agent:claude")).finds
    assert [find.kind for find in heard] == [find.kind for find in alone]


def test_what_is_cut_off_keeps_no_joint() -> None:
    texts = [
        "The portal will be bilingual (FR/EN), but who pays for the translation is not settled yet",
        "日志统一写到 stdout，但是轮转还没配",
    ]
    for text in texts:
        found = Extractor().extract(text).finds
        assert len(found) == 2
        assert not found[0].text.endswith(("but", ",", "但是", "，"))


def test_a_paragraph_is_heard_alike_however_often() -> None:
    extractor = Extractor()
    text = "The legend goes to the bottom left. Nobody has checked the print view yet."
    once = extractor.extract(text).finds
    assert extractor.extract("Nobody has checked the print view yet.").finds
    assert extractor.extract(text).finds == once


def test_fitting_the_same_rows_gives_the_same_weights() -> None:
    few = [row for row in rows("tune") if row["language"] == "en"][:60]
    assert fit(samples(few)["en"]) == fit(samples(few)["en"])
