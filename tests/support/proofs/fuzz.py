"""Garbage into what reads: transcripts, frontmatter, requests on the socket."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from memoryd.memory.frontmatter import parse
from memoryd.transcript.events import HumanPrompt
from memoryd.transcript.reader import TranscriptReader

from support.proofs.home import Home
from support.proofs.talk import Talk

_NOISE = (
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"[" * 3000,
    b"\r\n",
    b"\n",
    b"null\n",
    b"---\n",
)
_METHODS = ("hello", "status", "recall", "search", "memory.list", "jobs.list", "nothing", "")


def fuzz(scratch: Path, *, seed: int, count: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Feed ``count`` pieces of garbage to each reader; return figures.

    Raises:
        AssertionError: a reader lost what is whole, or the service no longer answers.
    """
    rng = Random(seed)
    recovered = 0
    for number in range(count):
        recovered += _transcript(rng)
        _frontmatter(rng)
        if number % 2000 == 1999:
            tell(f"{number + 1} transcripts and topics")
    requests = _requests(scratch, rng, max(20, count // 20))
    tell(f"{requests} requests")
    return {"cases": count, "prompts_recovered": recovered, "requests": requests}


def _garbage(rng: Random) -> bytes:
    return b"".join(
        rng.choice(_NOISE) if rng.random() < 0.5 else rng.randbytes(rng.randint(1, 60))
        for _ in range(rng.randint(1, 6))
    )


def _transcript(rng: Random) -> int:
    """Whole lines between lines of garbage are all found, however the bytes are cut."""
    talk = Talk(rng, ["/nowhere"])
    data = b""
    for _ in range(rng.randint(1, 3)):
        data += talk.turn("s", "/nowhere")
        data += _garbage(rng) + b"\n"
    results = []
    for longest in (len(data), rng.randint(1, 200)):
        reader, found, position = TranscriptReader(), [], 0
        while position < len(data):
            size = rng.randint(1, longest)
            found += reader.feed(data[position : position + size])
            position += size
        results.append([event.uuid for event in found if isinstance(event, HumanPrompt)])
    assert results[0] == results[1] == talk.turns, (results, data)
    return len(talk.turns)


def _frontmatter(rng: Random) -> None:
    """Parsing raises nothing, and its parts are the file's bytes."""
    whole = b"---\nname: x\ndescription: a b\nmetadata:\n  type: user\n---\nbody\n"
    cut = rng.randrange(len(whole))
    raw = whole[:cut] + _garbage(rng) + whole[cut + rng.randint(0, 5) :]
    found = parse(raw)
    assert found.prefix + b"".join(found.lines) + found.closing + found.body == raw, raw


def _requests(scratch: Path, rng: Random, count: int) -> int:
    """The service answers garbage with an error or a closed connection, and goes on."""
    home = Home(scratch, projects=1)
    child = home.start()
    try:
        child.wait_ready()
        for _ in range(count):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(10)
                connection.connect(str(home.paths.socket))
                _send(connection, _request(rng, home.folders[0]))
            with home.client(10) as client:
                assert client.call("hello")["pid"] == child.pid
        assert not child.ended()
        child.kill(signal.SIGTERM)
        assert child.status == 0, child.status
    finally:
        home.end()
    return count


def _request(rng: Random, folder: str) -> bytes:
    value: Any = rng.choice([None, 7, -1e308, "x" * 5000, [], {"a": [{}]}, True, "\ud800", folder])
    request: dict[str, Any] = {
        "jsonrpc": rng.choice(["2.0", 2, None]),
        "id": rng.choice([1, "x", None, [], 1.5]),
        "method": rng.choice(_METHODS),
        "params": {rng.choice(["query", "cwd", "limit", "deadline_ms", "protocol"]): value},
    }
    data = json.dumps(request).encode() + b"\n"
    dice = rng.random()
    if dice < 0.3:
        return data
    if dice < 0.6:
        cut = rng.randrange(len(data))
        return data[:cut] + _garbage(rng) + data[cut:]
    return _garbage(rng) + b"\n"


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    except (BrokenPipeError, ConnectionResetError):
        # It may close the connection before it has heard the end.
        pass
