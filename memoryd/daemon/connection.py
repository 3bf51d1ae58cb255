"""The bytes of one connection: lines in, lines out, and when its patience ends."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from memoryd.daemon.calls import Call
from memoryd.protocol import MAX_REQUEST

READ_SIZE = 65536

# While a request is handled, this much of the next ones is read ahead; then the peer must wait.
READ_AHEAD = 65536

# Progress is news, not data: it is dropped for a peer that does not read.
PROGRESS_BACKLOG = 65536


@dataclass(frozen=True, slots=True)
class Limits:
    """What a peer may do.

    Attributes:
        connections: open at once; beyond, the longest idle one is closed.
        request_bytes: of a request line.
        request_s: seconds from its first byte to its newline.
        idle_s: seconds without a request, or without reading an answer.
        threads: requests handled at once besides the inline ones; the others wait their turn.
        waiters: requests that wait for something at once; more are refused as busy.
    """

    connections: int = 256
    request_bytes: int = MAX_REQUEST
    request_s: float = 10.0
    idle_s: float = 30.0
    threads: int = 3
    waiters: int = 8


@dataclass(slots=True)
class Active:
    """The request that a connection waits for."""

    call: Call
    ident: Any
    reply: bool
    waits: bool
    answered: bool = False


class TooLarge(Exception):  # noqa: N818 - read as a statement
    """A line went over the limit; its rest is skipped."""


class Connection:
    """State of one peer. Used by the loop's thread only."""

    def __init__(self, peer: socket.socket, limits: Limits, now: float) -> None:
        self.socket = peer
        self.active: Active | None = None
        self.ended = False  # The peer sends no more; it may still read.
        self.outgoing = bytearray()
        self.last_activity = now
        self.interest = 0  # What the selector watches for.
        self._limits = limits
        self._incoming = bytearray()
        self._searched = 0
        self._line_started: float | None = None
        self._skipping = False

    @property
    def wants_input(self) -> bool:
        """Whether more bytes are welcome now."""
        if self.ended:
            return False
        cap = READ_AHEAD if self.busy else self._limits.request_bytes + 1
        return self._skipping or len(self._incoming) <= cap

    @property
    def busy(self) -> bool:
        """Whether a request is being handled or its answer is not sent yet."""
        return self.active is not None or bool(self.outgoing)

    @property
    def idle(self) -> bool:
        """Whether nobody would lose anything but an unfinished line."""
        return not self.busy and not self.has_line

    @property
    def has_line(self) -> bool:
        """Whether a whole line waits, or the news that one was too large."""
        newline = self._incoming.find(b"\n", self._searched)
        if newline < 0:
            self._searched = len(self._incoming)
        return newline >= 0 or self._over_limit or self._last_line_ended

    @property
    def _last_line_ended(self) -> bool:
        """Whether the end of the peer's side stands for the newline of its last line."""
        return self.ended and bool(self._incoming) and not self._skipping

    @property
    def _over_limit(self) -> bool:
        return not self._skipping and len(self._incoming) > self._limits.request_bytes

    def receive(self, now: float) -> bool:
        """Read once. Returns false when the peer has ended its side."""
        data = self.socket.recv(READ_SIZE)
        if not data:
            self.ended = True
            return False
        self.last_activity = now
        if self._skipping:
            _, newline, data = data.partition(b"\n")
            if not newline:
                return True
            self._skipping = False
            self._line_started = None
        if data and self._line_started is None:
            self._line_started = now
        self._incoming += data
        return True

    def take_line(self, now: float) -> bytes | None:
        """Return the next line without its newline, or ``None`` if it is not complete.

        Raises:
            TooLarge: it exceeds the limit. The rest of it is skipped up to its newline.
        """
        newline = self._incoming.find(b"\n", self._searched)
        if newline < 0:
            self._searched = len(self._incoming)
            if self._over_limit:
                self._incoming.clear()
                self._searched = 0
                self._skipping = True
                raise TooLarge
            if not self._last_line_ended:
                return None
            newline = len(self._incoming)
        line = bytes(self._incoming[:newline])
        del self._incoming[: newline + 1]
        self._searched = 0
        self._line_started = now if self._incoming else None
        if len(line) > self._limits.request_bytes:
            raise TooLarge
        return line

    def send(self, line: bytes) -> None:
        """Queue a line for the peer."""
        self.outgoing += line

    def flush(self, now: float) -> None:
        """Send what the peer takes now."""
        while self.outgoing:
            try:
                sent = self.socket.send(self.outgoing)
            except BlockingIOError:
                return
            del self.outgoing[:sent]
            self.last_activity = now

    def expires(self) -> float | None:
        """Return the instant at which patience ends, or ``None`` while the service is at work."""
        if self.outgoing:
            return self.last_activity + self._limits.idle_s
        if self.active is not None:
            return self.active.call.deadline
        if self._line_started is not None:
            return self._line_started + self._limits.request_s
        return self.last_activity + self._limits.idle_s

    @property
    def in_line(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._line_started is not None
