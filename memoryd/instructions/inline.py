"""What stands inside a paragraph besides words: code, comments, tags, escapes; in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

# More attributes or longer values are nobody's; without a bound a text could be made that takes
# quadratic time.
_ATTRIBUTE = (
    r"""\s+[a-z_:][\w.:-]{0,100}"""
    r"""(?:\s*=\s*(?:[^\s"'=<>`]{1,1000}|'[^']{0,1000}'|"[^"]{0,1000}"))?"""
)
TAG = rf"(?:<[a-z][a-z0-9-]{{0,50}}(?:{_ATTRIBUTE}){{0,20}}\s*/?>|</[a-z][a-z0-9-]{{0,50}}\s*>)"
"""One opening or closing tag; to be compiled without regard to case."""

_START = re.compile(r"`+|<|\\[!-/:-@\[-`{-~\n]")
_ELEMENT = re.compile(rf"{TAG}|<[a-z][a-z0-9+.-]{{1,31}}:[^\s<>]*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--(?!-?>)")
_TICKS = re.compile(r"`+")


class Piece(StrEnum):
    """What a piece of a paragraph is."""

    CODE = "code"
    """A code span with its backticks."""
    COMMENT = "comment"
    """``<!-- … -->``."""
    TAG = "tag"
    """An HTML tag or a link in angle brackets."""
    ESCAPE = "escape"
    """A backslash with the sign that it takes the meaning from."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece, from ``start`` up to but not including ``end`` (indices of characters)."""

    piece: Piece
    start: int
    end: int


def spans(text: str) -> Iterator[Span]:
    """Yield everything in a paragraph that is no plain text, in its order."""
    runs = _runs(text)
    closed = text.rfind("-->")
    at = 0
    while match := _START.search(text, at):
        span = _span(text, match, runs, closed)
        at = match.end() if span is None else span.end
        if span is not None:
            yield span


def _runs(text: str) -> dict[int, list[int]]:
    """Return where runs of backticks start, by their length."""
    runs: dict[int, list[int]] = defaultdict(list)
    for match in _TICKS.finditer(text):
        runs[len(match[0])].append(match.start())
    return runs


def _span(text: str, match: re.Match[str], runs: dict[int, list[int]], closed: int) -> Span | None:
    start = match.start()
    if match[0][0] == "\\":
        return Span(Piece.ESCAPE, start, match.end())
    if match[0][0] == "`":
        same = runs.get(len(match[0]), [])
        after = bisect_left(same, match.end())
        if after == len(same):
            return None
        return Span(Piece.CODE, start, same[after] + len(match[0]))
    if _COMMENT.match(text, start):
        if closed < start:
            return None
        return Span(Piece.COMMENT, start, text.index("-->", start) + len("-->"))
    element = _ELEMENT.match(text, start)
    return None if element is None else Span(Piece.TAG, start, element.end())
