"""Turns, memories and operations for tests of extraction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from memoryd.extraction.operations import (
    Create,
    Delete,
    ExistingMemory,
    MemoryType,
    Operation,
    Source,
    TurnInput,
    Update,
    Utterance,
)

TUESDAY = datetime(2026, 12, 1, 10, 0, tzinfo=UTC).timestamp()
"""The day on which tests speak, unless they say otherwise: Tuesday, 2026-12-01."""


def utterance(
    text: str, *, uuid: str = "u1", at: float = TUESDAY, source: Source = Source.HUMAN
) -> Utterance:
    return Utterance(source=source, uuid=uuid, at=at, text=text)


def turn(
    text: str,
    *answers: str,
    uuid: str = "u1",
    at: float = TUESDAY,
    session: str = "s1",
    source: Source = Source.HUMAN,
    tool_texts: tuple[str, ...] = (),
    memory_written: tuple[str, ...] = (),
) -> TurnInput:
    """Return a turn: what the person typed, and what the model answered (``a1``, ``a2`` …)."""
    human = utterance(text, uuid=uuid, at=at, source=source)
    said = (
        human,
        *(
            utterance(answer, uuid=f"a{n}", at=at, source=Source.ASSISTANT)
            for n, answer in enumerate(answers, 1)
        ),
    )
    return TurnInput(
        session=session,
        human=human,
        said=said,
        tool_texts=tool_texts,
        memory_written=memory_written,
    )


def memory(
    name: str,
    body: str,
    *,
    type: MemoryType | None = MemoryType.PROJECT,  # noqa: A002 - the field's name
    description: str = "",
    modified: float = TUESDAY - 86400,
    source: Source = Source.HUMAN,
) -> ExistingMemory:
    return ExistingMemory(
        name=name,
        type=type,
        description=description or body.partition("\n")[0],
        body=body,
        modified=modified,
        source=source,
    )


def applied(
    memories: Iterable[ExistingMemory], operations: Iterable[Operation], *, at: float = TUESDAY + 60
) -> tuple[ExistingMemory, ...]:
    """Return the memories as they are after the operations."""
    kept = {one.name: one for one in memories}
    for operation in operations:
        match operation:
            case Create():
                assert operation.name not in kept
                kept[operation.name] = memory(
                    operation.name,
                    operation.body,
                    type=operation.type,
                    description=operation.description,
                    modified=at,
                )
            case Update():
                kept[operation.name] = replace(
                    kept[operation.name],
                    description=operation.description,
                    body=operation.body,
                    modified=at,
                )
            case Delete():
                del kept[operation.name]
    return tuple(kept.values())
