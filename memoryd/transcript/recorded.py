"""What one record says of itself: its identity, its time, the model's words."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import blake2b

from memoryd.transcript.lenient import clean_text
from memoryd.transcript.records import Found
from memoryd.transcript.shapes import (
    AssistantRecord,
    AttachmentRecord,
    Message,
    SystemRecord,
    UserRecord,
)

_SYNTHETIC = "<synthetic>"
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()


def record_uuid(found: Found) -> str:
    """Return the uuid of a record, or a stable one made from its bytes."""
    match found.record:
        case UserRecord() | AssistantRecord() | SystemRecord() | AttachmentRecord():
            if found.record.uuid:
                return found.record.uuid
        case _:
            pass
    return "x-" + blake2b(found.data.strip(), digest_size=16).hexdigest()


def parse_time(timestamp: str | None) -> float | None:
    """Return an ISO 8601 timestamp in seconds since 1970 UTC, ``None`` if it is none.

    An instant at which no transcript can have been written is none either: no calendar
    arithmetic has to cope with it.
    """
    if not timestamp:
        return None
    try:
        parsed = datetime.fromisoformat(timestamp)
        at = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return at if _EARLIEST <= at < _LATEST else None


def is_models_own(record: AssistantRecord) -> bool:
    """Whether a model made the reply: the client writes its error messages as replies too."""
    synthetic = record.message is not None and record.message.model == _SYNTHETIC
    return not synthetic and not record.is_api_error_message


def said_text(message: Message) -> str:
    """Return the text blocks of a message, without thoughts and tool calls."""
    texts = [block.text for block in message.blocks if block.type == "text" and block.text]
    if not texts:
        return ""
    return "\n\n".join(text for text in map(clean_text, texts) if text.strip())
