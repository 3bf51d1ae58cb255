"""Patterns that are only tried where one of a few words stands without which they cannot match.

Most prompts hold none of them, and to look for a word takes a hundredth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass


def folded(text: str) -> str:
    """Return ``text`` in small letters, as a pattern that ignores case compares them."""
    if not text.isascii():
        # I with a dot, i without one, long s: such a pattern takes them for i and s.
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s")
    return text.lower()


@dataclass(frozen=True, slots=True)
class Hinted:
    """A pattern with its hints.

    Attributes:
        pattern: the pattern.
        hints: of which one stands, folded, in everything that the pattern matches.
    """

    pattern: re.Pattern[str]
    hints: Collection[str]

    def may_match(self, seen: str) -> bool:
        """Return whether the pattern can match in any part of a text, given folded."""
        return any(map(seen.__contains__, self.hints))
