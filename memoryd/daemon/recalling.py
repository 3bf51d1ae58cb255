"""``recall``, ``recall.start`` and ``recall.collect``: what is known that helps with a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.places import Places
from memoryd.daemon.prefetching import Prefetch
from memoryd.daemon.retrieval import Retrieval
from memoryd.recall.claims import Claim
from memoryd.recall.present import render_for_model, size_of
from memoryd.redaction import clean

MAX_LIMIT = 1000
_MAX_TURN = 256  # characters of a turn's id
_MAX_TICKET = 64


class Recalling:
    """Answers recall.

    Args:
        retrieval: from a query to claims.
        prefetch: the same beside the turn.
        ledger: what sessions have.
        places: the projects.
        clock: the time.
    """

    def __init__(
        self,
        *,
        retrieval: Retrieval,
        prefetch: Prefetch,
        ledger: SessionLedger,
        places: Places,
        clock: Clock,
    ) -> None:
        self._retrieval = retrieval
        self._prefetch = prefetch
        self._ledger = ledger
        self._places = places
        self._clock = clock

    def __call__(self, call: Call) -> dict[str, Any]:
        """Handle the method ``recall``."""
        began = self._clock.monotonic()
        query = call.params.text("query")
        limit = call.params.integer("limit", None, least=0, most=MAX_LIMIT)
        session = call.params.session("session", None)
        indexed = call.params.flag("index", default=True)
        repeat = call.params.flag("repeat")
        call.params.choice("selector", ("offline",))
        roots = self._places.roots(call.params)
        found = self._retrieval.find(query, roots, session=session, limit=limit, repeat=repeat)
        claims = found.claims
        if session is not None and not call.cancelled.is_set():
            # Nobody waits for an answer that comes too late: then nothing was given.
            if repeat:
                self._ledger.note_given(session, {claim.path: size_of(claim) for claim in claims})
            else:
                claims = self._given(session, claims, limited=limit is not None)
        text, path = found.indexes[0] if indexed and len(found.indexes) == 1 else ("", "")
        answer = {
            "query": clean(query),
            "project": roots[0] if len(roots) == 1 else None,
            "selector": "offline",
            "memories": [claim.to_json() for claim in claims],
            "text": render_for_model(text, path, claims),
            "elapsed_ms": round((self._clock.monotonic() - began) * 1000, 3),
        }
        if session is not None:
            answer["ignored"] = found.ignored
        return answer

    def start(self, call: Call) -> dict[str, Any]:
        """Handle the method ``recall.start``."""
        query = call.params.text("query")
        session = call.params.session("session")
        turn = call.params.text("turn_id", limit=_MAX_TURN)
        roots = self._places.roots(call.params)
        self._ledger.hear(session, query)
        return {"ticket": self._prefetch.start(query, roots, session, turn)}

    def collect(self, call: Call) -> dict[str, Any]:
        """Handle the method ``recall.collect``."""
        ticket = call.params.text("ticket", limit=_MAX_TICKET)
        delivery = self._prefetch.collect(ticket)
        if delivery is None:
            state = "pending" if self._prefetch.is_open(ticket) else "gone"
            return {"state": state, "memories": [], "text": ""}
        return {
            "state": "ready",
            "memories": [claim.to_json() for claim in delivery.claims],
            "text": delivery.text,
        }

    def _given(self, session: str, claims: Sequence[Claim], *, limited: bool) -> tuple[Claim, ...]:
        sizes = {claim.path: size_of(claim) for claim in claims}
        granted = self._ledger.give(session, sizes, capped=not limited)
        return tuple(claim for claim in claims if claim.path in granted)
