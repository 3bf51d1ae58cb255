"""Ask the service: the Python client of the socket (standard library only).

Example:
    >>> from memoryd.client import Client
    >>> with Client() as memory:                                    # doctest: +SKIP
    ...     answer = memory.recall("which database do we use?", cwd="/home/me/shop")
    ...     print(answer["text"])
"""

from __future__ import annotations

# The C part alone: ``socket`` would load enum tables and selectors, 5 ms of a cold client.
import _socket as socket
import os
import time

from memoryd.errors import ProtocolError, ServiceNotRunning
from memoryd.locations import socket_path
from memoryd.protocol import MAX_REPLY, ErrorCode, MethodName, decode, encode, request

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    OnProgress = Callable[[Mapping[str, Any]], None]

START_HINT = "start it with: memoryd start"
RESTART_HINT = "see its log, or: memoryd restart"

# A full accept queue answers EAGAIN at once; this is how long to wait before asking again.
_BACKLOG_PAUSE_S = 0.005


class Client:
    """A connection to the service, made at the first call and made again when it was closed.

    Not for several threads at once: give each its own.

    Args:
        path: the socket; by default where the environment says.
        timeout: seconds that a call may take, connecting included.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, timeout: float = 10.0) -> None:
        self.path = os.fspath(path) if path is not None else socket_path(os.environ)
        self.timeout = timeout
        self._socket: socket.socket | None = None
        self._buffer = bytearray()
        self._last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the next call makes a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._buffer.clear()

    def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        deadline_ms: int | None = None,
        on_progress: OnProgress | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Ask and wait for the result.

        Args:
            method: one of ``memoryd.protocol.MethodName``.
            params: its parameters by name.
            deadline_ms: the service gives up after this many milliseconds.
            on_progress: called with the facts of each progress notification.
            timeout: seconds for this call instead of the client's own.

        Raises:
            ServiceNotRunning: nobody answers, or not in time, or the service is stopping.
            ProtocolError: the service refused; ``code`` says why.
        """
        seconds = self.timeout if timeout is None else timeout
        give_up = time.monotonic() + seconds
        self._last_id += 1
        ident = self._last_id
        parameters = dict(params or {})
        if deadline_ms is not None:
            parameters["deadline_ms"] = deadline_ms
        line = encode(request(ident, method, parameters))
        reused = False
        try:
            try:
                reused = self._send(line, give_up)
                return self._await(ident, on_progress, give_up)
            except ConnectionResetError:
                # The service closed the idle connection before it read the request: a reset
                # says so, while an end of the connection would leave it open.
                if not reused:
                    raise
                self.close()
                self._send(line, give_up)
                return self._await(ident, on_progress, give_up)
        except TimeoutError:
            self.close()
            raise ServiceNotRunning(
                f"the service did not answer within {seconds:g} s", hint=RESTART_HINT
            ) from None
        except OSError as error:
            self.close()
            raise ServiceNotRunning(
                f"the connection to the service broke: {error.strerror or error}", hint=RESTART_HINT
            ) from None

    def _await(self, ident: int, on_progress: OnProgress | None, give_up: float) -> Any:
        """Return the result, passing on the progress that comes before it."""
        while True:
            message = self._receive(give_up)
            if message.get("method") != "progress" or "id" in message:
                return self._result(message, ident)
            if on_progress is not None:
                on_progress(message.get("params", {}))

    def _result(self, message: Mapping[str, Any], ident: int) -> Any:
        """Return what the answer holds, or raise what it refuses with."""
        if message.get("id") not in (ident, None):
            self.close()
            raise ProtocolError(
                "the answer belongs to another request", code=ErrorCode.INVALID_REQUEST
            )
        error = message.get("error")
        if error is None:
            return message.get("result")
        if message.get("id") is None:  # Said to the connection, which ends with it.
            self.close()
        code = int(error.get("code", ErrorCode.INTERNAL))
        if code == ErrorCode.SHUTTING_DOWN:
            raise ServiceNotRunning("memoryd is stopping", hint=START_HINT)
        raise ProtocolError(
            str(error.get("message", "")),
            code=code,
            hint=str((error.get("data") or {}).get("hint", "")),
        )

    def _send(self, line: bytes, give_up: float) -> bool:
        """Send on the open connection, or on a new one if the service closed that meanwhile.

        Returns:
            whether it was the open one.
        """
        if self._socket is not None and not self._is_quiet(self._socket):
            self.close()
        if self._socket is not None:
            try:
                self._socket.settimeout(_left(give_up))
                self._socket.sendall(line)
            except (BrokenPipeError, ConnectionResetError):
                self.close()
            else:
                return True
        self._socket = self._connect(give_up)
        self._socket.settimeout(_left(give_up))
        try:  # noqa: SIM105 - contextlib is not worth its import to a cold client
            self._socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            pass  # A refusal before the request was read is on its way back.
        return False

    @staticmethod
    def _is_quiet(connection: socket.socket) -> bool:
        """Tell whether nothing waits to be read: between calls, only a farewell can."""
        connection.setblocking(False)
        try:
            connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _connect(self, give_up: float) -> socket.socket:
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(_left(give_up))
                connection.connect(self.path)
            except BlockingIOError:
                connection.close()
                time.sleep(_BACKLOG_PAUSE_S)
            except TimeoutError:
                connection.close()
                raise
            except OSError as error:
                connection.close()
                raise ServiceNotRunning(
                    f"memoryd is not running (no answer at {self.path}: {error.strerror or error})",
                    hint=START_HINT,
                ) from None
            else:
                return connection

    def _receive(self, give_up: float) -> dict[str, Any]:
        connection = self._socket
        if connection is None:  # A progress callback closed the client.
            raise ServiceNotRunning("the connection was closed", hint=START_HINT)
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > MAX_REPLY:
                self.close()
                raise ProtocolError("the answer is too large", code=ErrorCode.TOO_LARGE)
            connection.settimeout(_left(give_up))
            data = connection.recv(65536)
            if not data:
                raise ConnectionAbortedError("closed without an answer")
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message = decode(line)
        if not isinstance(message, dict):
            self.close()
            raise ProtocolError("the answer is not an object", code=ErrorCode.INVALID_REQUEST)
        return message

    def hello(self) -> Any:
        """Return protocol, version and process id of the service."""
        return self.call(MethodName.HELLO)

    def status(self) -> Any:
        """Return what ``memoryctl status --json`` prints."""
        return self.call(MethodName.STATUS)

    def wait(self, timeout_s: float = 60.0) -> bool:
        """Wait until everything written before this call is handled; false at the timeout."""
        answer = self.call(
            MethodName.WAIT, {"timeout_s": timeout_s}, timeout=timeout_s + self.timeout
        )
        return bool(answer["done"])

    def recall(self, query: str, **params: Any) -> Any:
        """Return the memories that help with ``query``, and ``text`` ready to inject."""
        return self.call(MethodName.RECALL, {"query": query, **params})

    def recall_start(self, query: str, *, cwd: str, session: str, turn_id: str) -> str:
        """Begin to look for what helps with a prompt; returns the ticket for `recall_collect`."""
        params = {"query": query, "cwd": cwd, "session": session, "turn_id": turn_id}
        return str(self.call(MethodName.RECALL_START, params)["ticket"])

    def recall_collect(self, ticket: str) -> Any:
        """Return what was found, once, as far as it is ready: this never waits for a search."""
        return self.call(MethodName.RECALL_COLLECT, {"ticket": ticket})

    def remember(self, text: str, **params: Any) -> Any:
        """Keep ``text`` as a memory; returns what changed."""
        return self.call(MethodName.REMEMBER, {"text": text, **params})

    def forget(self, query: str, **params: Any) -> Any:
        """Remove the one memory that ``query`` names or clearly means."""
        return self.call(MethodName.FORGET, {"query": query, **params})

    def guide(self) -> str:
        """Return the text that tells an agent how to use its memory, for its system prompt."""
        return str(self.call(MethodName.GUIDE)["text"])

    def summary(self, session: str | None = None, **params: Any) -> Any:
        """Return the summary of a session, brought up to date; of the project's newest if unnamed.

        Args:
            session: its id, or how the id begins.
            params: ``project`` or ``cwd``, ``refresh``.
        """
        named = {} if session is None else {"session": session}
        return self.call(MethodName.SUMMARY, {**named, **params})

    def search(self, query: str, **params: Any) -> Any:
        """Search the transcripts."""
        return self.call(MethodName.SEARCH, {"query": query, **params})


def _left(give_up: float) -> float:
    """Return the seconds until ``give_up``.

    Raises:
        TimeoutError: it has passed.
    """
    seconds = give_up - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
