"""What tools showed lately in a session: an assistant's note that repeats it is no note."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memoryd.db.engine import Database
from memoryd.ingest.reader import Source, Unopened
from memoryd.redaction import clean
from memoryd.stores.transcripts import session_path
from memoryd.transcript.conversation import ToolCall, read_conversation

TAIL_BYTES = 2 << 20
"""Bytes at the end of a transcript that are looked at."""

_CHUNK = 256 << 10


class Outputs:
    """Finds the outputs of tools.

    Args:
        database: knows where the transcript of a session is.
        transcripts: the projects directory.
    """

    def __init__(self, database: Database, transcripts: Path) -> None:
        self._database = database
        self._transcripts = transcripts

    def __call__(self, session: str) -> tuple[str, ...]:
        """Return the outputs in the last part of a session's transcript, redacted; none if gone."""
        with self._database.read() as connection:
            known = session_path(connection, session)
        if known is None or not Path(known).is_relative_to(self._transcripts):
            return ()
        relative = Path(known).relative_to(self._transcripts).as_posix()
        source = Source.open(str(self._transcripts), relative)
        if isinstance(source, Unopened):
            return ()
        try:
            start = max(0, source.status.st_size - TAIL_BYTES)
            conversation = read_conversation(_tail(source, start), start=start)
        finally:
            source.close()
        calls = (item for item in conversation.items if isinstance(item, ToolCall))
        return tuple(clean(call.result) for call in calls if call.result)


def _tail(source: Source, start: int) -> Iterator[bytes]:
    """Yield the bytes from the first line that begins at or behind ``start``."""
    position = start
    begun = start == 0
    while chunk := source.read(position, _CHUNK):
        position += len(chunk)
        if not begun:
            chunk = chunk.partition(b"\n")[2]  # The first line is torn.
            begun = True
        yield chunk
