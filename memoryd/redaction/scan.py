"""Find secrets in a text and put placeholders in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryd.redaction.assignments import assignment_spans
from memoryd.redaction.context import Span, context_spans
from memoryd.redaction.private import strip_private
from memoryd.redaction.rules import TOKEN_RULES
from memoryd.redaction.values import MARK

_WORD_REST = re.compile(r"\S*")
_PLACEHOLDER = re.compile(r"(\[REDACTED:[a-z0-9-]{1,64}\])")

# One byte a character: "a" in a token, "a" in a word that may hold one, blank elsewhere.
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _table(characters: bytes) -> bytes:
    return bytes(97 if byte in characters else 32 for byte in range(256))


_TOKEN = _table(_LETTERS + b"_-")
_WORD = _table(_LETTERS + b"_-.:/+=~")
_RUN = b"a" * 16  # every token rule has so many token characters in a row

# Without groups: the engine then skips an alternative by its first character.
_ALTERNATIVES = "|".join(rule.pattern for rule in TOKEN_RULES)
_BY_RULE = tuple((rule.id, re.compile(rule.pattern, re.ASCII)) for rule in TOKEN_RULES)
_TOKENS = re.compile(rf"(?<![A-Za-z0-9])(?:{_ALTERNATIVES})", re.ASCII)
# Where text is escaped, the letter before a token may belong to the escape: \nghp_, %3Dghp_, ␛[31m.
_TOKENS_ESCAPED = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9A-Fa-f]{2})"
    r"|(?<=\\x[0-9A-Fa-f]{2})|(?<=\[[0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=\[[0-9]{2};[0-9]m))"
    rf"(?:{_ALTERNATIVES})",
    re.ASCII,
)


def redact(text: str) -> str:
    """Return ``text`` with ``[REDACTED:<rule>]`` in the place of each secret.

    Idempotent; what is a placeholder already is left alone. A secret is looked for within the one
    text given: whoever has text in pieces joins it first.
    """
    whole_words = False
    while (redacted := _pass(text, whole_words=whole_words)) != text:
        text = redacted
        whole_words = True
    return text


def clean(text: str) -> str:
    """Return ``text`` without private passages and secrets: fit for index, memory and model."""
    return redact(strip_private(text))


def _pass(text: str, *, whole_words: bool) -> str:
    if MARK not in text:
        return _replace(text, whole_words=whole_words)
    parts = _PLACEHOLDER.split(text)
    parts[::2] = [_replace(part, whole_words=whole_words) for part in parts[::2]]
    return "".join(parts)


def _replace(text: str, *, whole_words: bool) -> str:
    spans = sorted(_spans(text), key=lambda span: (span[0], -span[1]))
    if not spans:
        return text
    out: list[str] = []
    position = 0
    for start, end, rule in _merged(spans):
        if whole_words:
            # A secret that shows only after others are gone takes its neighbours with it, so that
            # a text made to unfold step by step is done after two steps.
            start, end = _widened(text, start, end, position)  # noqa: PLW2901 - of this span
        if end <= position:
            continue
        out += (text[position:start], MARK, rule, "]")
        position = end
    out.append(text[position:])
    return "".join(out)


def _widened(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    while start > floor and not text[start - 1].isspace():
        start -= 1
    tail = _WORD_REST.match(text, end)
    return start, tail.end() if tail else end


def _merged(spans: list[Span]) -> Iterator[Span]:
    start, end, rule = spans[0]
    for next_start, next_end, next_rule in spans[1:]:
        if next_start < end:
            end = max(end, next_end)
            continue
        yield start, end, rule
        start, end, rule = next_start, next_end, next_rule
    yield start, end, rule


def _spans(text: str) -> Iterator[Span]:
    # Latin 1 with "?" for the rest keeps one byte a character: positions stay true.
    data = text.encode("latin-1", "replace")
    lowered = data.lower()
    words = _words(data)
    yield from _token_spans(text, data, words)
    tokens = b" ".join(lowered[start:end] for start, end in words)
    yield from context_spans(text, lowered, tokens)
    yield from assignment_spans(text, lowered)


def _words(data: bytes) -> list[tuple[int, int]]:
    """Return the places of the words that hold a run of token characters."""
    runs = data.translate(_TOKEN)
    run = runs.find(_RUN)
    if run < 0:
        return []
    found: list[tuple[int, int]] = []
    words = data.translate(_WORD)
    while run >= 0:
        end = words.find(b" ", run)
        if end < 0:
            end = len(words)
        found.append((words.rfind(b" ", 0, run) + 1, end))
        run = runs.find(_RUN, end)
    return found


def _token_spans(text: str, data: bytes, words: list[tuple[int, int]]) -> Iterator[Span]:
    for start, end in words:
        # A percent sign or backslash parts words, so an escape stands just before one.
        edge = data[max(0, start - 6) : start + 3]
        escaped = b"\\" in edge or b"%" in edge or b"[" in edge
        for match in (_TOKENS_ESCAPED if escaped else _TOKENS).finditer(text, start, end):
            yield (*match.span(), _rule_at(text, *match.span()))


def _rule_at(text: str, start: int, end: int) -> str:
    matches = (rule for rule, pattern in _BY_RULE if pattern.match(text, start, end))
    return next(matches)
