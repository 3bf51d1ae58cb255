"""From a query to claims: the one way of everything that gives memories back."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from memoryd.clock import Clock
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.shelf import Shelf, Shelves
from memoryd.memory import index as memory_index
from memoryd.memory.journal import EXTERNAL, Entry
from memoryd.memory.topic import Topic
from memoryd.protocol import instant
from memoryd.recall.claims import Claim, Mark, Provenance, age_days, excerpt
from memoryd.recall.selection import Selected, select
from memoryd.redaction import clean
from memoryd.stores.journal import SqlJournal


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        claims: best first.
        indexes: text and path of ``MEMORY.md`` of each project; empty strings where there is none.
        ignored: the session ignores memory: nothing was looked for.
    """

    claims: tuple[Claim, ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()
    ignored: bool = False


class Retrieval:
    """Finds the memories that help with a query.

    Args:
        shelves: the memories.
        journal: where they come from.
        ledger: what sessions have.
        may_read: whether transcripts of a project, by its root, may be read now.
        max_memories: by project root, how many are given when the request sets no limit.
        clock: the time.
    """

    def __init__(
        self,
        *,
        shelves: Shelves,
        journal: SqlJournal,
        ledger: SessionLedger,
        may_read: Callable[[str], bool],
        max_memories: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._shelves = shelves
        self._journal = journal
        self._ledger = ledger
        self._may_read = may_read
        self._max_memories = max_memories
        self._clock = clock

    def find(
        self,
        query: str,
        roots: Sequence[str],
        *,
        session: str | None = None,
        limit: int | None = None,
        repeat: bool = False,
        indexed: bool = True,
    ) -> Found:
        """Return what helps; nothing is noted as given.

        Args:
            query: a prompt, or what somebody looks for.
            roots: of the projects to look through.
            session: leaves out what the session has in front of it, and keeps to its limits and
                to what its person said about memory.
            limit: so many at most, without caps and gate; ``None`` for a few clearly useful ones.
            repeat: what the session has counts too.
            indexed: with the indexes.

        Raises:
            MemorydError: a memory directory cannot be read.
        """
        held: frozenset[str] = frozenset()
        spent = 0
        if session is not None:
            self._follow(session, roots)
            if self._ledger.ignoring(session):
                return Found(ignored=True)
            if not repeat:
                held, spent = self._ledger.given(session), self._ledger.given_bytes(session)
        claims: list[Claim] = []
        indexes: list[tuple[str, str]] = []
        for root in roots:
            shelf = self._shelves.of(root)
            with shelf.lock:
                self._shelves.refresh(shelf)
                hits = select(
                    query,
                    shelf.manifest,
                    shelf.ranker,
                    already_given=_names(shelf, held),
                    limit=limit,
                    given_bytes=spent,
                )
                claims += self._claims(shelf, hits)
                if indexed:
                    indexes.append(_index(shelf))
        claims.sort(key=lambda claim: (-claim.score, claim.path))
        most = max(map(self._max_memories, roots), default=0) if limit is None else limit
        return Found(tuple(claims[:most]), tuple(indexes))

    def is_quick(self, roots: Sequence[str], session: str) -> bool:
        """Tell whether `find` would take a few milliseconds: nothing has to be read first."""
        return self._ledger.is_near(session) and all(map(self._shelves.is_current, roots))

    def warm(self, roots: Sequence[str], session: str) -> None:
        """Make everything ready that the first question of a session would have to wait for.

        Raises:
            MemorydError: a memory directory cannot be read.
        """
        self._follow(session, roots)
        for root in roots:
            shelf = self._shelves.of(root)
            with shelf.lock:
                self._shelves.refresh(shelf)

    def _follow(self, session: str, roots: Sequence[str]) -> None:
        if all(map(self._may_read, roots)):
            self._ledger.follow(session, roots)

    def _claims(self, shelf: Shelf, hits: Sequence[Selected]) -> list[Claim]:
        last = self._journal.latest(str(shelf.store.directory), [hit.key for hit in hits])
        return [self._claim(shelf, shelf.topics[hit.key], hit, last.get(hit.key)) for hit in hits]

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


def _names(shelf: Shelf, paths: Collection[str]) -> frozenset[str]:
    """Return the memories of a shelf that are among some files, whatever the paths lead through."""
    folder = str(shelf.store.directory)
    same: dict[str, bool] = {folder: True}
    found = set()
    for path in paths:
        parent, _, file = path.rpartition("/")
        name = file.removesuffix(".md")
        if name not in shelf.topics:
            continue
        if parent not in same:
            same[parent] = os.path.realpath(parent) == os.path.realpath(folder)
        if same[parent]:
            found.add(name)
    return frozenset(found)


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
