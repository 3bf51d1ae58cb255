"""A real service in a home of its own, and the command line that talks to it."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from memoryd.daemon.instance import lock_holder
from memoryd.paths import Paths

COMMANDS = Path(sys.executable).parent
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
UNRELATED = ("CLAUDE", "ANTHROPIC", "MEMORYD_", "XDG_", "NOTIFY_", "LISTEN_")


def _end(paths: Paths, runtime: Path) -> None:
    """Leave nothing behind, whatever became of the test: neither a service nor its socket."""
    holder = lock_holder(paths.lock)
    if holder is not None and holder.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(holder.pid, signal.SIGTERM)
    shutil.rmtree(runtime, ignore_errors=True)


class Service:
    """One home directory with a service in it.

    Attributes:
        home: the scratch home directory; state, runtime and client directories are below it.
        runtime: where its socket is.
        environment: what its processes get.
    """

    def __init__(self, home: Path, *, prefix: tuple[str, ...] = (), **extra: str) -> None:
        self._prefix = prefix
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(UNRELATED)}
        # pytest's folders are too deep for the path of a socket.
        self.runtime = Path(tempfile.mkdtemp(prefix="memoryd-"))
        self.environment = {
            **kept, "HOME": str(home), "MEMORYD_RUNTIME_DIR": str(self.runtime), **extra,
        }  # fmt: skip
        weakref.finalize(self, _end, Paths.from_environment(self.environment), self.runtime)

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.home / ".local/state/memoryd"

    @property
    def projects(self) -> Path:
        """The client's projects directory."""
        return self.home / ".claude/projects"

    def run(
        self, command: str, *arguments: str, cwd: Path | None = None, timeout: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """Run ``memoryd`` or ``memoryctl`` and return what it said."""
        return subprocess.run(
            [*self._prefix, str(COMMANDS / command), *arguments],
            env=self.environment,
            cwd=cwd or self.home,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def popen(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        """Start ``memoryd`` or ``memoryctl`` and return the process."""
        return subprocess.Popen(
            [*self._prefix, str(COMMANDS / command), *arguments],
            env=self.environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self) -> None:
        """Start in the background; return when it answers."""
        done = self.run("memoryd", "start")
        assert done.returncode == 0, done.stderr

    def stop(self) -> None:
        """Stop gracefully."""
        done = self.run("memoryd", "stop")
        assert done.returncode == 0, done.stderr

    def ctl(self, *arguments: str, cwd: Path | None = None) -> str:
        """Return the standard output of a ``memoryctl`` command that must succeed."""
        done = self.run("memoryctl", *arguments, cwd=cwd)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:
        """Return the parsed answer of ``memoryctl … --json``."""
        return json.loads(self.ctl(*arguments, "--json", cwd=cwd))

    def wait(self, seconds: int = 80) -> None:
        """Wait until everything written so far is handled."""
        self.ctl("wait", "--timeout", str(seconds))

    def pid(self) -> int:
        """Process id of the running service."""
        return int(self.json("status")["pid"])

    def kill(self, pid: int) -> None:
        """End it as a power cut would, and wait until it is gone."""
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            # A process descriptor becomes readable when its process has ended.
            select.select([handle], [], [], 30)
        finally:
            os.close(handle)

    def replay(self, source: Path, *, seed: int = 1, piece: int = 65536, pause: float = 0) -> None:
        """Append the transcripts below ``source`` in random pieces and return when done."""
        subprocess.run(self.replay_command(source, seed=seed, piece=piece, pause=pause), check=True)

    def replay_command(
        self, source: Path, *, seed: int = 1, piece: int = 65536, pause: float = 0
    ) -> list[str]:
        """Return the command that replays ``source`` into the projects directory."""
        return [
            sys.executable, str(SCRIPTS / "replay"), str(source), str(self.projects),
            "--seed", str(seed), "--piece", str(piece), "--pause", str(pause), "--quiet",
        ]  # fmt: skip
