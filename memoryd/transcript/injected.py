"""What programs put into a prompt: markers of memoryd's own, and blocks to take out of a text."""

from __future__ import annotations

import re
from collections import Counter

REQUEST_MARKER = "[memoryd-request]"
"""A line of this kind stands in every prompt that memoryd sends to a model."""

RECALL_TAG = "memoryd-recall"
"""The tag around memories that memoryd puts into a conversation."""

_TAGS = (
    RECALL_TAG,
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "post-tool-use-hook",
)
_TAG = re.compile(rf"<(/?)({'|'.join(_TAGS)})(?:\s[^<>]*+)?>")
_MARKER = re.compile(rf"^[ \t]*{re.escape(REQUEST_MARKER)}[ \t]*\r?$", re.MULTILINE)


def carries_marker(text: str) -> bool:
    """Whether a line of the text is memoryd's own mark."""
    return REQUEST_MARKER in text and _MARKER.search(text) is not None


def without_injections(text: str) -> str:
    """Return the text without injected blocks, however they are nested.

    A tag that is never closed is text (people ask about such tags), except the recall tag: there
    everything behind it is dropped, because memoryd must not learn from what it said itself.
    """
    if "<" not in text:
        return text
    opened: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()  # Without it, closing tags alone would take quadratic time.
    spans: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        name = tag[2]
        if not tag[1]:
            opened.append((name, tag.start()))
            waiting[name] += 1
            continue
        while waiting[name]:
            inner, start = opened.pop()
            waiting[inner] -= 1
            if inner == name:
                spans.append((start, tag.end()))
                break
    spans.extend((start, len(text)) for name, start in opened if name == RECALL_TAG)
    if not spans:
        return text
    spans.sort()
    kept, cursor = [], 0
    for start, end in spans:
        if start >= cursor:
            kept.append(text[cursor:start])
        cursor = max(cursor, end)
    kept.append(text[cursor:])
    return "".join(kept)
