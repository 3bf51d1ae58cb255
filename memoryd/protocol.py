"""The language of the socket: names, numbers, limits, and messages as bytes.

Newline-delimited JSON-RPC 2.0. Shared by the service and its clients; standard library only.
``memoryctl help protocol`` describes every method.
"""

from __future__ import annotations

import json
import time
from enum import IntEnum, StrEnum

from memoryd.errors import ProtocolError

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROTOCOL_VERSION = 1

MAX_REQUEST = 1 << 20
"""Bytes of a request line, newline not counted."""

MAX_REPLY = 64 << 20
"""Bytes of a line that the service sends."""


class MethodName(StrEnum):
    """What can be asked."""

    HELLO = "hello"
    STATUS = "status"
    WAIT = "wait"
    RECALL = "recall"
    RECALL_START = "recall.start"
    RECALL_COLLECT = "recall.collect"
    REMEMBER = "memory.remember"
    FORGET = "memory.forget"
    LIST = "memory.list"
    SHOW = "memory.show"
    LOG = "memory.log"
    UNDO = "memory.undo"
    GUIDE = "memory.guide"
    SUMMARY = "session.summary"
    SEARCH = "search"
    SESSIONS = "sessions"
    PROJECTS = "projects"
    JOBS_LIST = "jobs.list"
    JOBS_SHOW = "jobs.show"
    JOBS_WHY = "jobs.why"
    JOBS_RETRY = "jobs.retry"
    JOBS_CANCEL = "jobs.cancel"
    PAUSE = "pause"
    RESUME = "resume"
    HOOK = "hook"
    METRICS = "metrics"
    SHUTDOWN = "shutdown"


class ErrorCode(IntEnum):
    """Why a request was not answered with a result."""

    PARSE = -32700
    """The line is not JSON, or is nested too deeply."""
    INVALID_REQUEST = -32600
    """The JSON is not a request, or it is a batch."""
    METHOD_NOT_FOUND = -32601
    """There is no such method."""
    INVALID_PARAMS = -32602
    """A parameter is missing or of the wrong type."""
    INTERNAL = -32603
    """A fault of the service; its log says more."""
    FAILED = -32000
    """It could not be done; the message says why, ``data.hint`` what to do."""
    VERSION = -32001
    """The service speaks another version of the protocol; the message names it."""
    SHUTTING_DOWN = -32002
    """The service is stopping."""
    BUSY = -32003
    """Too much at once; try again after ``data.retry_after_s`` seconds."""
    TOO_LARGE = -32004
    """The request or its answer exceeds the limit."""
    DEADLINE = -32005
    """The deadline of the request passed first."""
    FORBIDDEN = -32006
    """The peer is another user."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line, newline included.

    Raises:
        TypeError, ValueError: it holds something that JSON does not know.
    """
    # Allowing no NaN keeps every line readable for parsers that follow the standard.
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # A file name that is not UTF-8: escapes carry it unharmed.
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def decode(line: bytes | bytearray) -> Any:
    """Return the JSON value of a line.

    Raises:
        ProtocolError: ``PARSE``; the text of the line is not repeated in the message.
    """
    try:
        return json.loads(line, parse_constant=_no_constant)
    except RecursionError:
        raise ProtocolError("the JSON is nested too deeply", code=ErrorCode.PARSE) from None
    except ValueError as error:  # Also text that is not UTF-8 and numbers without end.
        at = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise ProtocolError(f"the line is not JSON{at}", code=ErrorCode.PARSE) from None


def request(
    ident: int | str | None, method: str, params: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a request, or without ``ident`` a notification, which is never answered."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
    if ident is not None:
        message["id"] = ident
    return message


def result(ident: Any, value: Any) -> dict[str, Any]:
    """Return the answer to request ``ident``."""
    return {"jsonrpc": "2.0", "id": ident, "result": value}


def failure(
    ident: Any, code: int, message: str, data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the refusal of request ``ident`` (``None``: it could not be read)."""
    error: dict[str, Any] = {"code": int(code), "message": message}
    if data:
        error["data"] = dict(data)
    return {"jsonrpc": "2.0", "id": ident, "error": error}


def progress(ident: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notification of how far request ``ident`` is."""
    return {"jsonrpc": "2.0", "method": "progress", "params": {**facts, "id": ident}}


def instant(seconds: float | None) -> str | None:
    """Return seconds since 1970 as the protocol writes them: ``2026-12-01T12:00:00Z``."""
    if seconds is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
