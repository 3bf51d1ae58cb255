"""Making one JSON record small while it streams past, so that its envelope survives.

A record of many megabytes is one or two huge strings inside an ordinary envelope. Long strings are
cut, what lies deep or beyond a budget is dropped at a value's end, and the rest is copied: the
result is JSON again, with every field of the top level in its place.
"""

from __future__ import annotations

import re
from itertools import accumulate

TEXT_LIMIT = 64 * 1024
"""Bytes kept of one string."""

NESTED_BUDGET = 256 * 1024
"""Bytes kept below the top level of one object before further elements are dropped."""

SPARE_LIMIT = 1024
"""Bytes kept of a nested string after the budget is spent, and of a run of bare characters."""

OUTPUT_LIMIT = 1024 * 1024
"""Bytes kept in all; a line that needs more than this is not a record."""

DEPTH_LIMIT = 100
"""Levels kept; what is deeper becomes ``null``."""

_STRING_RUN = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_WHOLE_ESCAPES = re.compile(rb'(?:[^"\\]++|\\[^u]|\\u[0-9a-fA-F]{4})*+', re.DOTALL)
_HALF_CHARACTER = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}\Z"
    rb"|(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_NULS = re.compile(rb"\0++")
_BARE = re.compile(rb'[^"{}\[\],: \t\r\n\0]++')

# For passing over dropped values: what stands between strings, as classes of bytes, and the pairs
# that show that a record was torn there.
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_SPACES = b" \t\r\n"
_CLASSES = bytes(
    b"{"[0]
    if byte in b"{["
    else b"}"[0]
    if byte in b"}]"
    else b","[0]
    if byte in b",:"
    else byte
    if byte in b'"\0\\'
    else b"a"[0]
    for byte in range(256)
)
_IRREGULAR = (b'"{', b'"a', b'""', b"a{", b"}{", b"\0", b"\\")
_BEFORE_VALUE = b",{"
_STEPS = tuple({b"{"[0]: 1, b"}"[0]: -1}.get(byte, 0) for byte in range(256))
_SMALLEST, _LARGEST = 64, 256 * 1024

_QUOTE, _BACKSLASH, _NUL = 0x22, 0x5C, 0x00
_OPEN = {0x7B: 0x7D, 0x5B: 0x5D}
_BRACE = 0x7B
_CLOSE = frozenset(_OPEN.values())
_COMMA, _COLON = 0x2C, 0x3A
_PUNCTUATION = frozenset({_QUOTE, _COMMA, _COLON, _NUL, *_OPEN, *_CLOSE})
_AFTER_STRING = frozenset({_COMMA, _COLON, *_CLOSE})


class Shrinker:
    """Takes the bytes of one line in any pieces and keeps a small version of it.

    The result depends on the bytes alone, not on how they were cut. Objects that stand glued on
    the line stay separate objects; an object behind a torn one starts afresh.
    """

    def __init__(self) -> None:
        self._out = bytearray()
        self._closers: list[int] = []
        self._nested = 0
        self._dropped = 0
        self._in_string = False
        self._escaped = False
        self._text = bytearray()
        self._cut = False
        self._last = 0
        self._after_string = False
        self._value_ended = False
        self._bare = 0
        self._full = False
        self._window = _SMALLEST

    def feed(self, data: bytes) -> None:
        """Read further bytes of the line (no newline among them)."""
        pos, size = 0, len(data)
        while pos < size and not self._full:
            pos = self._string(data, pos) if self._in_string else self._structure(data, pos)

    def result(self) -> bytes:
        """Return the small version of what was read so far."""
        if self._in_string and not self._dropped:
            return bytes(self._out) + b'"' + bytes(self._text)
        return bytes(self._out)

    def _string(self, data: bytes, pos: int) -> int:
        if self._escaped:
            self._escaped = False
            self._keep_text(data, pos, pos + 1)
            return pos + 1
        found = _STRING_RUN.match(data, pos)
        end = found.end() if found else pos
        self._keep_text(data, pos, end)
        if end == len(data):
            return end
        if data[end] == _BACKSLASH:
            self._keep_text(data, end, end + 1)
            self._escaped = True
            return end + 1
        self._in_string = False
        self._after_string = True
        if not self._dropped:
            self._emit(b'"' + self._whole_text() + b'"')
        return end + 1

    def _keep_text(self, data: bytes, start: int, end: int) -> None:
        if end == start:
            return
        self._last = data[end - 1]
        if self._dropped:
            return
        spent = self._nested >= NESTED_BUDGET and len(self._closers) > 1
        room = (SPARE_LIMIT if spent else TEXT_LIMIT) - len(self._text)
        if end - start > room:
            self._cut = True
            end = start + max(room, 0)
        self._text += data[start:end]

    def _whole_text(self) -> bytes:
        """Return the kept part of a string, cut so that no character is left half."""
        if not self._cut:
            return bytes(self._text)
        found = _WHOLE_ESCAPES.match(self._text)
        return _HALF_CHARACTER.sub(rb"\1", self._text[: found.end() if found else 0])

    def _structure(self, data: bytes, pos: int) -> int:
        if self._dropped and not self._after_string:
            passed = self._pass_over(data, pos)
            if passed > pos:
                return passed
        found = _SPACE.match(data, pos)
        pos = found.end() if found else pos
        if pos == len(data):
            return pos
        byte = data[pos]
        if self._after_string:
            self._after_string = False
            self._value_ended = True
            if byte not in _AFTER_STRING and self._last == _BRACE:
                # The string swallowed the start of the next record: `"torn{"uuid":...`.
                self._restart()
                self._open(_BRACE)
                self._begin_string()
                return pos
        if byte in _PUNCTUATION:
            self._punctuation(byte)
            return self._after_nul(data, pos) if byte == _NUL else pos + 1
        return self._bare_run(data, pos)

    def _after_nul(self, data: bytes, pos: int) -> int:
        """Pass over a run of NUL at once: a crash may leave many megabytes of it."""
        found = _NULS.match(data, pos)
        return found.end() if found else pos + 1

    def _pass_over(self, data: bytes, pos: int) -> int:
        """Skip dropped values at once where they are regular and do not end the dropping."""
        while True:
            between, size = _between_strings(data[pos : pos + self._window])
            if size and self._passes(between.translate(_CLASSES, _SPACES)):
                self._window = min(2 * self._window, _LARGEST)
                return pos + size
            if self._window == _SMALLEST:
                return pos
            self._window = max(self._window // 4, _SMALLEST)

    def _passes(self, classes: bytes) -> bool:
        begins_anew = self._value_ended and classes[:1] == b"{"
        if begins_anew or any(pair in classes for pair in _IRREGULAR):
            return False
        brackets = classes.translate(None, b'a,"')
        depths = list(accumulate(map(_STEPS.__getitem__, brackets)))
        if self._dropped + min(depths, default=0) <= 0:
            return False
        self._dropped += depths[-1] if depths else 0
        if classes:
            self._value_ended = classes[-1] not in _BEFORE_VALUE
        return True

    def _punctuation(self, byte: int) -> None:
        self._bare = 0
        if byte == _QUOTE:
            self._begin_string()
        elif byte in _OPEN:
            self._open(byte)
        elif byte in _CLOSE:
            self._close(byte)
        elif byte == _COMMA:
            self._comma()
        elif byte == _COLON:
            self._value_ended = False
            self._emit_kept(b":")
        elif not self._out.endswith(b"\0"):
            self._emit_kept(b"\0")

    def _begin_string(self) -> None:
        self._in_string = True
        self._text.clear()
        self._cut = False
        self._last = 0

    def _bare_run(self, data: bytes, pos: int) -> int:
        found = _BARE.match(data, pos)
        end = found.end() if found else pos + 1
        room = max(SPARE_LIMIT - self._bare, 0)
        self._bare += end - pos
        self._value_ended = True
        self._emit_kept(data[pos : min(end, pos + room)])
        return end

    def _open(self, byte: int) -> None:
        if self._value_ended and byte == _BRACE and self._closers:
            self._restart()
        if not self._closers:
            self._nested = 0
        self._value_ended = False
        if self._dropped:
            self._dropped += 1
        elif len(self._closers) >= DEPTH_LIMIT:
            self._emit(b"null")
            self._dropped = 1
        else:
            self._emit(bytes((byte,)))
            self._closers.append(_OPEN[byte])

    def _close(self, byte: int) -> None:
        self._value_ended = True
        if self._dropped:
            self._dropped -= 1
            return
        self._emit(bytes((byte,)))
        if self._closers:
            self._closers.pop()

    def _comma(self) -> None:
        self._value_ended = False
        if self._dropped:
            return
        if self._nested >= NESTED_BUDGET and len(self._closers) > 1:
            inner = self._closers[1:]
            self._emit(bytes(reversed(inner)))
            del self._closers[1:]
            self._dropped = len(inner)
        else:
            self._emit(b",")

    def _restart(self) -> None:
        """Leave the torn object as it is: what comes now is a new one."""
        self._dropped = 0
        self._closers.clear()
        self._value_ended = False

    def _emit_kept(self, piece: bytes) -> None:
        if not self._dropped:
            self._emit(piece)

    def _emit(self, piece: bytes) -> None:
        if len(self._out) + len(piece) > OUTPUT_LIMIT:
            self._full = True
            return
        self._out += piece
        if len(self._closers) > 1:
            self._nested += len(piece)


def _between_strings(window: bytes) -> tuple[bytes, int]:
    """Return what stands between strings, each string as one quote, and how far that reaches.

    A string counts when it is whole and its successor is visible.
    """
    if b"\\" in window:
        window = _ESCAPE.sub(rb"\\\\", window)
    parts = window.split(b'"')
    size = len(window)
    if len(parts) % 2 == 0:
        size -= len(parts.pop()) + 1
    while len(parts) > 1 and not parts[-1].strip(_SPACES):
        size -= len(parts.pop()) + len(parts.pop()) + 2
    return b'"'.join(parts[::2]), size


def shrunk(data: bytes) -> bytes:
    """Return a small version of a whole line."""
    shrinker = Shrinker()
    shrinker.feed(data)
    return shrinker.result()
