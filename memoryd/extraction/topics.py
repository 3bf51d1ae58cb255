"""The text of one memory: composed, added to, and changed without losing what was there."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.extraction import kinds
from memoryd.extraction.fingerprint import is_bookkeeping
from memoryd.extraction.operations import MemoryType

_DESCRIPTION: Final = 200
_PAST: Final = 5  # former statements kept in a body
_UNTIL: Final = re.compile(r"^Until (\d{4}-\d\d-\d\d): (.+)$", re.MULTILINE)
_DAY: Final = re.compile(r"\b(?:stated by the person on|said on|stated on|Until) (\d{4}-\d\d-\d\d)")
_STATED: Final = re.compile(r"\s*\(stated on \d{4}-\d\d-\d\d\)")
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)")
_BULLET: Final = re.compile(r"^\s*(?:[-*]|\d+\.)\s+|^#{1,6}\s+")


@dataclass(frozen=True, slots=True)
class Former:
    """A statement that held until a day.

    Attributes:
        text: the statement.
        day: ``YYYY-MM-DD`` of the statement that replaced it.
    """

    text: str
    day: str


def describe(fact: str) -> str:
    """Return the one line that stands for a fact in indexes."""
    line = " ".join(fact.split())
    if len(line) <= _DESCRIPTION:
        return line
    return line[: _DESCRIPTION - 1].rstrip() + "…"


def compose(kind: MemoryType, fact: str, *, reason: str, day: str, subject: tuple[str, ...]) -> str:
    """Return the body of a new memory.

    A reason is the person's own or none: without one the body says who stated it and when.
    """
    if kind not in {MemoryType.FEEDBACK, MemoryType.PROJECT}:
        return fact
    return f"{fact}\n\n{_why(reason, day)}\n**How to apply:** {_applies(kind, subject)}"


def add(body: str, fact: str, *, reason: str, day: str) -> str:
    """Return a body with one more statement about its subject."""
    because = f" — {reason}" if reason else ""
    line = f"{fact.rstrip('.。')}{because} (stated on {day})."
    lines = body.rstrip().splitlines()
    place = next((n for n, old in enumerate(lines) if is_bookkeeping(old)), len(lines))
    while place > 0 and not lines[place - 1].strip():
        place -= 1
    return "\n".join([*lines[:place], line, *lines[place:]])


def supersede(body: str, olds: Sequence[str], fact: str, *, reason: str, day: str) -> str:
    """Return a body in which ``fact`` stands for ``olds``, which are kept as "Until DAY: …".

    A reason given for the first statement goes with it. Statements that are not in the body (in
    the description) leave it as it is, with the fact on top.
    """
    formers = [former for former in past(body) if _norm(former.text) != _norm(fact)]
    kept = "\n".join(line for line in body.splitlines() if not _UNTIL.match(line)).rstrip()
    present = [old for old in olds if old in kept]
    replaced = [Former(_STATED.sub("", old).strip(), day) for old in present or olds]
    kept = kept.replace(present[0], fact, 1) if present else f"{fact}\n\n{kept}".rstrip()
    for old in present[1:]:
        kept = re.sub(
            rf"(?m)^\s*(?:[-*]\s+)?{re.escape(old)}\s*?\n|{re.escape(old)}", "", kept, count=1
        )
    if statements(kept)[:1] == [fact]:
        kept = re.sub(r"(?m)^\*\*Why:\*\*.*$", lambda _: _why(reason, day), kept, count=1)
    until = "\n".join(
        f"Until {former.day}: {former.text}" for former in [*formers, *replaced][-_PAST:]
    )
    return f"{kept}\n{until}" if is_bookkeeping(kept.splitlines()[-1]) else f"{kept}\n\n{until}"


def statements(body: str) -> list[str]:
    """Return the sentences of a body that state something now."""
    found: list[str] = []
    for line in body.splitlines():
        if not line.strip() or is_bookkeeping(line):
            continue
        text = _BULLET.sub("", line).strip()
        found += [piece.strip() for piece in _SENTENCE.findall(text) if piece.strip()]
    return found


def past(body: str) -> list[Former]:
    """Return the statements that a body says held until some day."""
    return [Former(text.strip(), day) for day, text in _UNTIL.findall(body)]


def last_day(body: str) -> str:
    """Return the newest day on which something in a body was stated, or an empty string."""
    return max(_DAY.findall(body), default="")


def _why(reason: str, day: str) -> str:
    return (
        f"**Why:** {reason} (said on {day})."
        if reason
        else (f"**Why:** stated by the person on {day}.")
    )


def _applies(kind: MemoryType, subject: tuple[str, ...]) -> str:
    """Return when a memory matters; general where the kind of thing is not known."""
    known = kinds.kind_named(subject[0]) if len(subject) == 1 else None
    if known is not None:
        return f"{known.applies}."
    if kind is MemoryType.FEEDBACK:
        return "whenever this comes up in this project."
    return "take it as given when planning or answering in this project."


def _norm(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.lower()).split())
