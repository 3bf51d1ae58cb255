"""How many tokens a text has, without a tokenizer.

The rates were fitted on pairs of neighbouring calls, where the difference of two reported prompts
is the true size of what stood between: prose has 4 characters a token, code and JSON 3, lines full
of digits 1.8. Over 722 pairs of public sessions the next prompt is predicted within 0.09 % in the
median and 1 % at the 95th percentile, the new part alone (500 tokens or more) within 10 and 37 %.
Chinese, Japanese, Korean and emoji are counted one token a character (not fitted: the
sample had too few).
"""

from __future__ import annotations

import re

PER_TOOL_RESULT = 90
"""Tokens around one tool result: its wrapping, and reminders that are not recorded."""

PER_CALL = 14
"""Tokens around one reply of the model."""

EXACT_LIMIT = 64 * 1024
"""Characters up to which every line is looked at; of longer texts a sample is."""

_SLICES = 32
_PROSE, _CODE, _DIGITS = 4.0, 3.0, 1.8
_DIGIT_SHARE, _PUNCTUATION_SHARE = 0.25, 0.08
_SHORT_LINE, _CHARACTERS_A_SPACE = 24, 12

# Every byte becomes the letter of its class; continuation bytes of UTF-8 vanish. An arrow (lead
# byte E2) has a class of its own because it ends the line numbers of the Read tool.
_CONTINUATION = bytes(range(0x80, 0xC0))
_WIDE = range(0xE3, 0xF5)
_ARROW = 0xE2


def _class_of(byte: int) -> bytes:
    character = bytes((byte,))
    if byte >= 0x80:  # noqa: PLR2004 - the end of ASCII
        return b"w" if byte in _WIDE else b">" if byte == _ARROW else b"a"
    if character in b"\n\t":
        return character
    if character.isspace():
        return b" "
    return b"0" if character.isdigit() else b"a" if character.isalpha() else b"."


_CLASS = b"".join(map(_class_of, range(256)))
_NUMBERED = re.compile(rb" *0+[\t>]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens ``text`` has; 0 only for an empty text.

    Long texts are sampled, so the time is bounded by ``EXACT_LIMIT`` characters.
    """
    if not text:
        return 0
    size = len(text)
    if size <= EXACT_LIMIT:
        return max(1, round(_estimate(text)))
    width = EXACT_LIMIT // _SLICES
    step = (size - width) // (_SLICES - 1)
    sampled = sum(_estimate(text[i * step : i * step + width]) for i in range(_SLICES))
    return max(1, round(sampled * size / (width * _SLICES)))


def _estimate(text: str) -> float:
    data = text.encode("utf-8", "replace").translate(_CLASS, _CONTINUATION)
    return sum(map(_line, data.split(b"\n"))) - 1 / _PROSE


def _line(line: bytes) -> float:
    size = len(line)
    if not size:
        return 1 / _PROSE
    spaces = line.count(b" ") + line.count(b"\t")
    solid = size - spaces or 1
    wide = line.count(b"w")
    if line.count(b"0") >= _DIGIT_SHARE * solid:
        rate = _DIGITS
    elif (
        line.count(b".") > _PUNCTUATION_SHARE * solid
        or (size > _SHORT_LINE and spaces * _CHARACTERS_A_SPACE < size - wide)
        or _NUMBERED.match(line)
    ):
        rate = _CODE
    else:
        rate = _PROSE
    return wide + (size - wide + 1) / rate
