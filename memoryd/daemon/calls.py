"""One request on its way: parsed, handled, answered. No sockets here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memoryd.clock import Clock
from memoryd.daemon.params import Params
from memoryd.errors import MemorydError, ProtocolError
from memoryd.protocol import MAX_REPLY, ErrorCode, encode, failure, progress, result

MAX_DEADLINE_MS = 24 * 3600 * 1000


class Call:
    """What a handler is given.

    Attributes:
        params: the parameters of the request.
        deadline: monotonic seconds after which nobody waits for the result, or ``None``.
        cancelled: set when nobody waits any longer: the deadline passed, the peer went away, or
            the service stops. Handlers that wait for something look at it.
    """

    def __init__(
        self,
        params: Params,
        *,
        deadline: float | None,
        clock: Clock,
        send_progress: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self.params = params
        self.deadline = deadline
        self.cancelled = threading.Event()
        self._clock = clock
        self._send_progress = send_progress

    def progress(self, **facts: Any) -> None:
        """Tell the peer how far it is; dropped when the peer does not read or left."""
        if not self.cancelled.is_set():
            self._send_progress(facts)

    def remaining_s(self, limit: float) -> float:
        """Return the seconds until the deadline, at most ``limit``, at least 0."""
        if self.deadline is None:
            return limit
        return max(0.0, min(limit, self.deadline - self._clock.monotonic()))


Handler = Callable[[Call], Any]
"""Returns the result. A generator yields facts for progress notifications and returns it."""


@dataclass(frozen=True, slots=True)
class Method:
    """Something that can be asked.

    Attributes:
        name: as on the wire.
        handler: does it.
        inline: runs on the loop itself: only what answers in microseconds and takes no lock.
        waits: may wait long for something; it gets a thread of its own, so that it never keeps
            others from being answered, and is cancelled when the service stops.
    """

    name: str
    handler: Handler
    inline: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request as read from the wire; a notification has ``reply=False``."""

    ident: Any
    reply: bool
    method: str
    params: dict[str, Any]
    deadline_ms: float | None


def parse_request(message: Any) -> Request:
    """Check the form of a decoded message.

    Raises:
        InvalidRequest: what is wrong, with the id to answer under.
    """
    if isinstance(message, list):
        raise InvalidRequest("batches are not supported: send one request a line", None)
    if not isinstance(message, dict):
        raise InvalidRequest("a request is a JSON object", None)
    ident = message.get("id")
    if ident is not None and (isinstance(ident, bool) or not isinstance(ident, str | int | float)):
        raise InvalidRequest("'id' must be a string or a number", None)
    if message.get("jsonrpc") != "2.0":
        raise InvalidRequest("'jsonrpc' must be \"2.0\"", ident)
    method = message.get("method")
    if not isinstance(method, str):
        raise InvalidRequest("'method' must be a string", ident)
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise InvalidRequest(
            "'params' must be an object: parameters go by name",
            ident,
            code=ErrorCode.INVALID_PARAMS,
        )
    deadline = params.pop("deadline_ms", None)
    if deadline is None:
        deadline = message.get("deadline_ms")
    if deadline is not None and (
        isinstance(deadline, bool)
        or not isinstance(deadline, int | float)
        or not 0 <= deadline <= MAX_DEADLINE_MS
    ):
        raise InvalidRequest(
            f"'deadline_ms' must be a number from 0 to {MAX_DEADLINE_MS}",
            ident,
            code=ErrorCode.INVALID_PARAMS,
        )
    return Request(ident, "id" in message, method, params, deadline)


class InvalidRequest(ProtocolError):  # noqa: N818 - read as a statement
    """A message that is no request."""

    def __init__(
        self, message: str, ident: Any, *, code: ErrorCode = ErrorCode.INVALID_REQUEST
    ) -> None:
        super().__init__(message, code=code)
        self.ident = ident


def handle(method: Method, call: Call, ident: Any, on_fault: Callable[[Exception], None]) -> bytes:
    """Run a handler and return the line that answers; never raises.

    Args:
        method: whose handler runs.
        call: passed to it.
        ident: id of the request.
        on_fault: told of errors that nobody raised on purpose.
    """
    try:
        value = method.handler(call)
        if isinstance(value, Iterator):
            value = _exhaust(value, call)
        line = encode(result(ident, value))
    except ProtocolError as error:
        return encode(refusal(ident, error))
    except MemorydError as error:
        data = {"hint": error.hint, "kind": type(error).__name__}
        return encode(failure(ident, ErrorCode.FAILED, str(error), data))
    except Exception as error:  # noqa: BLE001 - the edge: one bad request must not end the service
        on_fault(error)
        return encode(
            failure(
                ident,
                ErrorCode.INTERNAL,
                f"a fault of the service ({type(error).__name__})",
                {"hint": "its log has the details"},
            )
        )
    if len(line) > MAX_REPLY:
        message = f"the answer exceeds {MAX_REPLY >> 20} MiB"
        return encode(failure(ident, ErrorCode.TOO_LARGE, message, {"hint": "narrow the request"}))
    return line


def refusal(ident: Any, error: ProtocolError) -> dict[str, Any]:
    """Return the message that refuses with ``error``."""
    return failure(ident, error.code, str(error), {"hint": error.hint} if error.hint else None)


def progress_line(ident: Any, facts: Mapping[str, Any]) -> bytes:
    """Return the line of a progress notification."""
    return encode(progress(ident, facts))


def _exhaust(steps: Iterator[Any], call: Call) -> Any:
    while True:
        try:
            facts = next(steps)
        except StopIteration as end:
            return end.value
        call.progress(**facts)
