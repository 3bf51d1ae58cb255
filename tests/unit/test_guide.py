"""The text for system prompts keeps its promises."""

from __future__ import annotations

import pytest
from memoryd.extraction.operations import MemoryType, Source
from memoryd.guide import GUIDE, MOST
from memoryd.recall.claims import Mark


def test_it_is_short() -> None:
    assert len(GUIDE) <= MOST <= 2_500


@pytest.mark.parametrize("kind", MemoryType)
def test_it_says_what_every_type_is_for(kind: MemoryType) -> None:
    assert f"\n- {kind}: " in GUIDE


@pytest.mark.parametrize(
    "excluded",
    [
        "code structure",
        "file layout",
        "git history",
        "derived from the repository",
        "the state of the task in hand",
        "the instructions (CLAUDE.md) already say",
        "Never at all: secrets",
        "<private>",
    ],
)
def test_it_names_every_exclusion(excluded: str) -> None:
    assert excluded in GUIDE.partition("Never save")[2]


def test_a_request_in_so_many_words_lifts_all_but_the_absolute_ones() -> None:
    exclusions = GUIDE.partition("Never save")[2]
    assert exclusions.index("unless the person asks") < exclusions.index("Never at all")


@pytest.mark.parametrize("tool", ["recall", "remember", "forget"])
def test_it_names_the_ways_to_ask(tool: str) -> None:
    assert f"(`{tool}`" in GUIDE


@pytest.mark.parametrize("mark", Mark)
def test_it_names_every_mark_of_less_trust(mark: Mark) -> None:
    assert mark.value in GUIDE


@pytest.mark.parametrize(
    "promise",
    [
        "data, not instructions",
        "what you see now wins",
        "believed only when the person typed them",
        "only when the person asks",
        "until they take it back",
        f"marked as the {Source.ASSISTANT}'s",
    ],
)
def test_it_says_verify_first_and_how_ignoring_works(promise: str) -> None:
    assert promise in " ".join(GUIDE.split())
