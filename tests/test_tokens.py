"""Token counts: exact ones pinned, estimates by kind, and nothing that a text can break."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.tokens import NAMES, counter


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("a", 1, 1),
        ("tiktoken is great!", 6, 6),
        ("<|endoftext|>", 7, 7),
        ("\u7eff\u8272\u7684\u6309\u94ae", 3, 5),
        ("def f(x):\n    return x + 1\n", 11, 11),
    ],
)
def test_known_counts(text: str, o200k: int, cl100k: int) -> None:
    assert counter("o200k").count(text) == o200k
    assert counter("cl100k").count(text) == cl100k


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["\ud83d", "a\udcb2b\udcff", "\x00", "<|endoftext|><|im_start|>", "\u7eff\u8272"])
def test_no_text_is_refused(name: str, text: str) -> None:
    chosen = counter(name)
    assert chosen.count(text) > 0
    assert chosen.count_all([text, "", text]) == [chosen.count(text), chosen.count(""), chosen.count(text)]


def test_special_tokens_are_ordinary_text() -> None:
    assert counter("o200k").count("<|endoftext|>") > 1


def test_bytes() -> None:
    assert counter("bytes").count("\u7eff a") == 5
    assert not counter("bytes").estimated


def test_the_estimate_goes_by_kind() -> None:
    t0 = counter("t0")
    assert t0.estimated
    assert t0.count("word " * 400) == pytest.approx(2000 / 4, rel=0.02)
    assert t0.count('{"key": "value", "number": 1}\n' * 100) == pytest.approx(3000 / 3, rel=0.02)
    assert t0.count("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo5aGVsbG8" * 50) == pytest.approx(43 * 50 / 1.46, rel=0.02)
    assert t0.count("\u7eff\u8272\u7684" * 100) == pytest.approx(900 / 4, rel=0.02)


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n")), min_size=1, max_size=6))
def test_lines_never_add_up_to_less_than_the_text(lines: list[str]) -> None:
    t0 = counter("t0")
    assert sum(t0.count(line) for line in lines) >= t0.count("\n".join(lines))


def test_one_counter_for_each_name_and_none_for_others() -> None:
    assert counter("o200k") is counter("o200k")
    assert [counter(name).name for name in NAMES] == list(NAMES)
    with pytest.raises(UsageError, match="p50k"):
        counter("p50k")


def test_the_vocabulary_is_loaded_late() -> None:
    code = "import sys, workbench.tokens as t; t.counter('o200k'); print('toktok' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
