"""One service for one state directory, one client directory and one socket directory.

Locks are ``flock`` on open files: the kernel drops them with the process, however it ends. A
process id in a file is never believed; it only helps people.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import AlreadyRunning, UnsafePath
from memoryd.paths import Paths

# Somebody who only looks whether the lock is held (``lock_holder``) holds it for an instant.
_TRIES = 5
_PAUSE_S = 0.02

_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as far as it can be known.

    Attributes:
        pid: process id, or ``None``.
        socket: where it answers, or ``None``.
    """

    pid: int | None = None
    socket: str | None = None

    def __str__(self) -> str:
        known = [f"pid {self.pid}"] if self.pid is not None else []
        known += [f"socket {self.socket}"] if self.socket else []
        return f" ({', '.join(known)})" if known else ""


class Instance:
    """The locks of a running service, held until ``release`` or the end of the process.

    Attributes:
        warnings: locks that the file system does not support.
    """

    def __init__(self, paths: Paths) -> None:
        """Take the locks.

        Raises:
            AlreadyRunning: with process id and socket of the other service where known.
            UnsafePath: the state or socket directory is not the person's alone.
        """
        self.warnings: list[str] = []
        with ExitStack() as stack:
            private_directory(paths.state)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                fd = os.open(paths.lock, flags, PRIVATE_FILE)
            except OSError as error:
                raise UnsafePath(f"{paths.lock} cannot be opened: {error.strerror}") from error
            stack.callback(os.close, fd)
            self._lock(fd, paths.lock, f"memoryd already runs with the state {paths.state}")
            self._lock_directory(
                stack,
                private_directory(paths.runtime),
                f"another memoryd uses the socket directory {paths.runtime}",
            )
            # The directory itself is locked: memoryd leaves no file of its own in it.
            try:
                paths.config.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise UnsafePath(
                    f"the client's directory {paths.config} cannot be used: {error.strerror}"
                ) from error
            self._lock_directory(
                stack, paths.config, f"another memoryd already serves {paths.config}"
            )
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n{paths.socket}\n".encode(errors="surrogateescape"), 0)
            self._held = stack.pop_all()

    def release(self) -> None:
        """Drop the locks."""
        self._held.close()

    def _lock_directory(self, stack: ExitStack, path: Path, message: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, fd)
        self._lock(fd, path, message)

    def _lock(self, fd: int, path: Path, message: str) -> None:
        for _ in range(_TRIES):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in _HELD:
                    text = f"{path} cannot be locked ({error.strerror}): start only once"
                    self.warnings.append(text)
                    return
                time.sleep(_PAUSE_S)
            else:
                return
        raise AlreadyRunning(f"{message}{holder_of(fd, path)}", hint="see: memoryctl status")


def lock_holder(lock: Path) -> Holder | None:
    """Return who holds the lock file, or ``None`` when nobody does."""
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return holder_of(fd, lock)
        raise
    finally:
        os.close(fd)
    return None


def holder_of(fd: int, path: Path) -> Holder:
    """Say who holds a lock that is known to be held.

    A lock file tells itself; for a directory the kernel's table of locks gives the process, whose
    own lock file tells the socket.
    """
    if path.is_file():
        return _written(path)
    pid = _locking_pid(os.fstat(fd).st_ino)
    if pid is None:
        return Holder()
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            target = entry.readlink()
            if target.name == "lock" and (found := _written(target)).pid == pid:
                return found
    except OSError:
        pass  # It ended meanwhile, or the system hides it.
    return Holder(pid)


def _written(lock: Path) -> Holder:
    try:
        lines = lock.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return Holder()
    if not lines or not lines[0].isascii() or not lines[0].isdigit():
        return Holder()
    return Holder(int(lines[0]), lines[1] if len(lines) > 1 else None)


def _locking_pid(inode: int) -> int | None:
    """Look an inode up in ``/proc/locks``: ``1: FLOCK ADVISORY WRITE 123 08:01:456 0 EOF``."""
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        if fields[1:2] == ["FLOCK"] and "->" not in fields:
            *_, number = fields[5].split(":")
            if number == str(inode) and fields[4].isdigit() and fields[4] != "0":
                return int(fields[4])
    return None
