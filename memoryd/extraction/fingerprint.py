"""Which words a fact is made of, and how alike two facts are.

Words are the terms of ``recall.analysis``: stems, identifiers, pairs of Chinese characters; stop
words carry nothing. Word order and negation do not count here: ``stances`` looks at those.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from memoryd.recall.analysis import terms

_BOOKKEEPING: Final = re.compile(
    r"^\s*(?:[-*]\s*)?(?:\*\*(?:Why|How to apply):\*\*|Until \d{4}-\d\d-\d\d:)"
)
_STATED: Final = re.compile(r"\s*\((?:stated on|said on) \d{4}-\d\d-\d\d\)")


def words(text: str) -> frozenset[str]:
    """Return the content words of ``text``, stemmed."""
    return frozenset(terms(text))


def fingerprint(text: str) -> str:
    """Return the sorted stemmed content words of a fact, joined by spaces.

    Of a memory's text only the facts count, so that a sentence and the memory that was made from
    it (description, body with its reason and date) have one fingerprint.
    """
    return " ".join(sorted(words(fact_of(text))))


def is_bookkeeping(line: str) -> bool:
    """Say whether a line of a body tells about the fact (why, how, until when) instead of it."""
    return _BOOKKEEPING.match(line) is not None


def fact_of(body: str) -> str:
    """Return a memory's text without reasons, dates of statements and former statements."""
    kept = (line for line in body.splitlines() if not is_bookkeeping(line))
    return _STATED.sub("", "\n".join(kept)).strip()


def containment(part: AbstractSet[str], whole: AbstractSet[str]) -> float:
    """Return the share of ``part`` that is in ``whole``; 0 for nothing."""
    return len(part & whole) / len(part) if part else 0.0


def likeness(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return shared words over all words (Jaccard); 0 for nothing."""
    union = one | other
    return len(one & other) / len(union) if union else 0.0
