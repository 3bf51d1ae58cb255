"""Start, signals and stop of a real process around a tiny service."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from memoryd.client import Client
from memoryd.daemon import background
from memoryd.daemon.instance import lock_holder
from memoryd.errors import MemorydError, ServiceNotRunning
from memoryd.paths import Paths

pytestmark = pytest.mark.system

# Takes the locks, answers ``hello``, ``shutdown`` and ``reloads``; MODE makes it misbehave.
DUMMY = """
import os, sys, time
import structlog
from memoryd.clock import SystemClock
from memoryd.daemon import logs
from memoryd.daemon.calls import Method
from memoryd.daemon.instance import Instance
from memoryd.daemon.lifecycle import Lifecycle
from memoryd.daemon.listener import open_listener
from memoryd.daemon.notify import Notifier
from memoryd.daemon.server import Server
from memoryd.errors import ConfigError
from memoryd.paths import Paths

mode = os.environ.get("MODE", "")
paths = Paths.from_environment(os.environ)
if mode == "crash":
    raise SystemExit("planted crash")
ready_fd = int(sys.argv[sys.argv.index("--ready-fd") + 1]) if "--ready-fd" in sys.argv else None
logs.configure("info", stream=logs.RotatingStderr(paths.log) if ready_fd is not None else None)
log = structlog.get_logger()

class Dummy:
    def __init__(self):
        self.reloads = 0
        self.server = self.instance = None

    def start(self):
        if mode == "refuse":
            raise ConfigError("planted refusal", hint="planted hint")
        self.instance = Instance(paths)
        methods = [
            Method("hello", lambda _: {
                "protocol": 1, "version": "0", "pid": os.getpid(), "state": str(paths.state),
            }, inline=True),
            Method("reloads", lambda _: self.reloads, inline=True),
            Method("shutdown", lambda _: lifecycle.request_stop(), inline=True),
        ]
        self.server = Server(
            open_listener(paths.socket, {}), methods, clock=SystemClock(), log=log
        )
        self.server.start()

    def stop(self, drain_s):
        if self.server:
            self.server.stop(drain_s)
        if mode == "hang":
            log.info("hanging")
            time.sleep(600)
        if self.instance:
            self.instance.release()

    def reload(self):
        self.reloads += 1
        if mode == "bad-reload":
            raise ConfigError("planted")

    def alive(self):
        return True

lifecycle = Lifecycle(notifier=Notifier(os.environ, os.getpid()), log=log, ready_fd=ready_fd)
sys.exit(lifecycle.run(Dummy))
"""


class Home:
    """Directories of one instance and how to start it."""

    def __init__(self, base: Path) -> None:
        script = base / "dummy.py"
        script.write_text(DUMMY)
        self.command = [sys.executable, str(script)]
        self.environ = {
            **os.environ,
            "HOME": str(base),
            "MEMORYD_STATE_DIR": str(base / "state"),
            "MEMORYD_RUNTIME_DIR": str(base / "run"),
            "CLAUDE_CONFIG_DIR": str(base / "config"),
        }
        self.paths = Paths.from_environment(self.environ)

    def start(self, mode: str = "") -> tuple[background.Running, bool]:
        return background.start(self.command, self.paths, {**self.environ, "MODE": mode})

    def foreground(self, mode: str = "", **extra: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            env={**self.environ, "MODE": mode, **extra},
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    holder = lock_holder(home.paths.lock)
    if holder is not None and holder.pid is not None:
        os.kill(holder.pid, signal.SIGKILL)


def test_start_returns_when_it_answers_and_stop_when_it_has_ended(home: Home) -> None:
    running, now = home.start()
    assert now
    with Client(home.paths.socket) as client:
        assert client.hello()["pid"] == running.pid
    again, now = home.start()
    assert (again, now) == (running, False)
    assert home.paths.log.stat().st_mode & 0o777 == 0o600
    stopped = background.stop(home.paths)
    assert stopped is not None
    assert stopped.pid == running.pid
    assert lock_holder(home.paths.lock) is None
    assert not home.paths.socket.exists()
    assert background.stop(home.paths) is None
    assert '"event": "stopped"' in home.paths.log.read_text()


def test_a_refusal_reaches_who_starts(home: Home) -> None:
    with pytest.raises(background.StartFailed, match="planted refusal") as caught:
        home.start("refuse")
    assert "planted hint" in caught.value.hint
    assert lock_holder(home.paths.lock) is None


def test_a_crash_is_told_with_its_last_words(home: Home) -> None:
    with pytest.raises(background.StartFailed, match=r"exit code 1(?s:.)*planted crash"):
        home.start("crash")


def test_a_second_service_on_the_same_client_directory_says_why(home: Home, tmp_path: Path) -> None:
    running, _ = home.start()
    other = Home(tmp_path)
    other.environ |= {
        "MEMORYD_STATE_DIR": str(tmp_path / "s2"),
        "MEMORYD_RUNTIME_DIR": str(tmp_path / "r2"),
    }
    other.paths = Paths.from_environment(other.environ)
    with pytest.raises(background.StartFailed, match=f"pid {running.pid}"):
        other.start()


def test_another_instance_on_the_socket_is_not_taken_for_ours(home: Home, tmp_path: Path) -> None:
    home.start()
    other = Home(tmp_path)
    other.environ |= {"MEMORYD_STATE_DIR": str(tmp_path / "s2")}
    other.paths = Paths.from_environment(other.environ)
    with pytest.raises(MemorydError, match="another instance"):
        other.start()
    assert background.stop(other.paths) is None


def test_start_after_a_kill(home: Home) -> None:
    running, _ = home.start()
    os.kill(running.pid, signal.SIGKILL)
    again, now = home.start()
    assert now
    assert again.pid != running.pid


def test_many_starts_at_once_make_one_service(home: Home) -> None:
    found: list[background.Running] = []

    def start() -> None:
        found.append(home.start()[0])

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({running.pid for running in found}) == 1


def test_reload(home: Home) -> None:
    with pytest.raises(ServiceNotRunning):
        background.reload(home.paths)
    home.start()
    with Client(home.paths.socket) as client:
        background.reload(home.paths)
        while client.call("reloads") < 1:
            pass


def test_a_failed_reload_leaves_it_running(home: Home) -> None:
    home.start("bad-reload")
    with Client(home.paths.socket) as client:
        background.reload(home.paths)
        while client.call("reloads") < 1:
            pass
        assert client.call("hello")["protocol"] == 1


def test_a_stop_that_hangs_is_reported(home: Home) -> None:
    running, _ = home.start("hang")
    with pytest.raises(MemorydError, match="did not stop within") as caught:
        background.stop(home.paths, stop_s=0.2)
    assert caught.value.hint == f"end it with: kill -9 {running.pid}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_gracefully_and_a_second_at_once(home: Home, number: signal.Signals) -> None:
    with home.foreground() as process:
        assert process.stderr is not None
        while b'"started"' not in process.stderr.readline():
            pass
        process.send_signal(number)
        assert process.wait(30) == 0
    with home.foreground("hang") as process:
        assert process.stderr is not None
        while b'"started"' not in process.stderr.readline():
            pass
        process.send_signal(number)
        while b'"hanging"' not in process.stderr.readline():
            pass
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert lock_holder(home.paths.lock) is None


def test_the_service_manager_is_told(home: Home, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(30)
        watched = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "30000"}
        with home.foreground(**watched) as process:
            assert manager.recv(100) == b"READY=1"
            assert manager.recv(100) == b"WATCHDOG=1"
            process.send_signal(signal.SIGHUP)
            told = [manager.recv(100)]
            while told[-1] != b"READY=1":
                told.append(manager.recv(100))
            assert any(message.startswith(b"RELOADING=1\nMONOTONIC_USEC=") for message in told)
            process.send_signal(signal.SIGTERM)
            while told[-1] != b"STOPPING=1":
                told.append(manager.recv(100))
            assert process.wait(30) == 0


def test_a_refusal_in_the_foreground_is_said_on_standard_error(home: Home) -> None:
    with home.foreground("refuse") as process:
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(30) == 1
    assert b"memoryd: planted refusal\n  planted hint\n" in said
