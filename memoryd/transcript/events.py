"""What a transcript tells, line by line, as a closed union.

Every event has ``start`` and ``end``: the positions of its line in the file (``end`` is after the
newline). ``at``, where it is told, is in seconds since 1970 UTC; a record without a usable
timestamp has that of the record before it, or 0.0.

There is at least one for each record of the conversation: structs are made several times as fast as
data classes.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class EndReason(StrEnum):
    """By what a turn was known to have ended."""

    STOP = "stop"
    """The model stopped for another reason than a tool call."""
    TURN_DURATION = "turn_duration"
    """The client recorded how long the turn took."""
    STOP_HOOK = "stop_hook"
    """The client ran its stop hooks."""
    INTERRUPTED = "interrupted"
    """The person interrupted the request."""
    NEXT_HUMAN = "next_human"
    """The next prompt of a person came."""
    NOTICE = "notice"
    """A hook or a caller said so."""
    QUIET = "quiet"
    """Nothing was written for a while."""


class SessionStarted(Struct, frozen=True, gc=False):
    """The file is a session: its first user or assistant record came."""

    start: int
    end: int
    at: float


class HumanPrompt(Struct, frozen=True, gc=False):
    """A person said something; a turn begins.

    Attributes:
        uuid: of the record, or a stable ``x-…`` made from its bytes.
        cwd: working directory of the record, or the last known one, or an empty string.
        text: what was typed, without injected blocks.
        headless: it came through ``-p`` or an SDK.
        queued: it was typed while the model was working.
    """

    start: int
    end: int
    uuid: str
    at: float
    cwd: str
    text: str
    headless: bool
    queued: bool


class AssistantText(Struct, frozen=True, gc=False):
    """The model said something (no thoughts, no tool calls, no messages of the client).

    Attributes:
        message_id: shared by the lines of one reply; the record's uuid where there is none.
    """

    start: int
    end: int
    uuid: str
    message_id: str
    at: float
    cwd: str
    text: str


class Activity(Struct, frozen=True, gc=False):
    """A record extended the current turn; comes once for each that is no human prompt."""

    start: int
    end: int


class TurnEnded(Struct, frozen=True, gc=False):
    """A mark that the turn is over; one turn may have several of them."""

    start: int
    end: int
    reason: EndReason
    at: float


class Compacted(Struct, frozen=True, gc=False):
    """The client compacted the conversation here.

    Attributes:
        trigger: ``auto``, ``manual``, or an empty string where it is not told.
    """

    start: int
    end: int
    trigger: str
    at: float


Event = SessionStarted | HumanPrompt | AssistantText | Activity | TurnEnded | Compacted
