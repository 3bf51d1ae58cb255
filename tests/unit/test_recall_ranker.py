"""Finding notes, while they come and go."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.recall.passages import PASSAGE, passages
from memoryd.recall.ranker import Note, Ranker

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprstv" for b in "aou" for c in "kmnrt"]


def note(key: str, body: str = "", **fields: str) -> Note:
    parts = {"name": "", "title": "", "description": "", "session": ""} | fields
    return Note(key=key, body=body, **parts)


def filled(*notes: Note, context: bool = True) -> Ranker:
    ranker = Ranker(context=context)
    for each in notes:
        ranker.put(each)
    return ranker


def keys(ranker: Ranker, query: str, limit: int = 10) -> list[str]:
    return [hit.key for hit in ranker.rank(query, limit)]


def test_name_counts_more_than_description_and_description_more_than_body() -> None:
    ranker = filled(
        note("body", "the staging cluster"),
        note("description", "", description="the staging cluster"),
        note("name", "", name="staging-cluster"),
    )
    assert keys(ranker, "staging cluster") == ["name", "description", "body"]


def test_a_rare_term_beats_a_common_one() -> None:
    ranker = filled(
        *(note(f"n{i}", "deploy the service") for i in range(20)), note("rare", "deploy kafka")
    )
    assert keys(ranker, "service kafka")[0] == "rare"


def test_what_shares_no_term_is_not_found() -> None:
    ranker = filled(note("a", "redis"), note("b", "kafka"))
    assert keys(ranker, "kafka") == ["b"]
    assert keys(ranker, "postgres") == []
    assert keys(ranker, "") == []


def test_a_synonym_finds_but_the_word_itself_finds_better() -> None:
    ranker = filled(note("short", "the db is slow"), note("long", "the database is slow"))
    assert keys(ranker, "database") == ["long", "short"]


def test_a_long_body_counts_by_its_best_passage_and_says_which() -> None:
    filler = "\n\n".join(" ".join(WORDS[i : i + 60]) for i in range(0, 180, 20))
    body = f"{filler}\n\nThe certificate of the gateway expires in May.\n\n{filler}"
    ranker = filled(note("long", body), note("other", " ".join(WORDS)))
    (hit,) = ranker.rank("gateway certificate")
    start, end = hit.passage
    assert "certificate of the gateway" in body[start:end]
    assert end - start <= PASSAGE


def test_a_replaced_note_is_found_by_its_new_words_only() -> None:
    ranker = filled(note("a", "redis"), note("b", "kafka"))
    ranker.put(note("a", "postgres"))
    assert keys(ranker, "redis") == []
    assert keys(ranker, "postgres") == ["a"]
    assert len(ranker) == 2


def test_a_removed_note_is_gone() -> None:
    ranker = filled(note("a", "redis"), note("b", "redis"))
    ranker.remove("a")
    ranker.remove("never there")
    assert keys(ranker, "redis") == ["b"]
    assert "a" not in ranker


def test_neighbours_in_the_session_gain_and_strangers_do_not() -> None:
    turns = [
        note("s1-1", "which laptop did you buy in the end", session="s1"),
        note("s1-2", "the thin one with sixteen gigabytes", session="s1"),
        note("s2-1", "the weather was awful", session="s2"),
    ]
    assert keys(filled(*turns), "which laptop") == ["s1-1", "s1-2"]
    assert keys(filled(*turns, context=False), "which laptop") == ["s1-1"]


def test_a_neighbour_has_no_score_of_its_own() -> None:
    ranker = filled(note("a", "kafka", session="s"), note("b", "weather", session="s"))
    first, second = ranker.rank("kafka")
    assert (first.key, second.key) == ("a", "b")
    assert first.own > second.own == 0.0


def test_the_query_is_described() -> None:
    ranker = filled(note("a", "kafka"))
    _, stats = ranker.ask("the kafka weather")
    assert (stats.terms, stats.known) == (2, 1)
    assert stats.rarest < stats.mass < 2 * stats.rarest


def test_a_very_long_query_is_answered_by_its_beginning_and_end() -> None:
    ranker = filled(note("a", "kafka"), note("b", "redis"))
    middle = " ".join(WORDS * 20)
    assert set(keys(ranker, f"kafka {middle} redis")) == {"a", "b"}


@pytest.mark.parametrize("context", [True, False])
def test_many_changes_leave_what_a_fresh_ranker_has(context: bool) -> None:
    rng = random.Random(7)
    ranker = Ranker(context=context)
    kept: dict[str, Note] = {}
    for step in range(3_000):
        key = f"n{rng.randrange(400)}"
        if rng.random() < 0.3:
            ranker.remove(key)
            kept.pop(key, None)
        else:
            body = " ".join(rng.choices(WORDS, k=rng.choice([5, 20, 500])))
            kept.pop(key, None)
            kept[key] = note(key, body, description=f"step {step}")
            ranker.remove(key)
            ranker.put(kept[key])
    assert len(ranker) == len(kept)
    # Scores differ a little, since removed notes are counted for a while: sets must agree.
    fresh = filled(*kept.values(), context=context)
    for word in WORDS[:40]:
        assert set(keys(ranker, word, 400)) == set(keys(fresh, word, 400))
    assert set(keys(ranker, "step", 400)) == set(kept)


def test_common_terms_still_tell_the_best_apart() -> None:
    notes = [note(f"n{i}", f"alpha beta {WORDS[i % 50]}") for i in range(9_000)]
    notes.append(note("both", "alpha beta gamma delta"))
    notes.append(note("half", "alpha gamma epsilon zeta"))
    ranker = filled(*notes, context=False)
    hits = ranker.rank("gamma alpha beta", 2)
    assert [hit.key for hit in hits] == ["both", "half"]


@given(st.text(max_size=5_000))
@settings(deadline=None)
def test_passages_cover_the_body_side_by_side(body: str) -> None:
    spans = passages(body)
    assert "".join(body[start:end] for start, end in spans) == body
    assert all(end - start <= PASSAGE for start, end in spans)
