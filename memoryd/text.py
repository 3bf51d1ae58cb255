"""Text for people: nothing that a terminal would obey, and one line where one line is meant."""

from __future__ import annotations

import re

_CONTROLS = re.compile(
    # Strings with a terminator (OSC, DCS, SOS, PM, APC): their content is no text. Without a
    # terminator they end with the line, as nobody knows where else.
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    # Control sequences: colours, cursor, screen.
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # Other escapes: intermediate bytes and a final one.
    r"|\x1b[ -/]*[0-~]?"
    # What is left of C0 and C1, and the marks that turn the direction of writing.
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_SPACE = re.compile(r"\s+")
_ELLIPSIS = "…"


def for_terminal(text: str) -> str:
    r"""Return ``text`` without anything that a terminal acts on.

    C0 and C1 controls except ``\n`` and ``\t``, escape sequences with their content (colours,
    titles, links, clipboard) and marks that change the direction of writing are dropped; ``\r\n``
    becomes ``\n``. Letters of every script stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROLS.sub("", text)


def one_line(text: str, limit: int) -> str:
    """Return ``text`` on one line of at most ``limit`` characters, the ellipsis included.

    White space is collapsed; the cut is made after a whole word where one ends in the second half.
    """
    if limit < 1:
        return ""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    if line[limit - 1] != " ":
        space = head.rfind(" ")
        if space >= limit // 2:
            head = head[:space]
    return head.rstrip(" ,;:-") + _ELLIPSIS
