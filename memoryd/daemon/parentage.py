"""Which session a fork was copied from.

The client does not say, and the fork's own transcript is not there before its first prompt is
answered. But it says how many tokens the copied conversation has: those of the last reply in the
transcript it was copied from, which lies in the same directory.
"""

from __future__ import annotations

import os

from memoryd.regular import open_regular
from memoryd.transcript.records import parse_line
from memoryd.transcript.shapes import AssistantRecord

CANDIDATES = 16
"""Transcripts that are looked at, the newest first."""

_TAIL = 1 << 18
_SUFFIX = ".jsonl"
_REPLY = b'"assistant"'


def parent_of(transcript: str, context_tokens: int) -> str | None:
    """Return the path of the transcript that a fork was copied from, ``None`` if none fits.

    Args:
        transcript: path of the fork's own, which need not exist.
        context_tokens: as the client says when the fork begins.
    """
    folder, _, own = transcript.rpartition("/")
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.stat().st_mtime_ns, entry.path)
                for entry in entries
                if entry.name.endswith(_SUFFIX) and entry.name != own and entry.is_file()
            ]
    except OSError:
        return None
    for _, path in sorted(found, reverse=True)[:CANDIDATES]:
        try:
            tokens = last_context_tokens(_tail(path))
        except OSError:
            continue
        if tokens == context_tokens:
            return path
    return None


def last_context_tokens(tail: bytes) -> int | None:
    """Return the tokens of the last reply in the end of a transcript, as the client counts them."""
    for line in reversed(tail.split(b"\n")):
        if _REPLY not in line:
            continue
        for piece in reversed(parse_line(line).found):
            record = piece.record
            if not isinstance(record, AssistantRecord) or record.is_sidechain:
                continue
            if record.message is not None and (usage := record.message.usage) is not None:
                tokens = usage.prompt + (usage.output_tokens or 0)
                if tokens > 0:  # The client's own words in the model's name count none.
                    return tokens
    return None


def _tail(path: str) -> bytes:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _TAIL))
        return file.read(_TAIL)
