"""Token estimates follow the measured rates and stay cheap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.tokens import EXACT_LIMIT, estimate_tokens

PROSE = "The service reads the transcript and keeps what a person said about the project."
CODE = "    for (let i = 0; i < items.length; i++) { total += items[i].price * rate(i); }"
NUMBERS = "2026 11 30 48213 99120 77 31 5520 18 66 90 12345 678 90 11 22 33 44 55 66 77 88"
NUMBERED = "    12\u2192the same words as in any prose but behind the number of a line"


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        (PROSE, 4.0),
        (CODE, 3.0),
        (NUMBERS, 1.8),
        (NUMBERED, 3.0),
        (NUMBERED.replace("\u2192", "\t"), 3.0),
    ],
)
def test_each_kind_of_line_has_its_rate(line: str, rate: float) -> None:
    text = "\n".join([line] * 50)

    assert estimate_tokens(text) == pytest.approx(len(text) / rate, rel=0.02)


def test_wide_characters_count_one_each() -> None:
    assert estimate_tokens("\u8bb0\u4f4f\u4f7f\u7528\u5236\u8868\u7b26" * 100) == pytest.approx(
        700, rel=0.02
    )
    assert estimate_tokens("caf\u00e9 cr\u00e8me " * 100) < 400


def test_only_nothing_is_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("\n") == 1
    assert estimate_tokens("\ud83d") >= 1


def test_long_texts_are_sampled_with_little_error() -> None:
    block = f"{PROSE}\n{CODE}\n{NUMBERS}\n{PROSE}"
    repeats = 40 * EXACT_LIMIT // len(block)
    text = "\n".join([block] * repeats)

    assert estimate_tokens(text) == pytest.approx(repeats * estimate_tokens(block), rel=0.05)


@settings(deadline=None)
@given(st.text(max_size=400))
def test_never_more_than_the_dearest_rate(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text) / 1.8 + len(text) + 2
