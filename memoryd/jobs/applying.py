"""Operations as changes of memory files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import assert_never

from memoryd.extraction.checks import standing
from memoryd.extraction.fingerprint import fingerprint
from memoryd.extraction.operations import (
    Create,
    Delete,
    ExistingMemory,
    Operation,
    Source,
    Tombstone,
    Update,
)
from memoryd.memory.changes import Change, Remove, Write
from memoryd.memory.journal import Action
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.store import MemoryStore
from memoryd.memory.topic import Fields, Topic
from memoryd.stores.journal import SqlJournal

_WEAKEST_FIRST = (Source.ASSISTANT, Source.HEADLESS)


def graves(journal: SqlJournal, store: MemoryStore, topic: Topic, *, at: float) -> list[Tombstone]:
    """Return the tombstones of a memory: one for its words, one for each of its evidence.

    Args:
        journal: holds the evidence.
        store: the memory directory.
        topic: what is forgotten.
        at: seconds since 1970 UTC.
    """
    words = fingerprint(f"{topic.description}\n{topic.body}")
    uuids = {
        item.uuid
        for entry in journal.history(str(store.directory), topic.name)
        for item in entry.evidence
    }
    return [
        Tombstone(evidence=None, fingerprint=words, at=at),
        *(Tombstone(evidence=uuid, fingerprint=words, at=at) for uuid in sorted(uuids)),
    ]


def own(journal: SqlJournal, store: MemoryStore, seen: Snapshot) -> dict[str, Topic]:
    """Return the memories of a directory that are not about another project, newest first.

    Two roots may share one directory: the client's name for a path is lossy.

    Args:
        journal: knows which project a memory is about.
        store: the directory, from the point of view of one project.
        seen: the directory as it is.
    """
    origins = journal.origins(str(store.directory))
    return {
        topic.name: topic
        for topic in seen.newest()
        if origins.get(topic.name, (store.project_root, ""))[0] == store.project_root
    }


def distinct(operations: Iterable[Operation], taken: Collection[str]) -> list[Operation]:
    """Return operations whose new memories take no name that a file has already.

    The proposer knows the memories of its own project only.

    Args:
        operations: as accepted.
        taken: the names in the directory, those of other projects included.
    """
    names = set(taken)
    found: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Create):
            free, number = operation.name, 2
            while free in names:
                free = f"{operation.name[:60]}-{number}"
                number += 1
            names.add(free)
            found.append(replace(operation, name=free))
        else:
            found.append(operation)
    return found


def existing(topic: Topic) -> ExistingMemory:
    """Return a memory as an extractor sees it."""
    return ExistingMemory(
        name=topic.name,
        type=topic.type,
        description=topic.description,
        body=topic.body,
        modified=topic.modified,
        source=next((weak for weak in _WEAKEST_FIRST if weak.value in topic.marks), Source.HUMAN),
        title=topic.title,
    )


def _marks(operation: Create) -> tuple[str, ...]:
    """Return the marks that evidence weaker than a person's typing leaves on a memory."""
    source = standing(operation.evidence)
    return () if source is Source.HUMAN else (source.value,)


def change_of(operation: Operation) -> Change:
    """Return the change of a memory file that an operation asks for."""
    match operation:
        case Create():
            return Write(
                name=operation.name,
                content=Fields(
                    title=operation.title,
                    description=operation.description,
                    body=operation.body,
                    type=operation.type,
                    marks=_marks(operation),
                    session=operation.evidence[0].session,
                ),
                reason="asked for" if operation.explicit else "learned",
                evidence=operation.evidence,
            )
        case Update():
            return Write(
                name=operation.name,
                content=Fields(
                    title=operation.title,
                    description=operation.description,
                    body=operation.body,
                    marks=() if operation.confirmed else None,
                ),
                reason=operation.reason,
                evidence=operation.evidence,
            )
        case Delete():
            return Remove(name=operation.name, reason=operation.reason, evidence=operation.evidence)
        case _:
            assert_never(operation)


def action_of(operation: Operation) -> Action:
    """Return what an operation does to its file."""
    match operation:
        case Create():
            return Action.CREATE
        case Update():
            return Action.UPDATE
        case Delete():
            return Action.DELETE
        case _:
            assert_never(operation)
