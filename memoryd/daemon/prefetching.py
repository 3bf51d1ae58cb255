"""Recall beside the turn: asked for early, fetched when it is ready.

The search runs beside the turn. What it found is handed over once, in the turn it was asked for,
and only then counts as given.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from memoryd.daemon.failures import failure_facts
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.pool import Pool
from memoryd.daemon.retrieval import Retrieval
from memoryd.recall.claims import Claim
from memoryd.recall.present import fitting, render_for_model, size_of

THREADS = 2
TICKETS = 64
"""Tickets that are open at once; beyond it the oldest expires."""
MOST_CHARACTERS = 10_000
"""Of an injected text; the client moves longer ones into a file and shows their beginning."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a ticket brings; empty when nothing clearly helps.

    Attributes:
        text: ready to inject, without the index; an empty string for nothing.
        claims: the memories in it, best first.
    """

    text: str = ""
    claims: tuple[Claim, ...] = ()


@dataclass(slots=True)
class _Ticket:
    name: str
    query: str
    roots: tuple[str, ...]
    session: str
    turn: str
    found: tuple[Claim, ...] | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Prefetch:
    """Searches beside the turn.

    Args:
        retrieval: from a query to claims.
        ledger: of what sessions have.
        rng: names of tickets that nobody can guess.
        on_event: told of searches that failed.
    """

    def __init__(
        self,
        *,
        retrieval: Retrieval,
        ledger: SessionLedger,
        rng: Random,
        on_event: Callable[..., None],
    ) -> None:
        self._retrieval = retrieval
        self._ledger = ledger
        self._rng = rng
        self._on_event = on_event
        self._pool = Pool(THREADS, "prefetch")
        self._lock = threading.Lock()
        self._tickets: OrderedDict[str, _Ticket] = OrderedDict()
        self._by_session: dict[str, str] = {}
        self._waiting: deque[_Ticket] = deque()
        self._warming: set[str] = set()

    def start(self, query: str, roots: Sequence[str], session: str, turn_id: str) -> str:
        """Begin a search and return its ticket at once.

        The earlier ticket of the session expires, unless it is of the same turn and query: then
        it is returned again.

        Args:
            query: the prompt.
            roots: of the projects whose memories are looked through.
            session: id of the session.
            turn_id: anything that tells the turns of a session apart.
        """
        ticket, new = self._open(query, tuple(roots), session, turn_id)
        if new:
            self._begin(ticket)
        return ticket.name

    def ask(
        self, query: str, roots: Sequence[str], session: str, turn_id: str, wait_s: float
    ) -> Delivery | None:
        """Begin a search as `start` does and hand over what it found, as `collect` does.

        What is quickly found is looked for at once: to wake a thread and to be woken by it costs
        a prompt more than the search.
        """
        ticket, new = self._open(query, tuple(roots), session, turn_id)
        if new and self._retrieval.is_quick(roots, session):
            self._search(ticket)
        elif new:
            self._begin(ticket)
        return self.collect(ticket.name, wait_s)

    def collect(self, ticket: str, wait_s: float = 0.0) -> Delivery | None:
        """Hand over what a ticket found, once; it counts as given from now on.

        Args:
            ticket: as `start` returned it.
            wait_s: seconds to wait for a search that is not done.

        Returns:
            ``None`` when it is not ready, or is gone.
        """
        with self._lock:
            open_ticket = self._tickets.get(ticket)
        if open_ticket is None or not open_ticket.done.wait(wait_s):
            return None
        with self._lock:
            if self._tickets.get(ticket) is not open_ticket or open_ticket.found is None:
                return None
            self._expire(open_ticket)
        return self._deliver(open_ticket.session, open_ticket.found)

    def is_open(self, ticket: str) -> bool:
        """Tell whether a ticket can still be collected, now or when its search is done."""
        with self._lock:
            return ticket in self._tickets

    def current(self, session: str) -> str | None:
        """Return the ticket of the session's turn that was not collected yet."""
        with self._lock:
            return self._by_session.get(session)

    def end(self, session: str) -> None:
        """Let the ticket of a session expire: its turn or the session itself is over."""
        with self._lock:
            old = self._tickets.get(self._by_session.get(session, ""))
            if old is not None:
                self._expire(old)

    def warm(self, roots: Sequence[str], session: str) -> None:
        """Begin to make the memories of projects and the ledger of a session ready for recall."""

        def work() -> None:
            try:
                self._retrieval.warm(roots, session)
            except Exception as error:  # noqa: BLE001 - the edge: the recall that follows tells it
                self._on_event("warming_failed", **failure_facts(error))
            finally:
                with self._lock:
                    self._warming.discard(session)

        with self._lock:
            if session in self._warming or len(self._warming) >= TICKETS:
                return
            self._warming.add(session)
        self._pool.submit(work)

    def close(self) -> None:
        """Begin no more searches."""
        with self._lock:
            for ticket in list(self._tickets.values()):
                self._expire(ticket)
        self._pool.close()

    def _open(
        self, query: str, roots: tuple[str, ...], session: str, turn_id: str
    ) -> tuple[_Ticket, bool]:
        """Return the ticket of a search, and whether it is new."""
        with self._lock:
            old = self._tickets.get(self._by_session.get(session, ""))
            if old is not None:
                if (old.turn, old.query, old.roots) == (turn_id, query, roots):
                    return old, False
                self._expire(old)
            while len(self._tickets) >= TICKETS:
                self._expire(next(iter(self._tickets.values())))
            name = f"{self._rng.getrandbits(128):032x}"
            ticket = _Ticket(name, query, roots, session, turn_id)
            self._tickets[name] = ticket
            self._by_session[session] = name
        return ticket, True

    def _begin(self, ticket: _Ticket) -> None:
        with self._lock:
            self._waiting.append(ticket)
        self._pool.submit(self._work)

    def _work(self) -> None:
        """Search for the ticket that has waited longest."""
        with self._lock:
            if not self._waiting:
                return
            ticket = self._waiting.popleft()
        self._search(ticket)

    def _search(self, ticket: _Ticket) -> None:
        found: tuple[Claim, ...] = ()
        try:
            found = self._retrieval.find(
                ticket.query, ticket.roots, session=ticket.session, indexed=False
            ).claims
        except Exception as error:  # noqa: BLE001 - the edge: a turn goes on without memories
            self._on_event("prefetch_failed", **failure_facts(error))
        with self._lock:
            ticket.found = found
        ticket.done.set()

    def _deliver(self, session: str, found: Sequence[Claim]) -> Delivery:
        # Meanwhile a look-up, or the model itself, may have met some of them.
        held = self._ledger.given(session)
        claims = fitting([claim for claim in found if claim.path not in held], MOST_CHARACTERS)
        granted = self._ledger.give(session, {claim.path: size_of(claim) for claim in claims})
        claims = [claim for claim in claims if claim.path in granted]
        return Delivery(render_for_model("", "", claims), tuple(claims))

    def _expire(self, ticket: _Ticket) -> None:
        """Forget a ticket; the lock is held."""
        self._tickets.pop(ticket.name, None)
        if self._by_session.get(ticket.session) == ticket.name:
            del self._by_session[ticket.session]
        if ticket in self._waiting:
            self._waiting.remove(ticket)
        ticket.done.set()
