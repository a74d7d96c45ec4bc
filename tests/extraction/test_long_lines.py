"""Long lines: what people dictate is heard in pieces, and no text makes judging take more than its length asks for."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.sayings import EXTRACTOR
from workbench.extraction import Extractor, Place
from workbench.extraction.features import features_of
from workbench.extraction.prose import LONGEST, lines_of, masked
from workbench.extraction.sentences import LONGEST_SENTENCE, head_of, pieces_of, split
from workbench.extraction.signs import CODE, QUOTE

FILLER = "So yesterday I walked through the lists with Ann and she had a few thoughts about the weather. "
FILLER_ZH = "昨天我和同事一起走了走，聊了聊天气，也说了说周末去哪里玩。"
RAMBLE = "and then I kept talking about this and that while the coffee got cold "


@pytest.mark.parametrize("before", [0, 20, 41, 42, 60, 400])
@pytest.mark.parametrize(
    ("filler", "rule"), [(FILLER, "You must not edit schema.sql. "), (FILLER_ZH, "不要修改 schema.sql。")]
)
def test_a_rule_within_a_dictated_paragraph_is_found(filler: str, rule: str, before: int) -> None:
    text = filler * before + rule + filler * (LONGEST // len(filler) + 2)
    assert len(text) > LONGEST
    rules = [find for find in EXTRACTOR.extract(text, Place(message="m")).finds if find.constraint]
    assert [find.quote for find in rules] == [rule.strip()]
    assert rules[0].paths == ("schema.sql",)
    assert rules[0].place.line == 1


def test_a_rule_is_found_where_nobody_puts_a_full_stop() -> None:
    text = RAMBLE * 9 + ", you must not edit schema.sql, " + RAMBLE * 60
    assert any(find.constraint and "schema.sql" in find.text for find in EXTRACTOR.extract(text).finds)


@pytest.mark.parametrize("copies", [1, 30, 300])
@pytest.mark.parametrize(("opens", "closes"), ["“”", "「」", "『』", "‘’", '""', "``"])
def test_others_words_stay_theirs_however_long(opens: str, closes: str, copies: int) -> None:
    told = "You must never edit schema.sql. We use Postgres 16, never MySQL. " * copies
    assert not EXTRACTOR.extract(f"{FILLER}The page reads {opens}{told.strip()}{closes} there. {FILLER}").finds


@pytest.mark.parametrize("before", range(LONGEST_SENTENCE - 4, LONGEST_SENTENCE + 2))
def test_no_cut_parts_words_from_their_quotation_marks(before: int) -> None:
    quoted = "“不要修改任何数据库文件必须先问过我”"
    for place in (before, before - len(quoted) + 2, before - 8):
        assert not EXTRACTOR.extract("好" * place + quoted + "好" * 100).finds


@pytest.mark.parametrize(
    "line",
    [
        '{"rule": "You must not edit schema.sql.", "n": 1, "x": [1, 2]}, ' * 100 + "{}",
        "You must not edit schema.sql; if (a) { b = c; } else { d = e; } " * 100,
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 200,
        "level=warn msg=must_not_edit at=12:00 " * 200,
    ],
)
def test_long_lines_of_data_state_nothing(line: str) -> None:
    assert not EXTRACTOR.extract(line).finds


def test_lines_that_are_joined_do_not_grow_without_end() -> None:
    text = "\n".join(["and so we went on about this and that and about the weather and the food"] * 500)
    assert max(len(line.text) for line in lines_of(text)) <= LONGEST


_TALK = st.text(alphabet=f"ab .,，。我\n{CODE}{QUOTE}", max_size=400)


@given(_TALK, st.integers(2, 60))
def test_pieces_make_up_the_text_and_tear_no_quotation(text: str, most: int) -> None:
    pieces = list(pieces_of(text, most))
    assert "".join(piece for _, piece in pieces) == text
    assert all(text[start : start + len(piece)] == piece for start, piece in pieces)
    for _, piece in pieces:
        assert len(piece) <= most or {*piece[most:-1]} <= {CODE} or {*piece[most:-1]} <= {QUOTE}
    for (_, before), (_, after) in pairwise(pieces):
        assert not (before[-1] in (CODE, QUOTE) and after[0] in (CODE, QUOTE))


@given(st.text(alphabet="ab .!?x1é“\"…'", max_size=300))
def test_what_is_short_enough_is_one_piece(text: str) -> None:
    assert head_of(text) == text
    assert all(text[start : start + len(piece)] == piece for start, piece in split(text))


_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def _code_plainly(match: re.Match[str]) -> str:
    kept = " " not in match[2].strip() and re.search(r"\w", match[2])
    return match[0] if kept else match[1] + CODE * len(match[2]) + match[1]


@given(st.text(alphabet="`` ab.\n", max_size=40))
def test_code_ends_where_as_many_backquotes_come_again(text: str) -> None:
    assert masked(text) == _CODE.sub(_code_plainly, text)


HOSTILE = [*"`—–“‘\"'([{「『,、，;；.…-*_#>|:/\\!?=~", "a", "我", "a ", "a, ", "我，", "use it, ", "如果，"]


def _judged(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many characters are weighed until a text is judged."""
    lengths: list[int] = []

    def counting(body: str, *further: object) -> set[str]:
        lengths.append(len(body))
        return features_of(body, *further)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr("workbench.extraction.weighing.features_of", counting)
        Extractor().extract(text)
    return sum(lengths)


def _many(sign: str, size: int, seed: random.Random) -> str:
    """A line mostly of one sign; with a number now and then, since a sentence that was heard is not judged again."""
    line = "We use "
    while len(line) < size:
        line += sign * seed.randint(5, 40) + str(seed.randint(0, 99))
    return line[:size]


def test_no_line_is_judged_more_often_than_its_sentences_may_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.Random(7)
    for sign in HOSTILE:
        text = _many(sign, 3_900, seed)
        assert _judged(text, monkeypatch) <= 12 * len(text), sign
