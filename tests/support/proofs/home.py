"""A service forked from this process, so that a thousand starts take minutes and not hours."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from memoryd.client import Client
from memoryd.daemon.run import run
from memoryd.memory.store import MemoryStore
from memoryd.paths import Paths

UNRELATED = ("CLAUDE", "ANTHROPIC", "MEMORYD_", "XDG_", "NOTIFY_", "LISTEN_")
OnStep = Callable[[str], None]


class Home:
    """The directories of one instance.

    Args:
        folder: where everything is; its path must be short enough for a socket.
        projects: how many working directories there are.
    """

    def __init__(self, folder: Path, projects: int) -> None:
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(UNRELATED)},
            "HOME": str(folder / "home"),
            "MEMORYD_RUNTIME_DIR": str(folder / "run"),
        }
        self.paths = Paths.from_environment(self.environment)
        self._child: Child | None = None
        self.folders = [str(folder / "home" / f"work{number}") for number in range(projects)]
        for directory in self.folders:
            Path(directory).mkdir(parents=True)
        self.paths.projects.mkdir(parents=True)

    def transcript(self, session: str, cwd: str) -> Path:
        """Return where the client writes a session."""
        slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in cwd)
        path = self.paths.projects / slug / f"{session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        return path

    def memory(self, cwd: str) -> Path:
        """Return the memory directory of a working directory."""
        return self.transcript("x", cwd).parent / "memory"

    def start(self, on_step: OnStep | None = None) -> Child:
        """Fork a service; ``on_step`` is told of every step of a memory write, inside it."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._child = Child(pid, reading)
            return self._child
        code = 70
        try:
            os.close(reading)
            os.environ.clear()
            os.environ.update(self.environment)
            if on_step is not None:
                _watch_steps(on_step)
            code = run(self.environment, ready_fd=writing)
        finally:
            os._exit(code)

    def end(self) -> None:
        """Kill the service that was started last, if it still runs."""
        if self._child is not None:
            self._child.kill()

    def client(self, timeout: float = 60.0) -> Client:
        """Return a connection."""
        return Client(self.paths.socket, timeout=timeout)

    def rows(self, query: str, *, index: bool = False) -> list[tuple[Any, ...]]:
        """Read the database, or the text index, behind the service's back."""
        path = self.paths.text_index if index else self.paths.database
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()


class Child:
    """A forked service."""

    def __init__(self, pid: int, ready: int) -> None:
        self.pid = pid
        self._ready = ready
        self._said = b""
        self.status: int | None = None

    def wait_ready(self, seconds: float = 60.0) -> None:
        """Return when it answers.

        Raises:
            AssertionError: it does not.
        """
        readable, _, _ = select.select([self._ready], [], [], seconds)
        said = os.read(self._ready, 4096) if readable else b"nothing in time"
        assert b"ready" in said.lower(), said

    def ended(self, *, stopped: bool = False) -> bool:
        """Return whether it has ended, or with ``stopped`` whether it stands still."""
        if self.status is None:
            flags = os.WNOHANG | (os.WUNTRACED if stopped else 0)
            pid, status = os.waitpid(self.pid, flags)
            if pid and os.WIFSTOPPED(status):
                return True
            if pid:
                self._end(status)
        return self.status is not None

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal that ends it, and wait until it is gone."""
        if self.status is None:
            os.kill(self.pid, number)
            self._end(os.waitpid(self.pid, 0)[1])

    def _end(self, status: int) -> None:
        self.status = status
        os.close(self._ready)


def dying(number: int, how: int, report: int | None = None) -> OnStep:
    """Return a hook that sends its own process the signal ``how`` at step ``number``."""
    left = [number]

    def on_step(name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            if report is not None:
                os.write(report, f"{name.partition(' ')[0]}\n".encode())
            os.kill(os.getpid(), how)
            # A stop takes hold of a running thread a moment later: this one must still be here.
            time.sleep(0.05)

    return on_step


def until(fact: Callable[[], bool], seconds: float, pause: float = 0.005) -> bool:
    """Return whether a fact became true in time; for what tells nobody when it does."""
    give_up = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > give_up:
            return False
        time.sleep(pause)
    return True


def _watch_steps(on_step: OnStep) -> None:
    original = MemoryStore.__init__

    def watched(store: MemoryStore, directory: Path, **named: Any) -> None:
        database = named["journal"]._database

        def between_writes(name: str) -> None:
            # A process that is stopped in the middle of another thread's write would keep the
            # database locked for everybody, which is not what is to be shown.
            with database._lock:
                on_step(name)

        original(store, directory, **{**named, "on_step": between_writes})

    MemoryStore.__init__ = watched  # type: ignore[method-assign, assignment]


class Writer:
    """Appends sessions in pieces cut at random bytes, several taking turns.

    Args:
        home: where.
        rng: decides.
        sessions: how many.
        next_turn: returns the lines of one more turn of a session in a working directory.
    """

    def __init__(
        self, home: Home, rng: Random, sessions: int, next_turn: Callable[[str, str], bytes]
    ) -> None:
        self._rng = rng
        self._next_turn = next_turn
        self._sessions = [
            (f"session-{n}", home.folders[n % len(home.folders)]) for n in range(sessions)
        ]
        self.paths = [home.transcript(*session) for session in self._sessions]
        self._left = [b"" for _ in self._sessions]

    def piece(self) -> None:
        """Append one piece to one session."""
        number = self._rng.randrange(len(self._sessions))
        if not self._left[number]:
            self._left[number] = self._next_turn(*self._sessions[number])
        size = self._rng.randint(1, 1200)
        with self.paths[number].open("ab") as stream:
            stream.write(self._left[number][:size])
        self._left[number] = self._left[number][size:]

    def finish(self) -> None:
        """Append what is left of the lines that were begun."""
        for number, rest in enumerate(self._left):
            with self.paths[number].open("ab") as stream:
                stream.write(rest)
            self._left[number] = b""
