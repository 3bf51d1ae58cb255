"""Injected blocks are found however they are nested or broken."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.injected import carries_marker, without_injections


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain", "plain"),
        ("a<system-reminder>b</system-reminder>c", "ac"),
        ("a<system-reminder>b<system-reminder>c</system-reminder>d</system-reminder>e", "ae"),
        ("a<system-reminder>b<memoryd-recall>c</memoryd-recall></system-reminder>d", "ad"),
        (
            "why <system-reminder> and <memoryd-recall>x</memoryd-recall>?",
            "why <system-reminder> and ?",
        ),
        ("</system-reminder>a", "</system-reminder>a"),
        ('kept <memoryd-recall project="/p">never closed', "kept "),
        ("a<memoryd-recalls>b</memoryd-recalls>", "a<memoryd-recalls>b</memoryd-recalls>"),
    ],
)
def test_blocks(text: str, left: str) -> None:
    assert without_injections(text) == left


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["<system-reminder>", "</system-reminder>", "<memoryd-recall>", "x", " "])
    )
)
def test_nothing_is_invented(parts: list[str]) -> None:
    text = "".join(parts)
    left = without_injections(text)

    assert len(left) <= len(text)
    assert "<memoryd-recall>" not in left
    assert without_injections(left) == left


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("[memoryd-request]", True),
        ("a\n  [memoryd-request]  \r\nb", True),
        ("the mark [memoryd-request] in a line", False),
        ("", False),
    ],
)
def test_the_marker_is_a_line_of_its_own(text: str, own: bool) -> None:
    assert carries_marker(text) is own
