"""The journal as the memory room sees it: every change of a memory file, and why.

``memoryd.stores.journal`` keeps it in the database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memoryd.extraction.operations import Evidence

EXTERNAL = "external"
"""The actor of changes that the client or a person made."""


class Action(StrEnum):
    """What happened to the file."""

    CREATE = "create"
    """It came into being."""
    UPDATE = "update"
    """Its bytes changed."""
    DELETE = "delete"
    """It went away."""

    @classmethod
    def between(cls, before: bytes | None, after: bytes | None) -> Action:
        """Return the action that leads from ``before`` to ``after`` (``None``: no file)."""
        if before is None:
            return cls.CREATE
        return cls.DELETE if after is None else cls.UPDATE


class EntryState(StrEnum):
    """How far a change has come."""

    INTENT = "intent"
    """About to be made; settled at the next start if the writer died."""
    DONE = "done"
    """On disk."""
    ABORTED = "aborted"
    """Not made; what was on disk was kept."""
    REJECTED = "rejected"
    """Refused before any attempt; the reason says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A change to be journaled.

    Attributes:
        group: changes that belong together.
        at: seconds since 1970 UTC.
        directory: the memory directory.
        project_root: the project the memory is about.
        name: stem of the file.
        action: what happens to it.
        actor: who does it (``extract``, ``person``, ``external``, ...).
        reason: in words.
        before: bytes before, ``None`` when there was no file.
        before_mtime_ns: mtime before.
        after: bytes after, ``None`` when there is no file any more.
        after_mtime_ns: mtime after.
        evidence: what was said that led to it.
        undoes: id of the entry this one takes back.
    """

    group: str
    at: float
    directory: str
    project_root: str
    name: str
    action: Action
    actor: str
    reason: str = ""
    before: bytes | None = None
    before_mtime_ns: int | None = None
    after: bytes | None = None
    after_mtime_ns: int | None = None
    evidence: tuple[Evidence, ...] = ()
    undoes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Draft):
    """A change in the journal.

    Attributes:
        id: ascending in time.
        state: how far it has come.
    """

    id: int
    state: EntryState


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal last knew of a file.

    Attributes:
        entry: id of the last finished entry.
        mtime_ns: the file's mtime then; ``None`` when it was gone.
        size: the file's size then, bytes; ``None`` when it was gone.
    """

    entry: int
    mtime_ns: int | None
    size: int | None


class Journal(Protocol):
    """Where changes are kept; each call is durable when it returns."""

    def begin(self, drafts: Sequence[Draft]) -> tuple[int, ...]:
        """Keep ``drafts`` as intents, all or none; return their ids in order."""
        ...

    def commit(self, ids: Collection[int]) -> None:
        """Mark intents as done."""
        ...

    def abort(self, entry: int, reason: str) -> None:
        """Mark an intent as not made."""
        ...

    def record(self, drafts: Sequence[Draft]) -> tuple[int, ...]:
        """Keep changes that have already happened, all or none; return their ids in order."""
        ...

    def reject(self, draft: Draft) -> int:
        """Keep a change that was refused; ``draft.reason`` says why."""
        ...

    def get(self, entry: int) -> Entry:
        """Return an entry.

        Raises:
            NotFound: there is none of that id.
        """
        ...

    def intents(self, directory: str | None = None) -> tuple[Entry, ...]:
        """Return what is not settled, oldest first."""
        ...

    def known(self, directory: str) -> dict[str, Known]:
        """Return the last known state of every file ever seen in ``directory``, by name."""
        ...

    def latest(self, directory: str, names: Collection[str]) -> dict[str, Entry]:
        """Return the last finished entry of each of ``names`` that has one."""
        ...
