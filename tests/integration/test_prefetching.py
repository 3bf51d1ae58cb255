"""A search beside the turn: begun at once, handed over once, worth nothing after its turn."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from memoryd.daemon.prefetching import TICKETS, Delivery
from memoryd.db.engine import Database

from support.recall import ROOT, Desk, desk

QUERY = "how do we deploy the shop to production?"
LONG_S = 60.0
"""Longer than a search takes on any machine; nothing that works waits so long."""


@pytest.fixture
def here(tmp_path: Path, sqlite_database: Database) -> Iterator[Desk]:
    with desk(tmp_path / "home" / ".claude", sqlite_database) as made:
        made.keep("deploy", "deploy the shop to production with make ship")
        made.keep("staging", "the staging database of the shop listens on port 5433")
        yield made


@contextmanager
def slow(here: Desk) -> Iterator[None]:
    """Let searches of the project wait, as they do while its shelf is built."""
    with here.shelves.of(ROOT).lock:
        yield


def begin(here: Desk, session: str = "one", turn: str = "t-1", query: str = QUERY) -> str:
    return here.prefetch.start(query, [ROOT], session, turn)


def names(delivery: Delivery | None) -> list[str]:
    assert delivery is not None
    return [claim.name for claim in delivery.claims]


def test_it_is_handed_over_once_and_then_counts_as_given(here: Desk) -> None:
    ticket = begin(here)
    assert here.prefetch.current("one") == ticket
    assert here.ledger.given("one") == frozenset(), "found is not given"
    delivery = here.prefetch.collect(ticket, LONG_S)
    assert names(delivery) == ["deploy"]
    assert delivery is not None
    assert "make ship" in delivery.text
    assert "<memory-index" not in delivery.text
    assert here.prefetch.collect(ticket, LONG_S) is None
    assert here.prefetch.current("one") is None
    assert not here.prefetch.is_open(ticket)
    assert here.ledger.given("one") == {f"{here.memory}/deploy.md"}
    assert names(here.prefetch.collect(begin(here, turn="t-2"), LONG_S)) == []


def test_a_slow_search_delays_neither_start_nor_collect(here: Desk) -> None:
    with slow(here):
        ticket = begin(here)
        assert here.prefetch.collect(ticket) is None
        assert here.prefetch.is_open(ticket)
    assert names(here.prefetch.collect(ticket, LONG_S)) == ["deploy"]


def test_a_ticket_expires_with_its_turn(here: Desk) -> None:
    with slow(here):
        old = begin(here)
        new = begin(here, turn="t-2", query="which port has the staging database of the shop?")
        assert here.prefetch.collect(old) is None
    assert names(here.prefetch.collect(new, LONG_S)) == ["staging"]
    assert here.prefetch.collect(old, LONG_S) is None
    assert here.ledger.given("one") == {f"{here.memory}/staging.md"}, "what expired was not given"


def test_a_ticket_expires_with_its_session(here: Desk) -> None:
    ticket = begin(here)
    here.prefetch.end("one")
    assert here.prefetch.collect(ticket, LONG_S) is None
    assert here.ledger.given("one") == frozenset()
    here.prefetch.end("never seen")


def test_the_same_turn_asked_twice_is_one_search(here: Desk) -> None:
    assert begin(here) == begin(here)
    assert begin(here) != begin(here, query="which port has the staging database?")


def test_two_sessions_have_tickets_of_their_own(here: Desk) -> None:
    first, second = begin(here, "one"), begin(here, "two")
    assert first != second
    assert names(here.prefetch.collect(second, LONG_S)) == ["deploy"]
    assert names(here.prefetch.collect(first, LONG_S)) == ["deploy"]


def test_many_who_collect_one_ticket_get_it_once(here: Desk) -> None:
    ticket = begin(here)
    start = threading.Barrier(8)

    def collect(_: int) -> Delivery | None:
        start.wait(LONG_S)
        return here.prefetch.collect(ticket, LONG_S)

    with ThreadPoolExecutor(8) as pool:
        got = [delivery for delivery in pool.map(collect, range(8)) if delivery is not None]
    assert len(got) == 1


def test_sessions_at_once_get_each_what_they_asked_for(here: Desk) -> None:
    def turn(n: int) -> list[str]:
        return names(here.prefetch.collect(begin(here, f"s-{n}"), LONG_S))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(turn, range(48))) == [["deploy"]] * 48


def test_what_was_met_since_the_start_is_not_delivered(here: Desk) -> None:
    ticket = begin(here)
    other = here.prefetch.collect(begin(here, "warm"), LONG_S)
    assert names(other) == ["deploy"]
    here.ledger.note_touched("one", f"{here.memory}/deploy.md", "read")
    assert here.prefetch.collect(ticket, LONG_S) == Delivery()


def test_memory_to_be_ignored_is_not_delivered_even_if_it_was_found(here: Desk) -> None:
    ticket = begin(here)
    here.ledger.hear("one", "ignore memory")
    assert here.prefetch.collect(ticket, LONG_S) == Delivery()
    assert here.ledger.given("one") == frozenset()


def test_tickets_are_bounded_and_the_oldest_goes_first(here: Desk) -> None:
    with slow(here):
        tickets = [begin(here, f"s-{n}") for n in range(TICKETS + 10)]
        assert [here.prefetch.is_open(ticket) for ticket in tickets[:11]] == [False] * 10 + [True]
        running = [t.name for t in threading.enumerate() if t.name.startswith("prefetch")]
    assert len(running) <= 2
    assert names(here.prefetch.collect(tickets[-1], LONG_S)) == ["deploy"]


def test_nobody_can_guess_a_ticket(here: Desk) -> None:
    tickets = {begin(here, f"s-{n}") for n in range(50)}
    assert len(tickets) == 50
    assert {len(ticket) for ticket in tickets} == {32}
    assert here.prefetch.collect("0" * 32) is None
    assert here.prefetch.collect("") is None


def test_a_search_that_fails_is_told_and_ends_empty(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(here.shelves, "refresh", broken)
    assert here.prefetch.collect(begin(here), LONG_S) == Delivery()
    assert [name for name, _ in here.events] == ["prefetch_failed"]


def test_nothing_longer_than_the_client_takes_is_delivered(here: Desk) -> None:
    for n in range(5):
        here.keep(f"deploy-{n}", f"deploy the shop to production, way {n}", "make ship\n" * 380)
    delivery = here.prefetch.collect(begin(here), LONG_S)
    assert delivery is not None
    assert 2 <= len(delivery.claims) < 5
    assert len(delivery.text) <= 10_000
    assert delivery.text.endswith("</memoryd-recall>")
    assert len(here.ledger.given("one")) == len(delivery.claims)


def test_warming_reads_the_transcript_and_the_memories(here: Desk) -> None:
    with slow(here):
        here.prefetch.warm([ROOT], "one")
        here.prefetch.warm([ROOT], "one")
    assert names(here.prefetch.collect(begin(here), LONG_S)) == ["deploy"]


def test_after_the_end_nothing_is_begun(here: Desk) -> None:
    ticket = begin(here)
    here.prefetch.close()
    assert here.prefetch.collect(ticket, LONG_S) is None
