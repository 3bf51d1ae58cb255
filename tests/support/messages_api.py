"""A scripted stand-in of the Messages API, on a port of the loopback interface.

Which answer a request gets: the first rule whose pattern is found in what the person said last,
else the next of the queue, else the default. Every request is kept as it came.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, assert_never
from urllib.parse import urlsplit

_HOLD_S = 60.0
_DELTA = 400
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """Something the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the model calls; an empty ``ident`` is filled in."""

    name: str
    input: Mapping[str, Any]
    ident: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that an answer reports."""

    input_tokens: int = 1200
    output_tokens: int = 40
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def facts(self) -> dict[str, int]:
        """Return the object of the API."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_creation_input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "output_tokens": self.output_tokens,
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the model.

    Attributes:
        blocks: its content.
        stop_reason: ``None`` for the one that fits the blocks.
        usage: what it reports.
        hold: the answer begins when this is set.
        events: only so many events of the stream are sent, then the connection ends; ``None``: all.
    """

    blocks: tuple[Text | ToolUse, ...]
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    hold: threading.Event | None = None
    events: int | None = None

    @property
    def reason(self) -> str:
        """The stop reason that is sent."""
        if self.stop_reason is not None:
            return self.stop_reason
        calls = any(isinstance(block, ToolUse) for block in self.blocks)
        return "tool_use" if calls else "end_turn"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the API, such as ``Failure(529, "overloaded_error", "Overloaded")``."""

    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


Answer = Reply | Failure


def says(text: str, **more: Any) -> Reply:
    """Return an answer of one text block; ``more`` are attributes of ``Reply``."""
    return Reply((Text(text),), **more)


def calls(name: str, **arguments: Any) -> Reply:
    """Return an answer that calls one tool."""
    return Reply((ToolUse(name, arguments),))


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came.

    Attributes:
        method, path: of HTTP; the path without its query.
        headers: with names in lower case.
        body: the parsed JSON, an empty object without one.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def said(self) -> str:
        """What the person said last: the newest text of a user message, without reminders."""
        for message in reversed(self.body.get("messages", ())):
            if message["role"] != "user":
                continue
            texts = [
                left
                for text in _texts(message["content"])
                if (left := _REMINDER.sub("", text).strip())
            ]
            if texts:
                return texts[-1]
        return ""

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model may call."""
        return [tool["name"] for tool in self.body.get("tools", ())]

    def texts(self, *roles: str) -> list[str]:
        """Return every text in the messages of these roles (all, if none is named), in order."""
        return [
            text
            for message in self.body.get("messages", ())
            if not roles or message["role"] in roles
            for text in _texts(message["content"])
        ]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        match block.get("type"):
            case "text":
                yield block["text"]
            case "tool_result":
                yield from _results(block.get("content"))


def _results(content: Any) -> Iterator[str]:
    """Yield texts of a tool's result, marked so that they are not what a person said."""
    for text in _texts(content):
        yield f"<system-reminder>{text}</system-reminder>"


class _Rule:
    def __init__(self, pattern: str, answers: Iterable[Answer]) -> None:
        self.pattern = re.compile(pattern)
        self.answers = iter(answers)


class MessagesApi:
    """The stand-in; use it as a context manager.

    Attributes:
        default: the answer where no rule and nothing queued is left.
        requests: of ``POST /v1/messages``, in the order they came.
        others: everything else that was asked.
        on_request: called in the serving thread before each answer.
    """

    def __init__(self, default: Answer | None = None) -> None:
        self.default: Answer = default or says("Understood.")
        self.requests: list[Request] = []
        self.others: list[Request] = []
        self.on_request: Callable[[Request], None] = lambda _: None
        self._rules: list[_Rule] = []
        self._queue: deque[Answer] = deque()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="messages-api"
        )

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def when(self, pattern: str, *answers: Answer) -> None:
        """Answer requests in which a person said ``pattern`` last with these, one after another."""
        with self._lock:
            self._rules.append(_Rule(pattern, answers))

    def whenever(self, pattern: str, answer: Answer) -> None:
        """Answer every request in which a person said ``pattern`` last with this."""
        with self._lock:
            self._rules.append(_Rule(pattern, itertools.repeat(answer)))

    def queue(self, *answers: Answer) -> None:
        """Give these answers next, where no rule fits."""
        with self._lock:
            self._queue.extend(answers)

    def take(self, request: Request) -> Answer:
        """Keep a request and return its answer."""
        with self._lock:
            self.requests.append(request)
            said = request.said
            for rule in self._rules:
                if rule.pattern.search(said) and (answer := next(rule.answers, None)):
                    return answer
            return self._queue.popleft() if self._queue else self.default

    def number(self) -> int:
        """Return a number for an identifier."""
        return next(self._numbers)


class _Server(ThreadingHTTPServer):
    # A client that was killed leaves a connection open that no test waits for.
    daemon_threads = True
    block_on_close = False
    api: MessagesApi

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Write nothing."""

    def do_HEAD(self) -> None:
        self._note({})
        self._head(200, {"content-length": "0"})

    def do_GET(self) -> None:
        self._note({})
        path = urlsplit(self.path).path
        if path == "/v1/models":
            self._json(200, {"data": [_model("claude-test")], "has_more": False})
        elif path.startswith("/v1/models/"):
            self._json(200, _model(path.rsplit("/", 1)[1]))
        else:
            self._error(Failure(404, "not_found_error", f"there is no {path}"))

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(text or b"{}")
        api, path = self.server.api, urlsplit(self.path).path
        if path == "/v1/messages/count_tokens":
            self._note(body)
            self._json(200, {"input_tokens": len(text) // 4})
        elif path == "/v1/messages":
            request = self._request(body)
            answer = api.take(request)
            api.on_request(request)
            if answer.hold is not None:
                answer.hold.wait(_HOLD_S)
            match answer:
                case Reply():
                    self._reply(answer, request)
                case Failure():
                    self._error(answer)
                case _:
                    assert_never(answer)
        else:
            self._note(body)
            self._error(Failure(404, "not_found_error", f"there is no {path}"))

    def _request(self, body: Mapping[str, Any]) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(self.command, urlsplit(self.path).path, headers, body)

    def _note(self, body: Mapping[str, Any]) -> None:
        self.server.api.others.append(self._request(body))

    def _reply(self, reply: Reply, request: Request) -> None:
        message = self._message(reply, request)
        if not request.body.get("stream"):
            self._json(200, message)
            return
        events = list(_events(message))[: reply.events]
        stream = b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
        )
        # The end of the connection is the end of the stream, also of one that is cut short.
        self.close_connection = True
        self._head(200, {"content-type": "text/event-stream", "connection": "close"})
        self.wfile.write(stream)

    def _message(self, reply: Reply, request: Request) -> dict[str, Any]:
        return {
            "id": f"msg_{self.server.api.number():024d}",
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model", "claude-test"),
            "content": [self._block(block) for block in reply.blocks],
            "stop_reason": reply.reason,
            "stop_sequence": None,
            "usage": reply.usage.facts(),
        }

    def _block(self, block: Text | ToolUse) -> dict[str, Any]:
        match block:
            case Text():
                return {"type": "text", "text": block.text}
            case ToolUse():
                ident = block.ident or f"toolu_{self.server.api.number():024d}"
                arguments = dict(block.input)
                return {"type": "tool_use", "id": ident, "name": block.name, "input": arguments}
            case _:
                assert_never(block)

    def _error(self, failure: Failure) -> None:
        error = {"type": failure.kind, "message": failure.message}
        self._json(failure.status, {"type": "error", "error": error}, failure.headers)

    def _json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        text = json.dumps(value).encode()
        kind = {"content-type": "application/json", "content-length": str(len(text))}
        self._head(status, {**kind, **(headers or {})})
        self.wfile.write(text)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("request-id", f"req_{self.server.api.number():024d}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _model(name: str) -> dict[str, str]:
    return {
        "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def _events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events in which a message is streamed."""
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, key, kind, text = {**block, "text": ""}, "text", "text_delta", block["text"]
        else:
            empty, key, kind = {**block, "input": {}}, "partial_json", "input_json_delta"
            text = json.dumps(block["input"])
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for start in range(0, len(text), _DELTA):
            delta = {"type": kind, key: text[start : start + _DELTA]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}
