"""An ended turn read again from its transcript, as an extractor may see it: clean and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memoryd.extraction.operations import Source as Said
from memoryd.extraction.operations import TurnInput, Utterance
from memoryd.ingest.reader import Source, Unopened
from memoryd.redaction import clean
from memoryd.stores.backlog import DueTurn
from memoryd.transcript.conversation import (
    AssistantSaid,
    Conversation,
    HumanText,
    ToolCall,
    read_conversation,
)

CHUNK_BYTES = 256 * 1024


class TurnGone(Exception):  # noqa: N818 - a state of the world
    """The transcript is no longer there."""


class TurnMoved(Exception):  # noqa: N818 - as above
    """The transcript was rewritten and the turn is not where it was; ingestion will find it."""


def read_turn(transcripts: Path, due: DueTurn) -> TurnInput:
    """Read one turn.

    Args:
        transcripts: the projects directory.
        due: which turn, and where.

    Raises:
        TurnGone: the file does not exist.
        TurnMoved: other bytes stand there now, or it belongs to another client directory.
        OSError: the file cannot be read.
    """
    path = Path(due.path)
    if not path.is_relative_to(transcripts):
        raise TurnMoved(f"{due.path} is not below {transcripts}")
    relative = path.relative_to(transcripts).as_posix()
    source = Source.open(str(transcripts), relative)
    if isinstance(source, Unopened):
        raise TurnGone(f"{due.path} is gone")
    try:
        conversation = read_conversation(_chunks(source, due), start=due.start)
    finally:
        source.close()
    return _turn_input(due, conversation)


def _chunks(source: Source, due: DueTurn) -> Iterator[bytes]:
    position = due.start
    while position < due.end:
        chunk = source.read(position, min(CHUNK_BYTES, due.end - position))
        if not chunk:
            return
        position += len(chunk)
        yield chunk


def _turn_input(due: DueTurn, conversation: Conversation) -> TurnInput:
    human: Utterance | None = None
    said: list[Utterance] = []
    results: list[str] = []
    written: list[str] = []
    tools: list[str] = []
    for item in conversation.items:
        match item:
            case HumanText():
                heard = Utterance(
                    source=Said.HEADLESS if item.headless else Said.HUMAN,
                    uuid=item.uuid,
                    at=item.at or due.at,
                    text=clean(item.text),
                )
                if item.uuid == due.uuid:
                    human = heard
                    said.append(heard)
            case AssistantSaid():
                said.append(
                    Utterance(
                        source=Said.ASSISTANT,
                        uuid=item.uuid,
                        at=item.at or due.at,
                        text=clean(item.text),
                    )
                )
            case ToolCall():
                tools.append(clean(f"{item.name} {item.gist}"))
                if item.memory_write is not None:
                    written.append(clean(item.memory_write.content))
                elif item.result:
                    results.append(clean(item.result))
    if human is None:
        raise TurnMoved(f"{due.path}: the turn at byte {due.start} is not there any more")
    return TurnInput(
        session=due.session,
        human=human,
        said=tuple(said),
        tool_texts=tuple(results),
        memory_written=tuple(written),
        tools=tuple(tools),
    )
