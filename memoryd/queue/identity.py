"""The name of a worker, from which a later process can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

_START_TIME = 19
"""Place of the start time among the fields after the command's name in ``/proc/PID/stat``."""


@dataclass(frozen=True, slots=True)
class WorkerName:
    """``host:boot:pid:start/thread``: a pid alone may be another program's by now.

    Attributes:
        host: the machine, where several share one PostgreSQL.
        boot: changes with every start of the machine; empty where the system does not say.
        pid: of the process.
        start: when that process started, in clock ticks since the boot; 0 where unknown.
        thread: which worker of the process.
    """

    host: str
    boot: str
    pid: int
    start: int
    thread: str

    def __str__(self) -> str:
        return f"{self.host}:{self.boot}:{self.pid}:{self.start}/{self.thread}"

    @classmethod
    def current(cls, thread: str, *, proc: Path = PROC) -> WorkerName:
        """Return the name of the worker ``thread`` of this process."""
        pid = os.getpid()
        return cls(socket.gethostname(), _boot(proc), pid, _start(proc, pid) or 0, thread)

    @classmethod
    def parse(cls, text: str) -> WorkerName | None:
        """Read a name back; ``None`` if it is none."""
        process, _, thread = text.partition("/")
        match process.rsplit(":", 3):
            case [host, boot, pid, start] if pid.isdecimal() and start.isdecimal():
                return cls(host, boot, int(pid), int(start), thread)
            case _:
                return None


def is_dead(worker: str, *, proc: Path = PROC) -> bool:
    """Return whether ``worker`` is known to be gone; never true for one of another machine."""
    name = WorkerName.parse(worker)
    here = WorkerName.current("", proc=proc)
    if name is None or name.host != here.host:
        return False
    if name.boot != here.boot:
        return True
    if here.start == 0:
        return not _exists(name.pid)
    return _start(proc, name.pid) != name.start


def _boot(proc: Path) -> str:
    try:
        return (proc / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _start(proc: Path, pid: int) -> int | None:
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may itself hold spaces and parentheses.
    return int(stat.rpartition(")")[2].split()[_START_TIME])


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
