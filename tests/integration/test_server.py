"""The socket server, over real sockets."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from memoryd.client import Client
from memoryd.clock import SystemClock
from memoryd.daemon.calls import Call, Method
from memoryd.daemon.connection import Limits
from memoryd.daemon.listener import open_listener
from memoryd.daemon.server import Server
from memoryd.errors import NotFound, ProtocolError, ServiceNotRunning
from memoryd.protocol import ErrorCode
from structlog.testing import CapturingLogger

TIMEOUT = 20.0


class Stage:
    """A server with methods that the test directs."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "run" / "memoryd.sock"
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.cancelled = threading.Event()
        self.seen: list[Any] = []
        self.log = CapturingLogger()
        self.servers: list[Server] = []

    def start(self, **limits: Any) -> Server:
        server = Server(
            open_listener(self.path, {}),
            self.methods(),
            clock=SystemClock(),
            log=self.log,
            limits=Limits(**limits),
        )
        server.start()
        self.servers.append(server)
        return server

    def methods(self) -> list[Method]:
        return [
            Method("echo", lambda call: call.params.text("text"), inline=True),
            Method("thread", lambda _: threading.current_thread().name),
            Method("gate", self._gate),
            Method("wait", self._wait, waits=True),
            Method("watch", self._watch),
            Method("count", self._count),
            Method("steps", self._steps),
            Method("note", self._note),
            Method("missing", self._missing),
            Method("broken", self._broken),
            Method("unserialisable", lambda _: object()),
            Method("nan", lambda _: float("nan")),
            Method("big", lambda _: "x" * 3_000_000),
        ]

    def _gate(self, call: Call) -> str:
        self.entered.release()
        self.gate.wait(TIMEOUT)
        return "cancelled" if call.cancelled.is_set() else "passed"

    def _note(self, call: Call) -> None:
        self.seen.append(call.params.text("text"))

    def _watch(self, call: Call) -> None:
        self.entered.release()
        if call.cancelled.wait(TIMEOUT):
            self.cancelled.set()

    def _wait(self, call: Call) -> bool:
        self.entered.release()
        return not call.cancelled.wait(TIMEOUT)

    @staticmethod
    def _count(call: Call) -> int:
        for number in range(3):
            call.progress(number=number)
        return 3

    @staticmethod
    def _steps(_call: Call) -> Generator[dict[str, Any], None, str]:
        yield {"step": "one"}
        yield {"step": "two"}
        return "end"

    @staticmethod
    def _missing(_call: Call) -> None:
        raise NotFound("no memory of that name", hint="see: memoryctl list")

    @staticmethod
    def _broken(call: Call) -> None:
        raise ValueError(call.params.text("text"))

    def connect(self) -> socket.socket:
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.settimeout(TIMEOUT)
        peer.connect(str(self.path))
        return peer

    def client(self) -> Client:
        return Client(self.path, TIMEOUT)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.gate.set()
    for server in stage.servers:
        server.stop(TIMEOUT)


def lines(peer: socket.socket, count: int) -> list[Any]:
    """Read ``count`` lines."""
    with peer.makefile("rb") as reader:
        return [json.loads(reader.readline()) for _ in range(count)]


def send(peer: socket.socket, *messages: Any) -> None:
    for message in messages:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        peer.sendall(data + b"\n")


def ask(method: str, ident: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def code_of(action: Callable[[], object]) -> int:
    with pytest.raises(ProtocolError) as caught:
        action()
    return caught.value.code


def test_answers_on_the_loop_and_on_a_thread(stage: Stage) -> None:
    stage.start()
    with stage.client() as client:
        assert client.call("echo", {"text": "Grüße, 你好"}) == "Grüße, 你好"
        assert client.call("thread").startswith("method-")


def test_socket_is_private(stage: Stage) -> None:
    stage.start()
    assert stage.path.stat().st_mode & 0o777 == 0o600
    assert stage.path.parent.stat().st_mode & 0o777 == 0o700


def test_progress_comes_before_the_result(stage: Stage) -> None:
    stage.start()
    news: list[Any] = []
    with stage.client() as client:
        assert client.call("count", on_progress=news.append) == 3
        assert client.call("steps", on_progress=news.append) == "end"
    assert [item.get("number", item.get("step")) for item in news] == [0, 1, 2, "one", "two"]
    assert [item["id"] for item in news] == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("line", "code", "ident"),
    [
        (b"{", ErrorCode.PARSE, None),
        (b"hello", ErrorCode.PARSE, None),
        (b"[" * 200_000, ErrorCode.PARSE, None),
        (b'{"a":' * 200_000, ErrorCode.PARSE, None),
        (b'{"id": NaN}', ErrorCode.PARSE, None),
        (b'{"id": ' + b"9" * 5000 + b"}", ErrorCode.PARSE, None),
        (b"\xff\xfe\x00", ErrorCode.PARSE, None),
        (b"[]", ErrorCode.INVALID_REQUEST, None),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "echo"}]', ErrorCode.INVALID_REQUEST, None),
        (b"7", ErrorCode.INVALID_REQUEST, None),
        (b'{"id": 5, "method": "echo"}', ErrorCode.INVALID_REQUEST, 5),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "echo"}', ErrorCode.INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "echo"}', ErrorCode.INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', ErrorCode.INVALID_REQUEST, 5),
        (b'{"jsonrpc": "2.0", "id": 5}', ErrorCode.INVALID_REQUEST, 5),
        (
            b'{"jsonrpc": "2.0", "id": 5, "method": "echo", "params": ["a"]}',
            ErrorCode.INVALID_PARAMS,
            5,
        ),
        (
            b'{"jsonrpc": "2.0", "id": 5, "method": "echo", "params": {"text": 3}}',
            ErrorCode.INVALID_PARAMS,
            5,
        ),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "echo"}', ErrorCode.INVALID_PARAMS, 5),
        (
            b'{"jsonrpc": "2.0", "id": 5, "method": "count", "params": {"deadline_ms": "soon"}}',
            ErrorCode.INVALID_PARAMS,
            5,
        ),
        (b'{"jsonrpc": "2.0", "id": "x", "method": "nothing"}', ErrorCode.METHOD_NOT_FOUND, "x"),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "unserialisable"}', ErrorCode.INTERNAL, 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "nan"}', ErrorCode.INTERNAL, 5),
    ],
)
def test_wrong_lines_are_refused_and_the_connection_goes_on(
    stage: Stage, line: bytes, code: ErrorCode, ident: Any
) -> None:
    stage.start()
    with stage.connect() as peer:
        send(peer, line, ask("echo", "next", text="still here"))
        refused, answered = lines(peer, 2)
    assert (refused["id"], refused["error"]["code"]) == (ident, code)
    assert answered == {"jsonrpc": "2.0", "id": "next", "result": "still here"}


def test_errors_raised_on_purpose_carry_their_hint(stage: Stage) -> None:
    stage.start()
    with stage.client() as client, pytest.raises(ProtocolError) as caught:
        client.call("missing")
    assert caught.value.code == ErrorCode.FAILED
    assert str(caught.value) == "no memory of that name"
    assert caught.value.hint == "see: memoryctl list"


def test_a_fault_is_logged_without_what_it_quotes(stage: Stage) -> None:
    stage.start()
    with stage.client() as client:
        assert code_of(lambda: client.call("broken", {"text": "canary"})) == ErrorCode.INTERNAL
    (logged,) = [entry for entry in stage.log.calls if entry.args == ("method_failed",)]
    assert logged.kwargs["error"] == "ValueError"
    assert any("_broken" in place for place in logged.kwargs["where"])
    assert "canary" not in repr(stage.log.calls)


def test_notifications_are_done_and_not_answered(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        send(
            peer,
            {"jsonrpc": "2.0", "method": "note", "params": {"text": "quiet"}},
            {"jsonrpc": "2.0", "method": "nothing"},
            {"jsonrpc": "2.0", "method": "broken", "params": {"text": "x"}},
            ask("echo", text="after"),
        )
        (answer,) = lines(peer, 1)
    assert answer["result"] == "after"
    assert stage.seen == ["quiet"]


def test_requests_of_one_connection_are_answered_in_order(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        send(peer, *(ask("thread" if n % 2 else "echo", n, text=str(n)) for n in range(50)))
        assert [answer["id"] for answer in lines(peer, 50)] == list(range(50))


def test_empty_lines_are_nothing(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        peer.sendall(b"\n\r\n  \n")
        send(peer, ask("echo", text="a"))
        assert lines(peer, 1)[0]["result"] == "a"


def test_an_oversized_request_is_refused_and_its_rest_skipped(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        send(peer, b'{"x":"' + b"a" * (5 << 20) + b'"}', ask("echo", text="after"))
        refused, answered = lines(peer, 2)
    assert refused["error"]["code"] == ErrorCode.TOO_LARGE
    assert answered["result"] == "after"


def test_the_limit_itself_is_allowed(stage: Stage) -> None:
    stage.start(request_bytes=1000)
    message = json.dumps(ask("echo", text="")).encode()
    room = 1000 - len(message)
    with stage.connect() as peer:
        send(peer, ask("echo", 1, text="x" * room), ask("echo", 2, text="x" * (room + 1)))
        fits, exceeds = lines(peer, 2)
    assert fits["result"] == "x" * room
    assert exceeds["error"]["code"] == ErrorCode.TOO_LARGE


def test_a_large_answer_waits_for_a_slow_reader(stage: Stage) -> None:
    stage.start()
    with stage.connect() as slow, stage.client() as other:
        send(slow, ask("big"), ask("echo", 2, text="b"))
        assert other.call("echo", {"text": "meanwhile"}) == "meanwhile"
        big, small = lines(slow, 2)
    assert len(big["result"]) == 3_000_000
    assert small["result"] == "b"


def test_threat_15_slow_senders_do_not_keep_others_waiting_and_are_sent_away(stage: Stage) -> None:
    stage.start(request_s=0.1)
    with stage.connect() as slow, stage.client() as other:
        slow.sendall(b'{"jsonrpc": ')
        assert other.call("echo", {"text": "a"}) == "a"
        (farewell,) = lines(slow, 1)
        assert farewell["error"]["code"] == ErrorCode.DEADLINE
        assert slow.recv(1) == b""
        assert other.call("echo", {"text": "b"}) == "b"


def test_idle_connections_are_closed_and_the_client_returns(stage: Stage) -> None:
    stage.start(idle_s=0.05)
    with stage.connect() as idle, stage.client() as client:
        assert client.call("echo", {"text": "a"}) == "a"
        assert idle.recv(1) == b""
        assert client.call("echo", {"text": "b"}) == "b"


def test_a_busy_pool_leaves_inline_methods_free(stage: Stage) -> None:
    stage.start(threads=2)
    peers = [stage.connect() for _ in range(6)]
    for peer in peers:
        send(peer, ask("gate"))
    for _ in range(2):
        assert stage.entered.acquire(timeout=TIMEOUT)
    with stage.client() as client:
        assert client.call("echo", {"text": "free"}) == "free"
    stage.gate.set()
    assert [lines(peer, 1)[0]["result"] for peer in peers] == ["passed"] * 6
    for peer in peers:
        peer.close()


def test_waiting_requests_have_their_own_threads_up_to_a_limit(stage: Stage) -> None:
    stage.start(waiters=2)
    peers = [stage.connect() for _ in range(2)]
    for peer in peers:
        send(peer, ask("wait"))
        assert stage.entered.acquire(timeout=TIMEOUT)
    with stage.client() as client:
        assert client.call("thread").startswith("method-")
        assert code_of(lambda: client.call("wait")) == ErrorCode.BUSY
        for peer in peers:
            peer.close()
        while True:  # The leaving of a peer cancels its request, which frees its place.
            try:
                client.call("wait", {"deadline_ms": 50})
            except ProtocolError as error:
                if error.code == ErrorCode.DEADLINE:
                    break


def test_deadlines_are_kept(stage: Stage) -> None:
    stage.start(threads=1)
    with stage.client() as client:
        assert code_of(lambda: client.call("gate", deadline_ms=50)) == ErrorCode.DEADLINE
        # The thread is still taken: this one never begins.
        assert code_of(lambda: client.call("note", {"text": "x"}, deadline_ms=20)) == (
            ErrorCode.DEADLINE
        )
        stage.gate.set()
        assert client.call("thread") == "method-1"
    assert stage.seen == []


def test_a_deadline_beside_the_parameters_counts_too(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        send(peer, {**ask("gate"), "deadline_ms": 20})
        assert lines(peer, 1)[0]["error"]["code"] == ErrorCode.DEADLINE


def test_a_peer_that_leaves_cancels_its_request(stage: Stage) -> None:
    stage.start()
    peer = stage.connect()
    send(peer, ask("watch"))
    assert stage.entered.acquire(timeout=TIMEOUT)
    peer.close()
    assert stage.cancelled.wait(TIMEOUT)


def test_a_peer_that_only_ends_its_side_is_answered(stage: Stage) -> None:
    stage.start()
    with stage.connect() as peer:
        peer.sendall(json.dumps(ask("count")).encode())  # As ``printf … | socat`` does: no newline.
        peer.shutdown(socket.SHUT_WR)
        assert lines(peer, 4)[3]["result"] == 3
        assert peer.recv(1) == b""


def test_a_drop_in_the_middle_of_a_request_harms_nobody(stage: Stage) -> None:
    stage.start()
    for _ in range(20):
        with stage.connect() as peer:
            peer.sendall(b'{"jsonrpc": "2.0", "id": 1, "meth')
    with stage.client() as client:
        assert client.call("echo", {"text": "a"}) == "a"


def test_many_connections_are_all_served(stage: Stage) -> None:
    stage.start()
    peers = [stage.connect() for _ in range(250)]
    for number, peer in enumerate(peers):
        send(peer, ask("thread" if number % 3 else "echo", number, text="a"))
    assert [lines(peer, 1)[0]["id"] for peer in peers] == list(range(250))
    for peer in peers:
        peer.close()


def test_threat_15_a_flood_of_idle_connections_makes_room_for_who_asks(stage: Stage) -> None:
    stage.start(connections=32)
    flood: list[socket.socket] = []
    with stage.client() as client:
        for _ in range(300):
            peer = stage.connect()
            peer.sendall(b"{")
            flood.append(peer)
        assert client.call("echo", {"text": "served"}) == "served"
    farewell = lines(flood[0], 1)[0]["error"]
    assert farewell["code"] == ErrorCode.BUSY
    assert farewell["data"]["retry_after_s"] > 0
    for peer in flood:
        peer.close()


def test_busy_connections_are_never_sent_away_for_new_ones(stage: Stage) -> None:
    stage.start(connections=2)
    peers = [stage.connect() for _ in range(2)]
    for peer in peers:
        send(peer, ask("gate"))
        assert stage.entered.acquire(timeout=TIMEOUT)
    with stage.client() as client:
        assert code_of(lambda: client.call("echo", {"text": "a"})) == ErrorCode.BUSY
    stage.gate.set()
    assert [lines(peer, 1)[0]["result"] for peer in peers] == ["passed"] * 2
    for peer in peers:
        peer.close()


def test_stop_answers_what_is_in_flight_and_refuses_the_rest(stage: Stage) -> None:
    server = stage.start(threads=1)
    with stage.connect() as working, stage.connect() as waiting, stage.connect() as idle:
        send(working, ask("gate"), ask("echo", 2, text="too late"))
        send(waiting, ask("wait"))
        for _ in range(2):
            assert stage.entered.acquire(timeout=TIMEOUT)
        stopping = threading.Thread(target=server.stop, args=(TIMEOUT,))
        stopping.start()
        assert idle.recv(1) == b""
        assert not stage.path.exists()
        stage.gate.set()
        done, late = lines(working, 2)
        assert done["result"] == "passed"
        assert late["error"]["code"] == ErrorCode.SHUTTING_DOWN
        assert lines(waiting, 1)[0]["result"] is False
        stopping.join(TIMEOUT)
    stage.servers.clear()
    with pytest.raises(ServiceNotRunning, match="not running"):
        stage.client().call("echo")


def test_stop_does_not_wait_longer_than_the_drain(stage: Stage) -> None:
    server = stage.start()
    with stage.connect() as peer:
        send(peer, ask("gate"))
        assert stage.entered.acquire(timeout=TIMEOUT)
        server.stop(0)
        assert lines(peer, 1)[0]["error"]["code"] == ErrorCode.SHUTTING_DOWN
    stage.servers.clear()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_threat_07_another_user_is_refused(stage: Stage) -> None:
    stage.start()
    for folder in (stage.path.parent, *stage.path.parent.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(0o711)
    stage.path.chmod(0o666)  # The check of the peer stands by itself.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            with stage.connect() as peer:
                os.write(writing, peer.recv(4096))
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        refused = json.loads(pipe.read())
    assert refused["error"]["code"] == ErrorCode.FORBIDDEN


def test_the_client_gives_up_on_a_service_that_hangs(stage: Stage) -> None:
    stage.start()
    with stage.client() as client, pytest.raises(ServiceNotRunning, match="did not answer"):
        client.call("gate", timeout=0.05)
