"""What an examination says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    FINE = "fine"
    """Looked at, nothing to do."""
    NOTE = "note"
    """Works, but the person should know."""
    BROKEN = "broken"
    """Something does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Attributes:
        level: how bad.
        subject: what was looked at, a word or two.
        text: what was found, one sentence.
        mend: the command or the step that mends it; empty if there is nothing to do.
    """

    level: Level
    subject: str
    text: str
    mend: str = ""


def fine(subject: str, text: str) -> Finding:
    """Return that something is in order."""
    return Finding(Level.FINE, subject, text)


def note(subject: str, text: str, mend: str = "") -> Finding:
    """Return what the person should know."""
    return Finding(Level.NOTE, subject, text, mend)


def broken(subject: str, text: str, mend: str) -> Finding:
    """Return what does not work."""
    return Finding(Level.BROKEN, subject, text, mend)
