"""What the client starts at each event: what it sends, and what it takes for an answer."""

from __future__ import annotations

import json
import posixpath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd import hook, locations
from memoryd.daemon.calls import parse_request
from memoryd.memory.location import SWITCHES
from memoryd.protocol import MAX_REQUEST, MethodName, decode, encode, result

VARIABLES = (
    "HOME",
    "MEMORYD_RUNTIME_DIR",
    "MEMORYD_STATE_DIR",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)
PLACES = st.sampled_from(["", "/run/user/1000", "/é", "/home/me/"])


@given(st.dictionaries(st.sampled_from(VARIABLES), PLACES))
@settings(deadline=None)
def test_it_looks_for_the_socket_where_everybody_does(environ: dict[str, str]) -> None:
    found = hook.socket_path({key.encode(): value.encode() for key, value in environ.items()})
    expected = locations.socket_path(environ)
    assert posixpath.normpath(found.decode()) == posixpath.normpath(expected)


def asked(line: bytes) -> Any:
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    request = parse_request(decode(line))
    assert request.method == MethodName.HOOK
    assert request.reply
    return request


def test_the_clients_json_is_passed_on_as_it_is() -> None:
    stdin = json.dumps({"prompt": "two\nlines, 记忆", "n": [1]}, indent=1).encode()
    request = asked(hook.request(stdin, {}, 90))
    assert request.params == {"stdin": json.loads(stdin), "environment": {}}
    assert request.deadline_ms == 90


def test_only_named_variables_are_passed_on() -> None:
    assert {name.decode() for name in hook.SWITCHES} == SWITCHES
    environ = {
        b"ANTHROPIC_API_KEY": b"sk-ant-secret",
        b"CLAUDE_CODE_DISABLE_AUTO_MEMORY": b"1",
        b"CLAUDE_CONFIG_DIR": b'/a "b"\\\n\xff',
    }
    line = hook.request(b"{}", environ, 90)
    assert b"secret" not in line
    assert asked(line).params["environment"] == {
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CONFIG_DIR": '/a "b"\\\n\udcff',
    }


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"no json",
        b'{"a":\n1}\n{"jsonrpc":"2.0","id":2,"method":"shutdown"}\n',
        b'{}},"method":"shutdown","x":{"y":{}',
        b'{},"x":1},"method":"shutdown","params":{"stdin":{}',
        b"\xff\xfe\0",
        b"[" * 5000,
    ],
)
def test_garbage_is_one_line_and_asks_for_nothing_else(garbage: bytes) -> None:
    line = hook.request(garbage, {}, 90)
    assert line.count(b"\n") == 1
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return  # refused by the service
    assert message["method"] == "hook"


def test_of_a_long_object_the_beginning_is_passed_on() -> None:
    whole = (
        b'{"session_id":"s","effort":{"level":"a"},"hook_event_name":"PostToolBatch","tool_calls":['
    )
    assert json.loads(hook.head(whole + b"x" * 9999)) == {
        "session_id": "s",
        "effort": {"level": "a"},
        "hook_event_name": "PostToolBatch",
        "truncated": True,
    }
    spaced = whole.replace(b'":"', b'" : "')
    assert json.loads(hook.head(spaced + b"x" * 9999)) == json.loads(hook.head(whole))
    for odd in (
        b"",
        b'{"hook_event_name":7,"x":"y"}',
        b"{",
        b'{"hook_event_name":"Sto',
        b'{"x":"' + b"y" * 5000 + whole,
    ):
        assert hook.head(odd) == b""


def test_the_longest_request_is_within_the_limit() -> None:
    environ = dict.fromkeys(hook.SWITCHES, b"\xff" * 400)
    assert len(hook.request(b"x" * hook.LONGEST, environ, 10**6)) <= MAX_REQUEST + 1


@given(st.text())
@settings(deadline=None)
def test_an_answer_is_printed_as_the_service_says_it(text: str) -> None:
    answer = encode(result(1, {"output": text}))
    try:
        expected = text.encode()
    except UnicodeEncodeError:
        return
    assert hook.output(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        b"\n",
        b"garbage\n",
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}\n',
        b'{"jsonrpc":"2.0","id":2,"result":{"output":"x"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"output":""}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"output":7}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'{"output":"x"}\n',
    ],
)
def test_whatever_is_no_answer_prints_nothing(answer: bytes) -> None:
    assert hook.output(answer) == b""


@pytest.mark.parametrize("rest", [b"no end", b'a"\xff', b'\\x"', b'a\nb"', b'\\ud800"'])
def test_an_answer_that_breaks_off_prints_nothing(rest: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        hook.output(b'{"jsonrpc":"2.0","id":1,"result":{"output":"' + rest + b"\n")
