"""Giving only what is clearly useful, measured on labelled prompts of our own making."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from memoryd.recall.gate import MOST, decide, signal
from memoryd.recall.query import QueryStats
from memoryd.recall.ranker import Note, Ranked, Ranker


@dataclass(frozen=True)
class Samples:
    ranker: Ranker
    answerable: list[tuple[str, set[str]]]
    unanswerable: list[str]


@pytest.fixture(scope="module")
def samples() -> Samples:
    file = Path(__file__).with_name("recall_samples.json")
    data = json.loads(file.read_text(encoding="utf-8"))
    ranker = Ranker()
    for each in data["notes"]:
        ranker.put(Note(each["name"], each["name"], "", each["description"], each["body"]))
    answerable = [(each["prompt"], set(each["names"])) for each in data["answerable"]]
    return Samples(ranker, answerable, data["unanswerable"])


def best_signal(ranker: Ranker, prompt: str) -> float:
    ranked, stats = ranker.ask(prompt)
    return max((signal(hit, stats) for hit in ranked), default=0.0)


def given_for(ranker: Ranker, prompt: str) -> set[str]:
    return {hit.key for hit in decide(*ranker.ask(prompt))}


def test_the_right_memory_is_ranked_first(samples: Samples) -> None:
    first = [
        (samples.ranker.rank(prompt, 1)[0].key in names) for prompt, names in samples.answerable
    ]
    assert sum(first) >= 38


def test_the_signal_parts_answerable_from_unanswerable(samples: Samples) -> None:
    yes = [best_signal(samples.ranker, prompt) for prompt, _ in samples.answerable]
    no = [best_signal(samples.ranker, prompt) for prompt in samples.unanswerable]
    wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    assert wins / (len(yes) * len(no)) >= 0.93


def test_what_is_given_is_nearly_always_useful(samples: Samples) -> None:
    right = wrong = 0
    for prompt, names in samples.answerable:
        given = given_for(samples.ranker, prompt)
        right += len(given & names)
        wrong += len(given - names)
    needless = [p for p in samples.unanswerable if given_for(samples.ranker, p)]
    assert right >= 32
    assert wrong <= 2
    assert len(needless) <= 2


def test_at_most_five_are_given() -> None:
    stats = QueryStats(terms=1, known=1, mass=4.0, rarest=4.0)
    many = [Ranked(f"n{i}", 3.0, (0, 1), 3.0) for i in range(20)]
    assert [hit.key for hit in decide(many, stats)] == [f"n{i}" for i in range(MOST)]


def test_a_weak_one_beside_a_strong_one_is_noise() -> None:
    stats = QueryStats(terms=1, known=1, mass=4.0, rarest=4.0)
    strong = Ranked("strong", 9.0, (0, 1), 9.0)
    weak = Ranked("weak", 3.0, (0, 1), 3.0)
    assert decide([strong, weak], stats) == [strong]
    assert decide([weak], stats) == [weak]


def test_a_query_that_says_nothing_gets_nothing(samples: Samples) -> None:
    assert given_for(samples.ranker, "how do you do that?") == set()


def test_one_memory_alone_can_be_given() -> None:
    ranker = Ranker()
    ranker.put(Note("pnpm", "use-pnpm", "", "Use pnpm, never npm", "npm breaks the lockfile"))
    assert given_for(ranker, "why does npm break the lockfile?") == {"pnpm"}
    assert given_for(ranker, "draw a class diagram of the parser") == set()
