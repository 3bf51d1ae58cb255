"""What spares slow patterns never spares one that would have matched."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.extraction.offline import claims, frames, prose, reading
from memoryd.extraction.offline.hints import Hinted, folded
from memoryd.extraction.offline.reading import is_request, may_ask, readings

HINTED = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (claims, frames, reading)
    for name, value in vars(module).items()
    if isinstance(value, Hinted)
}
SAMPLES = sorted(Path(__file__).parent.glob("extraction_prompts*.json"))
# Each holds a letter that a pattern which ignores case takes for another.
ODD = str.maketrans({"k": "\u212a", "s": "\u017f", "i": "\u0131", "I": "\u0130"})


def texts() -> list[str]:
    """Return every string of the samples: prompts, and what is expected of them."""

    def within(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for part in value.values() for text in within(part)]
        if isinstance(value, list):
            return [text for part in value for text in within(part)]
        return [value] if isinstance(value, str) else []

    return [text for file in SAMPLES for text in within(json.loads(file.read_text()))]


def check(hinted: Hinted, text: str) -> None:
    for found in hinted.pattern.finditer(text):
        assert hinted.may_match(folded(found[0]))
        assert hinted.may_match(folded(text))


@pytest.mark.parametrize("name", HINTED)
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data(), around=st.text(max_size=8))
def test_no_match_without_a_hint(name: str, data: st.DataObject, around: str) -> None:
    hinted = HINTED[name]
    # Texts that match, in capitals and in letters that only look alike too.
    text = data.draw(st.from_regex(hinted.pattern))
    for form in (text, text.upper(), text.translate(ODD), around + text + around):
        check(hinted, form)


@pytest.mark.parametrize("name", HINTED)
def test_no_sample_matches_without_a_hint(name: str) -> None:
    for text in texts():
        check(HINTED[name], text)


ENDINGS = ((prose._ABBREVIATED, prose._is_abbreviation), (claims._COURTESY, claims._may_thank))


@pytest.mark.parametrize(("pattern", "may_match"), ENDINGS)
@settings(deadline=None, max_examples=100)
@given(data=st.data(), before=st.text(max_size=8))
def test_no_ending_is_passed_over(
    pattern: re.Pattern[str], may_match: Callable[[str], bool], data: st.DataObject, before: str
) -> None:
    text = data.draw(st.from_regex(pattern)).rstrip("\n")
    for form in (text, text.upper(), text.translate(ODD), before + text):
        if pattern.search(form):
            assert may_match(form)


# What ``may_ask`` says in one slow pattern.
PLAIN = re.compile(
    r"\b(?:remember|rem\w{1,4}ber|scratch|disregard|never ?mind|save|store|general(?:ly)?|changed|"
    r"slipped|postponed|fwd|convention|policy|memory|memori[sz]e|note|forget|record|reference|"
    r"next time|from (?:now|here)|going forward|moving forward|henceforth|future|no|nope|wrong|"
    r"not|actually|correction|instead|rather|moved|migrated|switched|any ?more|longer|outdated|"
    r"now|rule|incorrect|stopped)\b|记|忘|以后|今后|往后|从现在|从今|从此|将来|下次|不|错|更正|"
    r"纠正|过时|其实|改|换|迁|搬|代替|取代|别|勿|删",
    re.IGNORECASE,
)
SAID = """
    remember rememmber Forget this note memorize no not NOW know never mind any more from here going
    forward use uv pip the port moved to 6543 please correction: instead , .
    记住 忘记 以后 不对 改用 端口 是 请 我们 用 发布 no用"""
WORDS = st.sampled_from(SAID.split())


def asks(text: str) -> bool:
    """Ask the full reader."""
    return any(
        not isinstance(found, claims.Claim) or found.asked or found.corrects
        for found in readings(text)
    )


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.one_of(WORDS, st.text(max_size=4)), max_size=14), st.sampled_from(["", " ", "\n"])
)
def test_a_request_is_what_has_a_word_of_one_and_is_read_as_one(
    words: list[str], between: str
) -> None:
    text = between.join(words)

    assert may_ask(text) == (PLAIN.search(text) is not None)
    if is_request(text):
        assert asks(text)


@pytest.mark.parametrize("odd", [False, True])
def test_samples_are_requests_as_the_full_reader_has_them(odd: bool) -> None:
    missed = 0
    for text in texts():
        form = text.translate(ODD) if odd else text
        assert may_ask(form) == (PLAIN.search(form) is not None)
        missed += asks(form) and not may_ask(form)
        if may_ask(form) and "\n" not in form.strip():
            assert is_request(form) == asks(form)
    # A few orders to change a habit have none of the words; they wait their turn.
    assert missed <= 0.01 * len(texts())


def test_folding_is_what_patterns_that_ignore_case_do() -> None:
    every = "".join(map(chr, range(0x110000)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        found = re.findall(letter, every, re.IGNORECASE)
        assert len(found) >= 2
        assert [folded(character) for character in found] == [letter] * len(found)
