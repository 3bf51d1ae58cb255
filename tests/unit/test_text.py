"""What a terminal would act on is gone; text is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.text import for_terminal, one_line


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Htop", "top"),
        ("\x9b31mred", "red"),
        ("\x1b]52;c;ZXZpbA==\x07after", "after"),
        ("\x1b]52;c;ZXZpbA==\x1b\\after", "after"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1b]0;never closed\nnext line", "\nnext line"),
        ("\x1bPq#0;2\x1b\\after", "after"),
        ("\x1bcreset \x1b(B", "reset "),
        ("a\u202eb\u2066c\u2069d\u200fe", "abcde"),
        ("bell\x07 null\x00 delete\x7f back\x08", "bell null delete back"),
        ("over\rwritten\r\n", "overwritten\n"),
        ("日本語 – “quotes” 👩\u200d💻 é", "日本語 – “quotes” 👩\u200d💻 é"),
        ("ends \x1b", "ends "),
        ("ends \x1b[", "ends "),
    ],
)
def test_only_text_reaches_the_terminal(raw: str, shown: str) -> None:
    assert for_terminal(raw) == shown


@given(st.text(alphabet=st.sampled_from("\x1b[]\x9b\x9d\x9c\\;0m\x07ab\n\t\u202e\r\x00")))
def test_nothing_unfolds_from_what_is_left(raw: str) -> None:
    shown = for_terminal(raw)
    assert for_terminal(shown) == shown
    assert not set(shown) & set("\x1b\x9b\x9d\x9c\x07\u202e\r\x00")


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("short", 10, "short"),
        (" a\n\tb  c ", 10, "a b c"),
        ("one two three four", 14, "one two three…"),
        ("one two three four", 13, "one two…"),
        ("one two, three", 9, "one two…"),
        ("unbrokenword", 6, "unbro…"),
        ("a unbrokenword", 8, "a unbro…"),
        ("abc", 0, ""),
        ("abc", 1, "…"),
    ],
)
def test_one_line(text: str, limit: int, line: str) -> None:
    assert one_line(text, limit) == line


@given(st.text(), st.integers(0, 40))
def test_a_line_is_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
