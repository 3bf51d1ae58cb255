"""The service as a background process, seen from the command that starts and stops it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.client import Client
from memoryd.daemon.instance import Holder, lock_holder
from memoryd.daemon.listener import check_length
from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import AlreadyRunning, MemorydError, ProtocolError, ServiceNotRunning
from memoryd.paths import Paths
from memoryd.protocol import MethodName

PROGRAM = (sys.executable, "-P", "-m", "memoryd.daemon")
"""The service itself; ``-P``: nothing is imported from where it happens to be started."""

READY_S = 60.0
STOP_S = 25.0

_PATH_VARIABLES = (
    "MEMORYD_STATE_DIR",
    "MEMORYD_RUNTIME_DIR",
    "MEMORYD_CONFIG",
    "CLAUDE_CONFIG_DIR",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
)
_POLL_S = 0.02
_HELLO_S = 2.0
_RIVAL_S = 15.0
_LOG_TAIL = 2048
_READY = b"ready\n"


@dataclass(frozen=True, slots=True)
class Running:
    """A service that answers."""

    pid: int
    version: str
    socket: str

    def __str__(self) -> str:
        return f"memoryd {self.version}, pid {self.pid}, on {self.socket}"


class StartFailed(MemorydError):  # noqa: N818 - a state of the world, named as the user meets it
    """The service did not start."""


def find(paths: Paths, timeout: float = _HELLO_S) -> Running | None:
    """Return the service that answers on the socket, or ``None``.

    Raises:
        AlreadyRunning: what answers is another instance, with another state directory.
    """
    try:
        with Client(paths.socket, timeout) as client:
            hello = client.hello()
    except ServiceNotRunning:
        return None
    state = hello.get("state")
    if state is not None and Path(state) != Path(os.path.abspath(paths.state)):  # noqa: PTH100 - resolve() would follow links
        raise AlreadyRunning(
            f"another instance (pid {hello['pid']}, state {state}) answers on {paths.socket}",
            hint="give this one a directory for its socket: MEMORYD_RUNTIME_DIR",
        )
    return Running(hello["pid"], hello["version"], os.fspath(paths.socket))


def start(
    command: Sequence[str], paths: Paths, environ: Mapping[str, str], ready_s: float = READY_S
) -> tuple[Running, bool]:
    """Start the service and return when it answers.

    Args:
        command: what to run; ``--ready-fd N`` is appended. It writes ``lifecycle.READY`` there,
            or why it cannot run.
        paths: where it will be.
        environ: its environment.
        ready_s: seconds to wait.

    Returns:
        the service, and whether it was started now (false: it ran already).

    Raises:
        StartFailed: with what the service said.
        AlreadyRunning: the socket belongs to another instance.
    """
    if (running := find(paths)) is not None:
        return running, False
    check_length(paths.socket)
    said, code = _launch(command, paths, environ, ready_s)
    if said == _READY and (running := find(paths)) is not None:
        return running, True
    # Somebody else may have been faster, and may not be ready yet.
    give_up = time.monotonic() + min(ready_s, _RIVAL_S)
    while lock_holder(paths.lock) is not None and time.monotonic() < give_up:
        if (running := find(paths)) is not None:
            return running, False
        time.sleep(_POLL_S)
    told = "" if said == _READY else said.decode(errors="replace").strip()
    message, _, hint = told.removeprefix("memoryd: ").partition("\n")
    raise StartFailed(message or _silence(paths, code, ready_s), hint=hint.strip())


def _launch(
    command: Sequence[str], paths: Paths, environ: Mapping[str, str], ready_s: float
) -> tuple[bytes, int | None]:
    """Start the process and read its readiness pipe to the end.

    Returns:
        what it wrote, and its exit code if it ended.
    """
    private_directory(paths.state)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    log = os.open(paths.log, flags, PRIVATE_FILE)
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [*command, "--ready-fd", str(writing)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=_absolute(environ),
            pass_fds=(writing,),
            start_new_session=True,
        )
    finally:
        os.close(writing)
        os.close(log)
    try:
        said = _read_to_end(reading, ready_s)
    finally:
        os.close(reading)
    if said == _READY:
        process.returncode = 0  # It lives on; nobody here waits for it.
        return said, None
    try:
        return said, process.wait(STOP_S if said else _HELLO_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        return said, None


def _read_to_end(fd: int, seconds: float) -> bytes:
    give_up = time.monotonic() + seconds
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while (left := give_up - time.monotonic()) > 0 and selector.select(left):
            data = os.read(fd, 4096)
            if not data:
                break
            said += data
    return said


def _absolute(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with relative directories made absolute: the child leaves here."""
    return {
        name: os.path.abspath(value) if name in _PATH_VARIABLES and value else value  # noqa: PTH100 - resolve() would follow links
        for name, value in environ.items()
    }


def _silence(paths: Paths, code: int | None, ready_s: float) -> str:
    if code is None:
        return f"the service was not ready within {ready_s:g} s; see {paths.log}"
    tail = paths.log.read_bytes()[-_LOG_TAIL:].decode(errors="replace").strip()
    last = tail.splitlines()[-1] if tail else ""
    return f"the service ended before it was ready (exit code {code}); see {paths.log}\n  {last}"


def stop(paths: Paths, stop_s: float = STOP_S) -> Holder | None:
    """Stop the service and return when its lock is free.

    Returns:
        who was stopped, or ``None`` when nobody ran.

    Raises:
        MemorydError: it still runs after ``stop_s`` seconds.
    """
    holder = lock_holder(paths.lock)
    if holder is None:
        return None
    asked = False
    try:
        running = find(paths)
        if running is not None:
            with Client(paths.socket, _HELLO_S) as client:
                client.call(MethodName.SHUTDOWN)
            asked = True
    except (ServiceNotRunning, ProtocolError):
        pass  # It does not answer; a signal reaches it all the same.
    if not asked and holder.pid is not None:
        with contextlib.suppress(ProcessLookupError):  # It ended meanwhile.
            os.kill(holder.pid, signal.SIGTERM)
    give_up = time.monotonic() + stop_s
    while lock_holder(paths.lock) is not None:
        if time.monotonic() > give_up:
            raise MemorydError(
                f"memoryd{holder} did not stop within {stop_s:g} s",
                hint=f"end it with: kill -9 {holder.pid}" if holder.pid else "",
            )
        time.sleep(_POLL_S)
    return holder


def reload(paths: Paths) -> Holder:
    """Let the service read its settings again.

    Raises:
        ServiceNotRunning: nobody runs.
    """
    holder = lock_holder(paths.lock)
    if holder is None or holder.pid is None:
        raise ServiceNotRunning("memoryd is not running", hint="start it with: memoryd start")
    os.kill(holder.pid, signal.SIGHUP)
    return holder
