"""What an extraction asks for: closed types, each with the evidence it stands on.

Whoever proposes them (rules or a model), ``extraction.checks`` decides what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class MemoryType(StrEnum):
    """The four kinds of memory."""

    USER = "user"
    """Who the person is: role, knowledge, preferences."""
    FEEDBACK = "feedback"
    """A correction, or a way of working that was confirmed."""
    PROJECT = "project"
    """Goals, constraints, decisions, causes, deadlines that the code does not show."""
    REFERENCE = "reference"
    """Where things live outside: tracker, wiki, dashboard."""


class Source(StrEnum):
    """Who said it. Trust never rises from a later member to an earlier one."""

    HUMAN = "human"
    """A person typed it."""
    HEADLESS = "headless"
    """A prompt of a run without a person at the keyboard."""
    ASSISTANT = "assistant"
    """The model said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that was said.

    Attributes:
        session: id of the session.
        uuid: of the transcript record.
        at: seconds since 1970 UTC.
        source: who said it.
        sentence: the redacted sentence itself, at most 300 characters.
    """

    session: str
    uuid: str
    at: float
    source: Source
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Keep a new memory.

    Attributes:
        name: kebab-case, ``^[a-z0-9][a-z0-9-]{0,63}$``; the file is ``<name>.md``.
        type: one of the four.
        title: for the index line, at most 60 characters.
        description: one line, at most 200 characters.
        body: Markdown, at most 4,000 characters.
        evidence: never empty.
        explicit: the person asked for it in so many words.
    """

    name: str
    type: MemoryType
    title: str
    description: str
    body: str
    evidence: tuple[Evidence, ...]
    explicit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Change a memory that exists: same subject, newer or fuller knowledge.

    Attributes:
        confirmed: a person typed all that it says, which only the assistant had said before.
    """

    name: str
    title: str
    description: str
    body: str
    evidence: tuple[Evidence, ...]
    explicit: bool = False
    reason: str = ""
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Forget a memory: on request (leaves a tombstone), or because it no longer holds.

    Attributes:
        candidates: where the request is not clear, the memories it may mean; none is removed.
    """

    name: str
    evidence: tuple[Evidence, ...]
    explicit: bool = False
    reason: str = ""
    candidates: tuple[str, ...] = ()


Operation = Create | Update | Delete


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingMemory:
    """A memory as an extractor sees it.

    Attributes:
        name: file stem.
        type: ``None`` when the file does not say.
        description: one line, possibly empty.
        body: without frontmatter.
        modified: seconds since 1970 UTC (mtime of the file).
        source: the least trusted source it stands on; files by a person or the client count as
            a person's.
        title: as the index shows it; empty for one made from the name.
    """

    name: str
    type: MemoryType | None
    description: str
    body: str
    modified: float
    source: Source = Source.HUMAN
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A text of a human or of the assistant, redacted, without ``<private>`` parts.

    Attributes:
        source: who said it.
        uuid: of the transcript record.
        at: seconds since 1970 UTC.
        text: the whole text.
    """

    source: Source
    uuid: str
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """One ended turn, as an extractor sees it.

    Attributes:
        session: id of the session.
        human: what the person typed; first in time.
        said: everything said in the turn in order, the human text included.
        tool_texts: outputs of tools in this turn, cut; only for checks, never a source.
        memory_written: bodies that the main model wrote into memory files itself in this turn.
        tools: name and gist of each tool call.
    """

    session: str
    human: Utterance
    said: tuple[Utterance, ...]
    tool_texts: tuple[str, ...] = ()
    memory_written: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Something forgotten on request: must not be learned again from the same evidence.

    Attributes:
        evidence: uuid of a record whose fact was forgotten, or ``None``.
        fingerprint: the sorted stemmed content words of the fact, joined by spaces.
        at: when; newer statements by the person may teach it again.
    """

    evidence: str | None
    fingerprint: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """All that an extractor may look at.

    Attributes:
        turns: oldest first.
        memories: what is kept for the project now.
        tombstones: what must not come back.
        today: seconds since 1970 UTC, for relative dates.
    """

    turns: tuple[TurnInput, ...]
    memories: tuple[ExistingMemory, ...]
    tombstones: tuple[Tombstone, ...] = ()
    today: float = 0.0


@dataclass(frozen=True, slots=True)
class Rejected:
    """An operation that the checks refused, for the journal."""

    operation: Operation
    reason: str


@dataclass(slots=True)
class Verdict:
    """What the checks let through and what they did not."""

    accepted: list[Operation] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
