"""What a person asks for by command: remember this text, forget that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from memoryd.extraction import dates
from memoryd.extraction.matching import Known, recall
from memoryd.extraction.offline.provider import stated
from memoryd.extraction.offline.reading import statement
from memoryd.extraction.operations import (
    Evidence,
    ExistingMemory,
    MemoryType,
    Operation,
    Source,
)
from memoryd.extraction.workbench import Workbench, quoted


@dataclass(frozen=True, slots=True)
class Match:
    """The one memory that is meant."""

    name: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several memories may be meant; none is to be removed."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No memory is meant."""


def from_statement(
    text: str,
    *,
    type: MemoryType | None = None,  # noqa: A002 - the option's name, as people type it
    memories: Iterable[ExistingMemory],
    at: float,
    session: str = "cli",
    uuid: str,
    zone: tzinfo = UTC,
) -> list[Operation]:
    """Return what keeping a statement takes: a new memory, a change to one, or nothing.

    Args:
        text: the statement; redacted, since it goes into a memory.
        type: which kind of memory; without it the words decide.
        memories: what is kept for the project now.
        at: when it was said, seconds since 1970 UTC.
        session: where it was said.
        uuid: of the record that stands for this command, for later tombstones.
        zone: where the person's day ends.
    """
    claim = statement(text)
    if claim is None:
        return []
    if type is not None:
        claim = replace(claim, type=type)
    evidence = Evidence(
        session=session, uuid=uuid, at=at, source=Source.HUMAN, sentence=quoted(text)
    )
    bench = Workbench(tuple(memories), ())
    bench.state(
        stated(claim, at=at, zone=zone),
        evidence,
        reason=dates.absolute(claim.reason, at, zone=zone),
        asked=True,
    )
    return bench.operations()


def forget(query: str, memories: Iterable[ExistingMemory]) -> Match | Ambiguous | Nothing:
    """Return which memory a request to forget means: a name, or words of what it says."""
    known = [
        Known(
            name=memory.name,
            type=memory.type,
            description=memory.description,
            body=memory.body,
            modified=memory.modified,
        )
        for memory in memories
    ]
    names = recall(query, known)
    if not names:
        return Nothing()
    return Match(names[0]) if len(names) == 1 else Ambiguous(tuple(names))
