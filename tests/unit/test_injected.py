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


@pytest.mark.parametrize("closing", ["memoryd-recall", "ide_selection"])
def test_tags_that_are_never_closed_take_no_time(closing: str) -> None:
    # Looking through all open tags for each closing one would take hours here.
    text = "<system-reminder>" * 60_000 + f"</{closing}>" * 60_000
    assert without_injections(text) == text


@given(st.lists(st.sampled_from(["x", *(f"<{e}{t}>" for e in ("", "/") for t in "abc")])))
def test_what_is_taken_out_is_what_the_nearest_tags_enclose(parts: list[str]) -> None:
    real = {"a": "memoryd-recall", "b": "system-reminder", "c": "ide_selection"}
    words = [part if part == "x" else part.replace(part[-2], real[part[-2]]) for part in parts]
    gone: set[int] = set()
    open_tags: list[int] = []
    for at, word in enumerate(words):
        if word.startswith("</"):
            match = next((o for o in reversed(open_tags) if words[o] == f"<{word[2:]}"), None)
            if match is not None:
                gone |= set(range(match, at + 1))
                open_tags = [o for o in open_tags if o < match]
        elif word != "x":
            open_tags.append(at)
    dropped = [o for o in open_tags if words[o] == "<memoryd-recall>"]
    if dropped:
        gone |= set(range(dropped[0], len(words)))
    left = "".join(word for at, word in enumerate(words) if at not in gone)
    assert without_injections("".join(words)) == left
