"""Operations as changes of memory files."""

from __future__ import annotations

from typing import assert_never

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
from memoryd.memory.store import MemoryStore
from memoryd.memory.topic import Fields, Topic
from memoryd.stores.journal import SqlJournal


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


def existing(topic: Topic) -> ExistingMemory:
    """Return a memory as an extractor sees it."""
    return ExistingMemory(
        name=topic.name,
        type=topic.type,
        description=topic.description,
        body=topic.body,
        modified=topic.modified,
    )


def _marks(operation: Create | Update) -> tuple[str, ...]:
    """Return the marks that evidence weaker than a person's typing leaves on a memory."""
    sources = {item.source for item in operation.evidence}
    if Source.HUMAN in sources:
        return ()
    return (Source.HEADLESS.value,) if Source.HEADLESS in sources else (Source.ASSISTANT.value,)


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
