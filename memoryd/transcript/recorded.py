"""What one record says of itself: its identity, its time, the model's words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b

from memoryd.transcript.lenient import clean_text
from memoryd.transcript.records import Found
from memoryd.transcript.shapes import (
    AssistantRecord,
    AttachmentRecord,
    SystemRecord,
    UserRecord,
)

_SYNTHETIC = "<synthetic>"
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def record_uuid(found: Found) -> str:
    """Return the uuid of a record, or a stable one made from its bytes."""
    match found.record:
        case UserRecord() | AssistantRecord() | SystemRecord() | AttachmentRecord():
            if found.record.uuid:
                return found.record.uuid
        case _:
            pass
    return uuid_of(found.data)


def uuid_of(data: bytes) -> str:
    """Return a stable uuid for a record that has none, made from its bytes."""
    return "x-" + blake2b(data.strip(), digest_size=16).hexdigest()


def parse_instant(timestamp: str | None) -> datetime | None:
    """Return the instant that an ISO 8601 timestamp names, ``None`` if it is none.

    An instant at which no transcript can have been written is none either: no calendar
    arithmetic has to cope with it.
    """
    if not timestamp:
        return None
    try:
        at = datetime.fromisoformat(timestamp)
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        usable = _EARLIEST <= at < _LATEST
    except (ValueError, OverflowError):
        return None
    return at if usable else None


def parse_time(timestamp: str | None) -> float | None:
    """Return the same in seconds since 1970 UTC."""
    at = parse_instant(timestamp)
    return None if at is None else at.timestamp()


def is_models_own(record: AssistantRecord) -> bool:
    """Whether a model made the reply: the client writes its error messages as replies too."""
    synthetic = record.message is not None and record.message.model == _SYNTHETIC
    return not synthetic and not record.is_api_error_message


def said_text(texts: Iterable[str]) -> str:
    """Return what the text blocks of a message say together."""
    return "\n\n".join(text for text in map(clean_text, texts) if text.strip())
