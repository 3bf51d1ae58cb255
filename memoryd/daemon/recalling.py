"""``recall``: what is known that helps with a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.places import Places
from memoryd.daemon.shelf import Shelf, Shelves
from memoryd.memory import index as memory_index
from memoryd.memory.journal import EXTERNAL, Entry
from memoryd.memory.topic import Topic
from memoryd.protocol import instant
from memoryd.recall.claims import Claim, Mark, Provenance, age_days, excerpt
from memoryd.recall.present import render_for_model
from memoryd.recall.selection import Selected, select
from memoryd.redaction import clean
from memoryd.stores.journal import SqlJournal

MAX_LIMIT = 1000


class Recalling:
    """Answers recall.

    Args:
        shelves: the memories.
        journal: where they come from.
        places: the projects.
        clock: the time.
        max_memories: by project root, how many are given when the request sets no limit.
    """

    def __init__(
        self,
        *,
        shelves: Shelves,
        journal: SqlJournal,
        places: Places,
        clock: Clock,
        max_memories: Callable[[str], int],
    ) -> None:
        self._shelves = shelves
        self._journal = journal
        self._places = places
        self._clock = clock
        self._max_memories = max_memories

    def __call__(self, call: Call) -> dict[str, Any]:
        """Handle the method ``recall``."""
        began = self._clock.monotonic()
        query = call.params.text("query")
        limit = call.params.integer("limit", None, least=0, most=MAX_LIMIT)
        call.params.choice("selector", ("offline",))
        roots = self._places.roots(call.params)
        claims: list[Claim] = []
        indexes: list[tuple[str, str]] = []
        for root in roots:
            shelf = self._shelves.of(root)
            with shelf.lock:
                self._shelves.refresh(shelf)
                claims += self._claims(query, shelf, limit)
                indexes.append(_index(shelf))
        claims.sort(key=lambda claim: (-claim.score, claim.path))
        most = max(map(self._max_memories, roots), default=0) if limit is None else limit
        claims = claims[:most]
        text, path = indexes[0] if len(indexes) == 1 else ("", "")
        return {
            "query": clean(query),
            "project": roots[0] if len(roots) == 1 else None,
            "selector": "offline",
            "memories": [claim.to_json() for claim in claims],
            "text": render_for_model(text, path, claims),
            "elapsed_ms": round((self._clock.monotonic() - began) * 1000, 3),
        }

    def _claims(self, query: str, shelf: Shelf, limit: int | None) -> list[Claim]:
        found = select(query, shelf.manifest, shelf.ranker, limit=limit)
        last = self._journal.latest(str(shelf.store.directory), [hit.key for hit in found])
        return [self._claim(shelf, shelf.topics[hit.key], hit, last.get(hit.key)) for hit in found]

    def _claim(self, shelf: Shelf, topic: Topic, hit: Selected, last: Entry | None) -> Claim:
        directory = shelf.store.directory
        return Claim(
            name=topic.name,
            type=None if topic.type is None else topic.type.value,
            description=clean(topic.description),
            path=str(directory / topic.file),
            age_days=age_days(self._clock.now(), topic.modified),
            score=hit.score,
            text=excerpt(clean(topic.body)),
            marks=marks(topic, None if last is None else last.actor),
            provenance=_provenance(topic, last),
        )


def marks(topic: Topic, actor: str | None) -> tuple[Mark, ...]:
    """Return why a memory deserves less trust.

    Args:
        topic: it may say so itself.
        actor: who changed it last, ``None`` when the journal does not know it.
    """
    found = {mark for mark in Mark if mark.value in topic.marks}
    if actor is None or actor == EXTERNAL:
        found.add(Mark.EXTERNAL)
    return tuple(sorted(found))


def _provenance(topic: Topic, last: Entry | None) -> Provenance:
    if last is None or not last.evidence:
        return Provenance(session=topic.session)
    spoken = last.evidence[-1]
    return Provenance(
        session=spoken.session,
        evidence=tuple(item.uuid for item in last.evidence),
        sentence=spoken.sentence,
        date=(instant(spoken.at) or "")[:10],
    )


def _index(shelf: Shelf) -> tuple[str, str]:
    if shelf.snapshot is None or shelf.snapshot.index is None:
        return "", ""
    text = clean(shelf.snapshot.index.decode(errors="replace"))
    return text, str(shelf.store.directory / memory_index.FILE)
