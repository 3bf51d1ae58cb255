"""Who is connected: letting in, making room, sending away. Used by the loop's thread only."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import socket

from structlog.typing import FilteringBoundLogger

from memoryd.clock import Clock
from memoryd.daemon.calls import refusal
from memoryd.daemon.connection import Connection, Limits
from memoryd.daemon.listener import Listener, peer_uid
from memoryd.errors import ProtocolError
from memoryd.protocol import ErrorCode, encode

BUSY_RETRY_S = 1.0

_ACCEPTS_PER_TURN = 64
_ACCEPT_PAUSE_S = 0.5


class Peers:
    """The open connections and what the selector watches of them.

    Attributes:
        selector: shared with the loop.
        open: every connection.
        accept_again: monotonic seconds at which a pause in accepting ends, or ``None``.
    """

    def __init__(
        self, listener: Listener, limits: Limits, *, clock: Clock, log: FilteringBoundLogger
    ) -> None:
        self.selector = selectors.DefaultSelector()
        self.open: set[Connection] = set()
        self.accept_again: float | None = None
        self._listener = listener
        self._limits = limits
        self._clock = clock
        self._log = log
        self._accepting = False

    def accept_from_now(self) -> None:
        """Let new peers in."""
        self.accept_again = None
        if not self._accepting:
            self.selector.register(self._listener.socket, selectors.EVENT_READ)
            self._accepting = True

    def accept_no_more(self) -> None:
        """Let nobody in until told otherwise."""
        self.accept_again = None
        if self._accepting:
            self.selector.unregister(self._listener.socket)
            self._accepting = False

    def accept(self) -> None:
        """Let in who waits at the door, some at a time."""
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                peer, _ = self._listener.socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:  # Mostly: no more file descriptors.
                self._log.warning("accept_failed", error=errno.errorcode.get(error.errno or 0, "?"))
                if not self._make_room():
                    self.accept_no_more()
                    self.accept_again = self._clock.monotonic() + _ACCEPT_PAUSE_S
                return
            self._welcome(peer)

    def _welcome(self, peer: socket.socket) -> None:
        peer.setblocking(False)
        uid = peer_uid(peer)
        room = len(self.open) < self._limits.connections or self._make_room()
        connection = Connection(peer, self._limits, self._clock.monotonic())
        self.open.add(connection)
        if uid != os.geteuid():
            self._log.warning("peer_refused", uid=uid)
            self.dismiss(connection, ErrorCode.FORBIDDEN, "this service belongs to another user")
        elif not room:
            self.dismiss(connection, ErrorCode.BUSY, "too many connections at work")
        else:
            self.watch(connection)

    def _make_room(self) -> bool:
        """Send away whoever has been idle longest; false when all are being served."""
        idle = [peer for peer in self.open if peer.idle]
        if not idle:
            return False
        longest = min(idle, key=lambda peer: peer.last_activity)
        self.dismiss(longest, ErrorCode.BUSY, "closed to make room: too many connections")
        return True

    def dismiss(self, connection: Connection, code: ErrorCode, message: str) -> None:
        """Say why, as far as the peer takes it at once, and close."""
        farewell = refusal(None, ProtocolError(message, code=code))
        if code is ErrorCode.BUSY:
            farewell["error"]["data"] = {"retry_after_s": BUSY_RETRY_S}
        connection.send(encode(farewell))
        with contextlib.suppress(OSError):  # It left before it was told.
            connection.flush(self._clock.monotonic())
        self.close(connection)

    def close(self, connection: Connection) -> None:
        """End a connection; what it asked for is cancelled."""
        if connection.active is not None:
            connection.active.call.cancelled.set()
            connection.active.answered = True
            connection.active = None
        if connection.interest:
            self.selector.unregister(connection.socket)
            connection.interest = 0
        self.open.discard(connection)
        connection.socket.close()

    def close_all(self) -> None:
        """End every connection and the selector."""
        for connection in list(self.open):
            self.close(connection)
        self.selector.close()

    def watch(self, connection: Connection) -> None:
        """Tell the selector what the connection waits for now."""
        wanted = selectors.EVENT_READ if connection.wants_input else 0
        if connection.outgoing:
            wanted |= selectors.EVENT_WRITE
        if wanted == connection.interest:
            return
        if not wanted:
            self.selector.unregister(connection.socket)
        elif connection.interest:
            self.selector.modify(connection.socket, wanted, connection)
        else:
            self.selector.register(connection.socket, wanted, connection)
        connection.interest = wanted
