"""The passage of a text that shows best why it was found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryd.search.tokens import stem
from memoryd.text import one_line

SIZE = 200
_LEAD = 40
# Enough to find the best passage; a text of megabytes is not read twice for one line.
_HITS = 400


def snippet(text: str, words: Sequence[str]) -> str:
    """Return about 200 characters of ``text`` around the densest matches, on one line.

    Args:
        text: the whole text.
        words: of the query; a word matches where a word of the text begins with its stem.
    """
    places = _places(text, words)
    start = max(0, _best(places) - _LEAD) if places else 0
    if start:
        space = text.find(" ", start, start + _LEAD)
        start = space + 1 if space >= 0 else start
    lead = "…" if start else ""
    return lead + one_line(text[start : start + 2 * SIZE], SIZE)


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    stems = [re.escape(stem(word)) for word in words]
    if not stems:
        return []
    # A group a word tells different words apart: three words once beat one word three times.
    pattern = re.compile("|".join(f"({stem})" for stem in stems), re.IGNORECASE)
    found: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if match[0].isascii() and before.isalnum() and before.isascii():
            continue
        found.append((match.start(), match.lastindex or 0))
        if len(found) == _HITS:
            break
    return found


def _best(places: list[tuple[int, int]]) -> int:
    best = (0, 0)
    at = places[0][0]
    for i, (start, _) in enumerate(places):
        window = [word for place, word in places[i : i + 30] if place < start + SIZE - _LEAD]
        score = (len(set(window)), len(window))
        if score > best:
            best, at = score, start
    return at
