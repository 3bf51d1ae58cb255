"""Memories as they would be after the statements so far; in the end the operations that lead there.

Several statements of one batch may concern one memory: the operations name each memory once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, assert_never

from memoryd.extraction import subjects, topics
from memoryd.extraction.fingerprint import containment, fingerprint, words
from memoryd.extraction.matching import Known, Relation, Statement, find, recall
from memoryd.extraction.operations import (
    Create,
    Delete,
    Evidence,
    ExistingMemory,
    MemoryType,
    Operation,
    Source,
    Tombstone,
    Update,
)

_SENTENCE: Final = 300


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A request to forget that may mean several memories: none was removed.

    Attributes:
        query: as said.
        names: the memories it may mean.
        evidence: where it was said.
    """

    query: str
    names: tuple[str, ...]
    evidence: Evidence


@dataclass(slots=True, kw_only=True)
class _Topic:
    """One memory on the bench."""

    name: str
    type: MemoryType | None
    description: str
    body: str
    modified: float
    existing: ExistingMemory | None = None
    evidence: list[Evidence] = field(default_factory=list)
    asked: bool = False
    reason: str = ""
    confirmed: bool = False
    gone: bool = False
    _known: Known | None = field(default=None, init=False)

    def known(self) -> Known:
        """Return the memory as it is now, to compare with; made anew only when it changed."""
        kept = self._known
        if kept is None or (kept.body, kept.description) != (self.body, self.description):
            kept = self._known = Known(
                name=self.name,
                type=self.type,
                description=self.description,
                body=self.body,
                modified=self.modified,
            )
        return kept


class Workbench:
    """Takes statements in the order they were made.

    Args:
        memories: what is kept now.
        tombstones: what must not come back.
    """

    def __init__(
        self, memories: tuple[ExistingMemory, ...], tombstones: tuple[Tombstone, ...]
    ) -> None:
        self._topics = {
            memory.name: _Topic(
                name=memory.name,
                type=memory.type,
                description=memory.description,
                body=memory.body,
                modified=memory.modified,
                existing=memory,
            )
            for memory in memories
        }
        self._tombstones = tombstones
        self.ambiguous: list[Ambiguous] = []

    def state(self, statement: Statement, evidence: Evidence, *, reason: str, asked: bool) -> None:
        """Keep a statement: in its memory if there is one, else in one of its own."""
        if buried(statement.fact, evidence, self._tombstones):
            return
        found = find(statement, [topic.known() for topic in self._present()], at=evidence.at)
        if statement.amends and (found is None or found.relation is Relation.ADDS):
            return
        if found is None:
            self._create(statement, evidence, reason=reason, asked=asked)
            return
        topic = self._topics[found.name]
        match found.relation:
            case Relation.SAME:
                if not _confirms(topic, statement, evidence):
                    return
                topic.body = topics.compose(
                    topic.type or statement.type,
                    statement.fact,
                    reason=reason,
                    day=statement.day,
                    subject=statement.subject,
                )
                topic.description = topics.describe(statement.fact)
                topic.reason = "the person said it too"
                topic.confirmed = True
            case Relation.REPLACES:
                topic.body = topics.supersede(
                    topic.body, found.olds, statement.fact, reason=reason, day=statement.day
                )
                first = topics.statements(topic.body)[:1] == [statement.fact]
                if first or topic.description in found.olds:
                    topic.description = topics.describe(statement.fact)
                topic.reason = "replaces what was said before"
            case Relation.ADDS:
                topic.body = topics.add(
                    topic.body, statement.fact, reason=reason, day=statement.day
                )
                topic.reason = "adds to the same subject"
            case _:
                assert_never(found.relation)
        topic.evidence.append(evidence)
        topic.asked |= asked
        topic.modified = evidence.at

    def forget(self, query: str, evidence: Evidence) -> None:
        """Remove the one memory that is meant; of several, or of none, nothing."""
        names = recall(query, [topic.known() for topic in self._present()])
        if len(names) > 1:
            self.ambiguous.append(Ambiguous(query, tuple(names), evidence))
        if len(names) != 1:
            return
        topic = self._topics[names[0]]
        if topic.existing is None:
            del self._topics[topic.name]
            return
        topic.gone = True
        topic.evidence = [evidence]
        topic.asked = True
        topic.reason = f"asked to forget: {' '.join(query.split())[:200]}"

    def operations(self) -> list[Operation]:
        """Return what leads from the memories as they were to the memories as they are here."""
        found: list[Operation] = []
        for topic in self._topics.values():
            if topic.gone:
                found.append(
                    Delete(
                        name=topic.name,
                        evidence=tuple(topic.evidence),
                        explicit=True,
                        reason=topic.reason,
                    )
                )
            elif topic.existing is None:
                found.append(_created(topic))
            elif topic.evidence and topic.body != topic.existing.body:
                found.append(
                    Update(
                        name=topic.name,
                        title=topic.existing.title or subjects.title(topic.name, topic.description),
                        description=topic.description or topics.describe(topic.body),
                        body=topic.body,
                        evidence=tuple(topic.evidence),
                        explicit=topic.asked,
                        reason=topic.reason,
                        confirmed=topic.confirmed,
                    )
                )
        return found

    def _present(self) -> list[_Topic]:
        return [topic for topic in self._topics.values() if not topic.gone]

    def _create(
        self, statement: Statement, evidence: Evidence, *, reason: str, asked: bool
    ) -> None:
        name = self._free(statement.name)
        self._topics[name] = _Topic(
            name=name,
            type=statement.type,
            description=topics.describe(statement.fact),
            body=topics.compose(
                statement.type,
                statement.fact,
                reason=reason,
                day=statement.day,
                subject=statement.subject,
            ),
            modified=evidence.at,
            evidence=[evidence],
            asked=asked,
        )

    def _free(self, name: str) -> str:
        """Return a name that no memory has, one removed in this batch included."""
        number = 2
        free = name
        while free in self._topics:
            free = f"{name[:60]}-{number}"
            number += 1
        return free


def _confirms(topic: _Topic, statement: Statement, evidence: Evidence) -> bool:
    """Say whether a person now typed all that a memory of the assistant's says."""
    return (
        evidence.source is Source.HUMAN
        and topic.existing is not None
        and topic.existing.source is Source.ASSISTANT
        and not topic.confirmed
        and len(topics.statements(topic.body)) == 1
        and words(statement.fact) >= words(topics.statements(topic.body)[0])
    )


def _created(topic: _Topic) -> Create:
    assert topic.type is not None  # noqa: S101 - set where the topic was made
    return Create(
        name=topic.name,
        type=topic.type,
        title=subjects.title(topic.name, topic.description),
        description=topic.description,
        body=topic.body,
        evidence=tuple(topic.evidence),
        explicit=topic.asked,
    )


def buried(fact: str, evidence: Evidence, tombstones: tuple[Tombstone, ...]) -> bool:
    """Say whether a fact was forgotten on request: from this record, or said before that."""
    print_ = fingerprint(fact)
    return any(
        (tombstone.evidence is not None and tombstone.evidence == evidence.uuid)
        or (tombstone.fingerprint == print_ != "" and evidence.at <= tombstone.at)
        for tombstone in tombstones
    )


def written_already(fact: str, bodies: tuple[str, ...]) -> bool:
    """Say whether the main model kept a fact itself: half of its words are in one file it wrote."""
    mine = words(fact)
    return any(containment(mine, words(body)) >= 0.5 for body in bodies)  # noqa: PLR2004 - half


def quoted(sentence: str) -> str:
    """Return a sentence as evidence keeps it."""
    return re.sub(r"\s+", " ", sentence).strip()[:_SENTENCE]
