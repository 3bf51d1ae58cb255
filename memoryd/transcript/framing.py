"""Bytes to lines: split at the newline byte alone, in bounded memory, with positions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from memoryd.transcript.shrink import Shrinker

MAX_RECORD = 8 * 2**20
"""Bytes of a line that are held; a longer one is shrunk while it is read."""

_STEP = 256 * 1024
_OPENING, _CLOSING = b"{}"


class Line(Struct, frozen=True, gc=False):
    """One line.

    Attributes:
        start: position of its first byte in the file.
        end: position after its newline (or after its last byte, for an unterminated tail).
        data: its bytes without the newline; a small version of them where ``oversize``.
        oversize: it was longer than the framer's ``max_record``.
    """

    start: int
    end: int
    data: bytes
    oversize: bool = False


def braced_lines(chunk: bytes, start: int, end: int) -> list[int] | None:
    """Return where the lines between two positions end, if each looks like one JSON object.

    No JSON value reaches over the newline between two such lines: inside an object or a list no
    opening brace follows a closing one.

    Args:
        chunk: holds them.
        start: the beginning of the first line.
        end: after the newline of the last one.

    Returns:
        The positions after the newlines; ``None`` if a line does not begin and end with a brace.
    """
    ends = []
    find = chunk.find
    while start < end:
        newline = find(b"\n", start)
        if chunk[start] != _OPENING or chunk[newline - 1] != _CLOSING:
            return None
        start = newline + 1
        ends.append(start)
    return ends


class LineFramer:
    r"""Splits a stream of chunks into lines; any way of cutting gives the same lines.

    U+2028, U+0085 and carriage returns occur inside records, so only ``\n`` ends a line.

    Attributes:
        offset: position after the last complete line.
    """

    def __init__(self, offset: int = 0, *, max_record: int = MAX_RECORD) -> None:
        self.offset = offset
        self._max = max_record
        self._held = bytearray()
        self._shrinker: Shrinker | None = None
        self._pending = 0

    @property
    def pending_bytes(self) -> int:
        """Bytes after the last complete line."""
        return self._pending

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that ``chunk`` completes; exhaust it before the next call."""
        pos = 0
        while (newline := chunk.find(b"\n", pos)) >= 0:
            if self._pending or newline - pos > self._max:
                self._hold(chunk, pos, newline)
                line = self._line(newline=1)
                self._forget()
            else:
                end = self.offset + newline - pos + 1
                line = Line(self.offset, end, chunk[pos:newline])
            pos = newline + 1
            self.offset = line.end
            yield line
        if pos < len(chunk):
            self._hold(chunk, pos, len(chunk))

    def skip(self, count: int) -> None:
        """Count bytes of whole lines that were read otherwise; nothing may be pending."""
        self.offset += count

    def tail(self) -> Line | None:
        """Return what stands after the last complete line, without taking it."""
        return self._line(newline=0) if self._pending else None

    def take_tail(self) -> None:
        """Count the tail as a line: what follows begins a new one."""
        self.offset += self._pending
        self._forget()

    def _line(self, *, newline: int) -> Line:
        end = self.offset + self._pending + newline
        if self._shrinker is not None:
            return Line(self.offset, end, self._shrinker.result(), oversize=True)
        return Line(self.offset, end, bytes(self._held))

    def _forget(self) -> None:
        self._pending = 0
        self._held = bytearray()
        self._shrinker = None

    def _hold(self, chunk: bytes, start: int, end: int) -> None:
        self._pending += end - start
        if self._shrinker is None and self._pending <= self._max:
            self._held += chunk[start:end]
            return
        if self._shrinker is None:
            self._shrinker = Shrinker()
            for pos in range(0, len(self._held), _STEP):
                self._shrinker.feed(bytes(self._held[pos : pos + _STEP]))
            self._held = bytearray()
        for pos in range(start, end, _STEP):
            self._shrinker.feed(chunk[pos : min(pos + _STEP, end)])
