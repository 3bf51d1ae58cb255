"""A memory as it is given back: a dated claim with its source, not a truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

TEXT_LINES: Final = 200
"""Lines of a memory that are given."""
TEXT_BYTES: Final = 4 * 1024
"""UTF-8 bytes of a memory that are given, the words about a cut included."""

_DAY: Final = 86_400


class Mark(StrEnum):
    """Why a claim deserves less trust."""

    HEADLESS = "headless"
    """It was said in a run without a person at the keyboard."""
    ASSISTANT = "assistant"
    """The model said it, no person did."""
    EXTERNAL = "external"
    """It was written or changed by somebody else than memoryd."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a claim comes from.

    Attributes:
        session: id of the session in which it was said, or ``None`` when nobody knows.
        evidence: uuids of the transcript records.
        sentence: the redacted words themselves, or an empty string.
        date: ISO day on which they were said, or an empty string.
    """

    session: str | None = None
    evidence: tuple[str, ...] = ()
    sentence: str = ""
    date: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``recall --json``."""
        return {
            "session": self.session,
            "evidence": list(self.evidence),
            "sentence": self.sentence,
            "date": self.date,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One memory of an answer.

    Attributes:
        name: slug.
        type: one of the four, or ``None`` when the file does not say.
        description: one line.
        path: absolute path of the file.
        age_days: whole days since the fact was last changed.
        score: how clearly it answers; comparable between queries.
        text: the body, cut by ``excerpt``.
        stale: sentences about what it names and what no longer holds.
        marks: why to trust it less.
        provenance: where it comes from.
    """

    name: str
    type: str | None
    description: str
    path: str
    age_days: int
    score: float
    text: str
    stale: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    provenance: Provenance = Provenance()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``recall --json``."""
        return {
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "path": self.path,
            "age_days": self.age_days,
            "score": round(self.score, 4),
            "text": self.text,
            "stale": list(self.stale),
            "marks": [mark.value for mark in self.marks],
            "provenance": self.provenance.to_json(),
        }


def age_days(now: float, then: float) -> int:
    """Return the whole days from ``then`` to ``now`` (seconds since 1970); 0 for the future."""
    return max(0, math.floor((now - then) / _DAY))


def age_words(days: int) -> str:
    """Return an age as people say it."""
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days} days ago"


def excerpt(text: str, *, lines: int = TEXT_LINES, size: int = TEXT_BYTES) -> str:
    """Return the first ``lines`` lines of ``text`` within ``size`` bytes; says so when it cuts.

    It is cut at the end of a line, or, where the first line alone is too long, of a character.
    """
    every = text.splitlines(keepends=True)
    if len(every) <= lines and len(text.encode(errors="replace")) <= size:
        return text
    left = size - len(_notice(len(every), len(every))) - 1
    kept: list[str] = []
    for line in every[:lines]:
        taken = len(line.encode(errors="replace"))
        if taken > left:
            break
        left -= taken
        kept.append(line)
    if kept:
        shown = "".join(kept).rstrip("\r\n")
    else:
        shown = every[0].encode(errors="replace")[:left].decode(errors="ignore")
    return f"{shown}\n{_notice(len(kept), len(every))}"


def _notice(shown: int, lines: int) -> str:
    return f"[cut: {shown} of {lines} whole lines shown; the file has the rest]"
