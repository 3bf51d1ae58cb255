"""The socket server: one thread that never blocks, and a few that handle what takes time.

Connections take turns, one request each. What a handler does on a thread comes back to the loop
as a posted function; only the loop touches connections.
"""

from __future__ import annotations

import functools
import os
import select
import selectors
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from structlog.typing import FilteringBoundLogger

from memoryd.clock import Clock
from memoryd.daemon.calls import (
    Call,
    InvalidRequest,
    Method,
    Request,
    handle,
    parse_request,
    progress_line,
    refusal,
)
from memoryd.daemon.connection import (
    PROGRESS_BACKLOG,
    Active,
    Connection,
    Limits,
    TooLarge,
)
from memoryd.daemon.failures import failure_facts
from memoryd.daemon.listener import Listener
from memoryd.daemon.params import Params
from memoryd.daemon.peers import BUSY_RETRY_S, Peers
from memoryd.daemon.pool import Pool
from memoryd.errors import ProtocolError
from memoryd.protocol import ErrorCode, decode, encode

TICK_S = 10.0
TOUCH_S = 3600.0


class Server:
    """Answers on a Unix socket.

    Args:
        listener: taken over; closed by ``stop``.
        methods: what can be asked.
        clock: for deadlines and patience.
        log: never given parameters or results.
        limits: what a peer may do.

    Attributes:
        last_tick: monotonic seconds of the loop's last turn; it turns at least every 10 s.
    """

    def __init__(
        self,
        listener: Listener,
        methods: Iterable[Method],
        *,
        clock: Clock,
        log: FilteringBoundLogger,
        limits: Limits | None = None,
    ) -> None:
        self.last_tick = clock.monotonic()
        self._listener = listener
        self._methods = {method.name: method for method in methods}
        self._clock = clock
        self._log = log
        self._limits = limits or Limits()
        self._pool = Pool(self._limits.threads)
        self._peers = Peers(listener, self._limits, clock=clock, log=log)
        self._waiters = 0
        self._posted: deque[Callable[[], None]] = deque()
        self._wake_in, self._wake_out = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="socket", daemon=True)
        self._next_touch = self.last_tick + TOUCH_S
        self._drain_until: float | None = None

    @property
    def path(self) -> str:
        """Where clients find the service."""
        return os.fspath(self._listener.path)

    def start(self) -> None:
        """Answer from now on."""
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._peers.selector.register(self._wake_in, selectors.EVENT_READ)
        self._peers.accept_from_now()
        self._thread.start()

    def stop(self, drain_s: float) -> None:
        """Accept nothing more, let requests in flight end within ``drain_s`` seconds, close.

        What is not answered by then gets the error ``SHUTTING_DOWN``.
        """
        self._post(functools.partial(self._begin_drain, self._clock.monotonic() + drain_s))
        self._thread.join()

    # The loop.

    def _run(self) -> None:
        while not self._drained():
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001 - one fault must not silence the service
                self._log.error("turn_failed", **failure_facts(error))
        self._pool.close()
        self._peers.close_all()
        self._wake_in.close()
        self._wake_out.close()

    def _turn(self) -> None:
        for key, events in self._peers.selector.select(self._patience()):
            if key.fileobj is self._wake_in:
                self._hush()
            elif key.fileobj is self._listener.socket:
                self._peers.accept()
            else:
                self._serve(key.data, events)
        for _ in range(len(self._posted)):  # What they post waits, so that all take turns.
            self._posted.popleft()()
        self._expire()

    def _post(self, task: Callable[[], None]) -> None:
        """Let the loop run ``task``; from any thread."""
        self._posted.append(task)
        try:
            self._wake_out.send(b"\0")
        except BlockingIOError:
            pass  # A wake-up is on its way already.
        except OSError:
            pass  # The loop has ended; nobody waits for the task.

    def _hush(self) -> None:
        try:
            while self._wake_in.recv(4096):
                pass
        except BlockingIOError:
            return

    def _patience(self) -> float:
        """Return the seconds until something is due without anybody speaking."""
        now = self._clock.monotonic()
        due = [now + TICK_S]
        due += [at for peer in self._peers.open if (at := peer.expires()) is not None]
        due += [at for at in (self._peers.accept_again, self._drain_until) if at is not None]
        return max(0.0, min(due) - now)

    def _expire(self) -> None:
        now = self.last_tick = self._clock.monotonic()
        for connection in list(self._peers.open):
            at = connection.expires()
            if at is None or at > now:
                continue
            active = connection.active
            if connection.outgoing or active is None:
                if connection.in_line and not connection.outgoing:
                    message = "the request line did not end in time"
                    self._peers.dismiss(connection, ErrorCode.DEADLINE, message)
                else:
                    self._peers.close(connection)
            else:
                active.call.cancelled.set()
                message = "the deadline passed before the answer was ready"
                error = ProtocolError(message, code=ErrorCode.DEADLINE)
                self._answer(connection, active, encode(refusal(active.ident, error)))
        if self._peers.accept_again is not None and now >= self._peers.accept_again:
            self._peers.accept_from_now()
        if now >= self._next_touch:
            self._next_touch = now + TOUCH_S
            if self._drain_until is None and not self._listener.touch():
                self._log.error("socket_file_gone", path=self.path)

    # Requests.

    def _serve(self, connection: Connection, events: int) -> None:
        if connection not in self._peers.open:
            return  # Closed earlier in this turn.
        now = self._clock.monotonic()
        try:
            if events & selectors.EVENT_WRITE:
                connection.flush(now)
            if (
                events & selectors.EVENT_READ
                and connection.wants_input
                and not connection.receive(now)
                and _hung_up(connection.socket)
            ):
                self._peers.close(connection)
                return
        except BlockingIOError:
            pass
        except OSError:
            self._peers.close(connection)
            return
        self._advance(connection)

    def _advance(self, connection: Connection) -> None:
        """Handle the next line if it is there, then close or watch."""
        if not connection.busy:
            try:
                line = connection.take_line(self._clock.monotonic())
            except TooLarge:
                message = f"a request may have {self._limits.request_bytes:,} bytes"
                self._refuse(connection, None, ProtocolError(message, code=ErrorCode.TOO_LARGE))
            else:
                if line is not None and line.strip():
                    self._begin(connection, line)
                elif line is not None:
                    self._post(functools.partial(self._advance_if_open, connection))
        if connection not in self._peers.open:
            return
        if connection.ended and not connection.busy and not connection.has_line:
            self._peers.close(connection)
        else:
            self._peers.watch(connection)

    def _advance_if_open(self, connection: Connection) -> None:
        if connection in self._peers.open:
            self._advance(connection)

    def _begin(self, connection: Connection, line: bytes) -> None:
        try:
            request = parse_request(decode(line))
        except InvalidRequest as error:
            self._refuse(connection, error.ident, error)
            return
        except ProtocolError as error:
            self._refuse(connection, None, error)
            return
        method = self._methods.get(request.method)
        problem: ProtocolError | None = None
        if self._drain_until is not None:
            problem = ProtocolError("the service is stopping", code=ErrorCode.SHUTTING_DOWN)
        elif method is None:
            problem = ProtocolError("there is no such method", code=ErrorCode.METHOD_NOT_FOUND)
        elif method.waits and self._waiters >= self._limits.waiters:
            problem = ProtocolError("too many requests are waiting", code=ErrorCode.BUSY)
        if problem is not None or method is None:
            if request.reply and problem is not None:
                self._refuse(connection, request.ident, problem)
            else:
                self._post(functools.partial(self._advance_if_open, connection))
            return
        self._run_method(connection, method, request)

    def _refuse(self, connection: Connection, ident: Any, error: ProtocolError) -> None:
        message = refusal(ident, error)
        if error.code == ErrorCode.BUSY:
            message["error"].setdefault("data", {})["retry_after_s"] = BUSY_RETRY_S
        self._reply(connection, encode(message))

    def _run_method(self, connection: Connection, method: Method, request: Request) -> None:
        deadline = None
        if request.deadline_ms is not None:
            deadline = self._clock.monotonic() + request.deadline_ms / 1000
        call = Call(
            Params(request.params),
            deadline=deadline,
            clock=self._clock,
            send_progress=lambda facts: self._post(
                functools.partial(self._show_progress, connection, active, facts)
            ),
        )
        active = Active(call, request.ident, request.reply, method.waits)
        connection.active = active

        def work() -> None:
            # Work whose deadline passed, or whose peer left, while it waited for a thread.
            line = b""
            if not call.cancelled.is_set() or method.waits:
                line = handle(
                    method, call, request.ident, lambda error: self._fault(method.name, error)
                )
            self._post(functools.partial(self._finish, connection, active, line))

        if method.inline:
            line = handle(
                method, call, request.ident, lambda error: self._fault(method.name, error)
            )
            self._answer(connection, active, line)
        elif method.waits:
            self._waiters += 1
            threading.Thread(target=work, name=f"wait-{method.name}", daemon=True).start()
        else:
            self._pool.submit(work)

    def _fault(self, method: str, error: Exception) -> None:
        self._log.error("method_failed", method=method, **failure_facts(error))

    def _show_progress(
        self, connection: Connection, active: Active, facts: Mapping[str, Any]
    ) -> None:
        if active.answered or not active.reply or len(connection.outgoing) > PROGRESS_BACKLOG:
            return
        try:
            line = progress_line(active.ident, facts)
        except (TypeError, ValueError) as error:
            self._log.error("progress_not_json", **failure_facts(error))
            return
        self._transmit(connection, line)

    def _finish(self, connection: Connection, active: Active, line: bytes) -> None:
        if active.waits:
            self._waiters -= 1
        self._answer(connection, active, line)

    def _answer(self, connection: Connection, active: Active, line: bytes) -> None:
        """Send the answer unless the request was answered (its deadline) or its peer is gone."""
        if active.answered:
            return
        active.answered = True
        connection.active = None
        self._reply(connection, line if active.reply else b"")

    def _reply(self, connection: Connection, line: bytes) -> None:
        """Send a line; the peer's next request takes its turn after those of the others."""
        if line:
            self._transmit(connection, line)
        self._post(functools.partial(self._advance_if_open, connection))

    def _transmit(self, connection: Connection, line: bytes) -> None:
        connection.send(line)
        try:
            connection.flush(self._clock.monotonic())
        except OSError:
            self._peers.close(connection)
        else:
            self._peers.watch(connection)

    # The end.

    def _begin_drain(self, until: float) -> None:
        self._drain_until = until
        self._peers.accept_no_more()
        self._listener.close()
        for connection in list(self._peers.open):
            active = connection.active
            if active is not None and active.waits:
                active.call.cancelled.set()
            if connection.idle:
                self._peers.close(connection)
            else:
                self._advance(connection)

    def _drained(self) -> bool:
        if self._drain_until is None:
            return False
        for connection in list(self._peers.open):
            if connection.idle:
                self._peers.close(connection)
        if not self._peers.open:
            return True
        if self._clock.monotonic() < self._drain_until:
            return False
        error = ProtocolError("the service is stopping", code=ErrorCode.SHUTTING_DOWN)
        for connection in list(self._peers.open):
            if (active := connection.active) is not None:
                active.call.cancelled.set()
                self._answer(connection, active, encode(refusal(active.ident, error)))
        return True


def _hung_up(peer: socket.socket) -> bool:
    """Tell whether the peer is gone, not merely done with sending (as ``socat`` is)."""
    poll = select.poll()
    poll.register(peer, 0)
    return any(events & select.POLLHUP for _, events in poll.poll(0))
