"""Long texts in pieces, so that one good paragraph counts as much as a short memory."""

from __future__ import annotations

from typing import Final

PASSAGE: Final = 1_000
"""Characters: bodies up to this length are one passage, longer ones are cut into such pieces."""

_BREAKS: Final = ("\n\n", "\n", ". ", "\u3002", " ")
"""Where a piece may end, best first."""


def passages(body: str) -> list[tuple[int, int]]:
    """Return the spans (start, end) of the passages of ``body``, in characters.

    The spans lie side by side and cover the whole body; there is always at least one.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    while len(body) - start > PASSAGE:
        end = _end(body, start)
        spans.append((start, end))
        start = end
    spans.append((start, len(body)))
    return spans


def _end(body: str, start: int) -> int:
    """Return where the passage that begins at ``start`` ends: in its second half, if it can."""
    for mark in _BREAKS:
        at = body.rfind(mark, start + PASSAGE // 2, start + PASSAGE)
        if at >= 0:
            return at + len(mark)
    return start + PASSAGE
