"""What happened in the client, as closed types."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EventName(StrEnum):
    """The client's events that mean something here."""

    SESSION_START = "SessionStart"
    """A session begins, or its context begins anew."""
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    """A prompt was sent; no slash command."""
    POST_TOOL_USE = "PostToolUse"
    """One tool has answered."""
    POST_TOOL_BATCH = "PostToolBatch"
    """All tools that the model called at once have answered."""
    STOP = "Stop"
    """The model has ended its turn."""
    STOP_FAILURE = "StopFailure"
    """The turn ended because the model could not be reached."""
    SUBAGENT_STOP = "SubagentStop"
    """A subagent has ended; the turn goes on."""
    PRE_COMPACT = "PreCompact"
    """The conversation is about to be compacted."""
    POST_COMPACT = "PostCompact"
    """It was compacted."""
    SESSION_END = "SessionEnd"
    """The session ends."""


class Source(StrEnum):
    """Why a session's context begins."""

    STARTUP = "startup"
    """A new session."""
    RESUME = "resume"
    """An old one goes on."""
    CLEAR = "clear"
    """The person cleared the context: a new session in the same process."""
    COMPACT = "compact"
    """The context was compacted; the session is the same."""
    FORK = "fork"
    """A new session that begins with a copy of another's history."""
    OTHER = "other"
    """A reason that is not known here."""


class Touch(StrEnum):
    """What the model did with a file."""

    READ = "read"
    """It has the content before it."""
    WRITTEN = "written"
    """It wrote all of it."""
    EDITED = "edited"
    """It changed a part of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happened.

    Attributes:
        session: its id; that of the transcript's file, where one is named.
        transcript: path of the transcript, which may not exist yet; empty when not named.
        cwd: absolute working directory of the client.
    """

    session: str
    transcript: str
    cwd: str


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """A session begins, or its context begins anew.

    Attributes:
        place: where.
        source: why.
        context_tokens: of the conversation that it begins with; ``None``: not told.
    """

    place: Place
    source: Source
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt was sent.

    Attributes:
        place: where.
        text: as it was sent, perhaps by a program.
        turn: id of the turn it begins; empty where the client gives none.
    """

    place: Place
    text: str
    turn: str


@dataclass(frozen=True, slots=True)
class ToolsAnswered:
    """Tools have answered, and the model goes on.

    Attributes:
        place: where.
        name: of the event; an answer must repeat it.
        touched: absolute paths of files, in the order of the calls.
    """

    place: Place
    name: EventName
    touched: tuple[tuple[str, Touch], ...]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over; what is written of it now is all."""

    place: Place


@dataclass(frozen=True, slots=True)
class Compacting:
    """The conversation is about to be compacted; that takes seconds."""

    place: Place


@dataclass(frozen=True, slots=True)
class Compacted:
    """The conversation was compacted: what the model had before it is gone."""

    place: Place


@dataclass(frozen=True, slots=True)
class Written:
    """Something was written to a transcript, and nothing else is known or wanted.

    Attributes:
        place: where.
        file: the transcript, of a subagent perhaps.
    """

    place: Place
    file: str


Event = SessionBegan | Prompted | ToolsAnswered | TurnEnded | Compacting | Compacted | Written
