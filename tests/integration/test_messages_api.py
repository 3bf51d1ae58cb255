"""The stand-in of the Messages API answers in the API's form and by its script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.messages_api import Failure, MessagesApi, Reply, Text, ToolUse, Usage, calls, says


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi(default=says("By default.")) as api:
        yield api


def ask(api: MessagesApi, method: str, path: str, body: Any = None) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(urlsplit(api.url).netloc, timeout=30)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def message(api: MessagesApi, text: str) -> str:
    answer = json.loads(ask(api, "POST", "/v1/messages", said(text))[1])
    return str(answer["content"][0].get("text", answer["content"][0].get("name")))


def test_rules_go_before_the_queue_and_that_before_the_default(api: MessagesApi) -> None:
    api.when("weather", says("Rain."), calls("Look", at="sky"))
    api.whenever("^ping", says("pong"))
    api.queue(says("First."), says("Second."))
    given = [message(api, text) for text in ("the weather?", "ping", "the weather?", "hello")]
    assert given == ["Rain.", "pong", "Look", "First."]
    assert [message(api, text) for text in ("the weather?", "x", "ping")] == [
        "Second.", "By default.", "pong",
    ]  # fmt: skip
    assert [request.said for request in api.requests[:2]] == ["the weather?", "ping"]


def test_what_was_said_last_is_no_reminder_and_no_result(api: MessagesApi) -> None:
    content = [
        {"type": "text", "text": "<system-reminder>weather</system-reminder>"},
        {"type": "text", "text": "<system-reminder>a</system-reminder>\nGo on"},
    ]
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "w"}]}
    ask(api, "POST", "/v1/messages?beta=true", {
        "messages": [
            {"role": "user", "content": content},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
            {"role": "user", "content": [result]},
            {"role": "system", "content": "noted"},
        ],
        "tools": [{"name": "Read"}],
    })  # fmt: skip
    (request,) = api.requests
    assert request.said == "Go on"
    assert request.tools == ["Read"]
    assert request.texts("system") == ["noted"]
    assert "w" in request.texts("user")[-1]


def test_a_stream_adds_up_to_the_message(api: MessagesApi) -> None:
    text = "grüße " * 300
    api.queue(Reply((Text(text), ToolUse("Read", {"path": "x" * 900})), usage=Usage(7, 9)))
    response, data = ask(api, "POST", "/v1/messages", said("Hello", stream=True))
    assert response.headers["content-type"] == "text/event-stream"
    events = []
    for piece in data.decode().strip().split("\n\n"):
        name, _, value = piece.partition("\n")
        events.append(json.loads(value.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    assert events[0]["message"]["usage"]["input_tokens"] == 7
    assert events[-1]["type"] == "message_stop"
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    assert events[-2]["usage"]["output_tokens"] == 9
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == text
    arguments = "".join(delta.get("partial_json", "") for delta in deltas)
    assert json.loads(arguments) == {"path": "x" * 900}


def test_a_stream_can_break_off(api: MessagesApi) -> None:
    api.queue(says("Never whole.", events=2))
    _, data = ask(api, "POST", "/v1/messages", said("Hello", stream=True))
    assert data.count(b"event: ") == 2


def test_errors_have_status_and_headers(api: MessagesApi) -> None:
    api.queue(Failure(429, "rate_limit_error", "Slow down", {"retry-after": "7"}))
    response, data = ask(api, "POST", "/v1/messages", said("Hello", stream=True))
    assert (response.status, response.headers["retry-after"]) == (429, "7")
    error = {"type": "rate_limit_error", "message": "Slow down"}
    assert json.loads(data) == {"type": "error", "error": error}


def test_an_answer_can_be_held_back(api: MessagesApi) -> None:
    asked, go_on = threading.Event(), threading.Event()
    api.on_request = lambda _: asked.set()
    api.queue(says("At last.", hold=go_on))
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(message, api, "Hello")
        assert asked.wait(30)
        assert message(api, "Meanwhile") == "By default."
        assert not held.done()
        go_on.set()
        assert held.result(30) == "At last."


def test_what_else_a_client_asks(api: MessagesApi) -> None:
    assert ask(api, "HEAD", "/api/hello")[0].status == 200
    assert json.loads(ask(api, "GET", "/v1/models/m-1")[1])["id"] == "m-1"
    assert json.loads(ask(api, "GET", "/v1/models?limit=5")[1])["data"][0]["type"] == "model"
    counted = json.loads(ask(api, "POST", "/v1/messages/count_tokens", said("x" * 400))[1])
    assert counted["input_tokens"] > 100
    assert ask(api, "GET", "/v1/other")[0].status == 404
    assert ask(api, "POST", "/v1/other", {})[0].status == 404
    assert api.requests == []
    assert [(other.method, other.path) for other in api.others] == [
        ("HEAD", "/api/hello"), ("GET", "/v1/models/m-1"), ("GET", "/v1/models"),
        ("POST", "/v1/messages/count_tokens"), ("GET", "/v1/other"), ("POST", "/v1/other"),
    ]  # fmt: skip
