"""``<private>`` passages: what a person marked as nobody's business."""

from __future__ import annotations

import re

# The bare tag only: ``<private key>`` or ``<private-repo>`` are placeholders of documentation.
_TAG = re.compile(r"<(\\?/)?private\s{0,8}>", re.IGNORECASE | re.ASCII)


def strip_private(text: str) -> str:
    """Return ``text`` without its ``<private>…</private>`` passages, tags included.

    Tags may be nested and in any case. An open passage reaches to the end of the text; a closing
    tag that closes nothing stays. Where the passage parted two words, a space still does.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = 0
    start = 0
    for tag in _TAG.finditer(text):
        if tag.group(1) is None:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                start = tag.end()
    if not kept:
        return text
    kept.append("" if depth else text[start:])
    return _join(kept)


def _join(parts: list[str]) -> str:
    out: list[str] = []
    for part in filter(None, parts):
        # Without the space, ``<pri<private>…</private>vate>`` would make a new tag.
        if out and not out[-1][-1].isspace() and not part[0].isspace():
            out.append(" ")
        out.append(part)
    return "".join(out)
