"""A summary with what memoryd must know to go on with it: the form of the copy that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from memoryd.context.draft import Draft
from memoryd.context.sections import Summary, parse
from memoryd.transcript.tokens import estimate_tokens

_BEGIN: Final = "<!-- memoryd "
_END: Final = " -->"


@dataclass(frozen=True, slots=True)
class Record:
    """The summary of a session.

    Attributes:
        session: id of the session.
        project: root of its project; empty where it has none.
        text: the summary as Markdown.
        updated: when it last changed, seconds since 1970 UTC.
        through: position in the transcript from which to go on.
        anchor: digest of the bytes before that position.
        turn: key of the turn that was going on there.
        closed: what was said last may not be told of, nor what the assistant did then.
        own: marks of the lines that memoryd made.
    """

    session: str
    project: str = ""
    text: str = ""
    updated: float = 0.0
    through: int = 0
    anchor: str = ""
    turn: str = ""
    closed: bool = False
    own: frozenset[str] = frozenset()

    @property
    def summary(self) -> Summary:
        """The summary by section."""
        return parse(self.text)

    @property
    def tokens(self) -> int:
        """How long it is."""
        return estimate_tokens(self.text)

    def draft(self, text: str | None) -> Draft:
        """Return what is to be changed.

        Args:
            text: what stands beside the transcript now, ``None`` for nothing.
        """
        return Draft.of(parse(self.text if text is None else text), self.own)


class _Facts(msgspec.Struct):
    session: str
    project: str = ""
    updated: float = 0.0
    through: int = 0
    anchor: str = ""
    turn: str = ""
    closed: bool = False
    own: list[str] = []


def encode(record: Record) -> bytes:
    """Return a record as a file: the summary, and one comment behind it."""
    facts = _Facts(
        session=record.session,
        project=record.project,
        updated=record.updated,
        through=record.through,
        anchor=record.anchor,
        turn=record.turn,
        closed=record.closed,
        own=sorted(record.own),
    )
    # A ">" can stand in strings alone, and must not end the comment.
    told = msgspec.json.encode(facts).decode().replace(">", "\\u003e")
    return f"{record.text}\n{_BEGIN}{told}{_END}\n".encode("utf-8", "replace")


def decode(data: bytes) -> Record | None:
    """Return what `encode` made; ``None`` for anything else."""
    text, begin, told = data.decode("utf-8", "replace").rpartition(f"\n{_BEGIN}")
    if not begin or not told.rstrip().endswith(_END.strip()):
        return None
    try:
        facts = msgspec.json.decode(told.rstrip().removesuffix(_END.strip()), type=_Facts)
    except msgspec.DecodeError:
        return None
    return Record(
        session=facts.session,
        project=facts.project,
        text=text,
        updated=facts.updated,
        through=facts.through,
        anchor=facts.anchor,
        turn=facts.turn,
        closed=facts.closed,
        own=frozenset(facts.own),
    )
