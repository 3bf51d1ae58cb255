"""File operations inside one memory directory, by its descriptor and never through a link.

The last two parts of the path (``<key>/memory``) must be real directories of this user; what lies
above is the person's own layout, where links are common and allowed. Every file is opened with
``O_NOFOLLOW`` relative to the descriptor and must be a regular file of this user with one name.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memoryd.errors import MemoryBusy, MemoryConflict, MemorydError, UnsafePath

MAX_FILE = 1024 * 1024
"""Bytes of a memory file; larger ones are skipped."""
TEMP_PREFIX, TEMP_SUFFIX = ".memoryd-", ".tmp"

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 256 * 1024
_LOCK_POLL_S = 0.02

OnStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FileKey:
    """What changes whenever the bytes of a file may have changed."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, info: os.stat_result) -> FileKey:
        """Take the key from a ``stat``."""
        return cls(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)


@dataclass(frozen=True, slots=True)
class Listing:
    """The memory files of a directory, and those passed over, each with the reason."""

    files: dict[str, FileKey]
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class FileBytes:
    """What a file held at one instant."""

    raw: bytes
    key: FileKey
    mode: int


def check_name(name: str) -> None:
    """Refuse what is not the plain name of a file in the directory itself.

    Raises:
        UnsafePath: ``name`` is a path, hidden, or not a name at all.
    """
    bad = not name or name.startswith(".") or any(char in name for char in "/\\\0\n")
    if bad or len(os.fsencode(name)) > 255:  # noqa: PLR2004 - NAME_MAX
        raise UnsafePath(f"{name[:80]!r} is not the name of a memory file")


class MemoryDirectory:
    """An open memory directory; ``MemoryDirectory.open`` makes one, ``close`` ends it.

    Attributes:
        path: for messages only; nothing is opened by it again.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._fd = descriptor

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, create: bool = False) -> Iterator[MemoryDirectory | None]:
        """Open ``path`` for the body of the ``with``; ``None`` when it does not exist.

        Args:
            path: absolute.
            create: make it, and what is missing above it, with mode 0700.

        Raises:
            UnsafePath: it, or the directory it lies in, is a link, no directory, or not ours.
            MemorydError: it cannot be opened or made.
        """
        with _explained(path, "open the memory directory"):
            descriptor = _descend(path, create=create)
        if descriptor is None:
            yield None
            return
        try:
            yield cls(path, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def lock(self, wait_s: float = 0.0) -> Iterator[None]:
        """Hold the directory against other writers; the lock dies with the process.

        Args:
            wait_s: how long another writer is waited for, in seconds.

        Raises:
            MemoryBusy: another writer holds it.
        """
        give_up = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise MemoryBusy(f"another writer is at work in {self.path}") from None
                time.sleep(_LOCK_POLL_S)
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def listing(self, *, index: str) -> Listing:
        """Return the ``*.md`` files of the directory itself, ``index`` and hidden ones excepted."""
        files: dict[str, FileKey] = {}
        skipped: dict[str, str] = {}
        with _explained(self.path, "list"):
            entries = sorted(entry.name for entry in _scan(self._fd))
        for name in entries:
            if not name.endswith(".md") or name.startswith(".") or name == index:
                continue
            try:
                check_name(name)
                name.encode()
                info = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
                _check(info, name)
            except FileNotFoundError:
                continue
            except UnicodeEncodeError:
                skipped[name] = f"{os.fsencode(name)!r} is not UTF-8: skipped"
            except UnsafePath as error:
                skipped[name] = f"{error}: skipped"
            else:
                files[name] = FileKey.of(info)
        return Listing(files, skipped)

    def read(self, name: str) -> FileBytes | None:
        """Return a file's bytes, at most 1 MiB; ``None`` when it does not exist.

        Raises:
            UnsafePath: a link, hard link, FIFO or device, of another user, or too large.
            MemorydError: it cannot be read.
        """
        check_name(name)
        with _explained(self.path / name, "read"):
            try:
                descriptor = os.open(name, _READ, dir_fd=self._fd)
            except FileNotFoundError:
                return None
            try:
                info = os.fstat(descriptor)
                _check(info, name)
                raw = _read_all(descriptor, name)
                return FileBytes(raw, FileKey.of(info), stat.S_IMODE(info.st_mode))
            finally:
                os.close(descriptor)

    def write(
        self,
        name: str,
        data: bytes,
        *,
        expected: bytes | None,
        mtime_ns: int | None,
        token: str,
        on_step: OnStep,
    ) -> None:
        """Replace or make a file in one step, and read it back.

        Args:
            name: of the file.
            data: all of it.
            expected: what it must hold now, ``None`` for nothing.
            mtime_ns: its new mtime; ``None`` for now.
            token: random part of the temporary name, unique in the directory.
            on_step: told before each step that can be the last.

        Raises:
            MemoryConflict: it holds something else; nothing was changed, or what somebody wrote
                at the same instant was left.
            UnsafePath: as in ``read``.
            MemorydError: it cannot be written; the old file is in place.
        """
        temporary = f"{TEMP_PREFIX}{token}{TEMP_SUFFIX}"
        old = self._expect(name, expected)
        with _explained(self.path / name, "write"), self._held(name, old) as held:
            try:
                mode = 0o600 if old is None else old.mode & 0o777
                self._put(temporary, data, mode=mode, mtime_ns=mtime_ns)
                on_step(f"temporary {name}")
                self._expect(name, expected)
                os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            except Exception:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=self._fd)
                raise
            on_step(f"renamed {name}")
            os.fsync(self._fd)
            if held is not None and old is not None:
                os.lseek(held, 0, os.SEEK_SET)
                theirs = _read_all(held, name)
                if theirs != expected:
                    # Somebody wrote into the old file between the last look and the rename.
                    self._put(temporary, theirs, mode=old.mode & 0o777, mtime_ns=None)
                    os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
                    os.fsync(self._fd)
        self._expect(name, data)

    @contextmanager
    def _held(self, name: str, old: FileBytes | None) -> Iterator[int | None]:
        """Keep the old file open, and with it its bytes, until the new one is verified."""
        if old is None:
            yield None
            return
        descriptor = os.open(name, _READ, dir_fd=self._fd)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def remove(self, name: str, *, expected: bytes) -> None:
        """Take a file away, if it still holds ``expected``.

        Raises:
            MemoryConflict: it holds something else.
            UnsafePath: as in ``read``.
            MemorydError: it cannot be removed.
        """
        self._expect(name, expected)
        with _explained(self.path / name, "remove"):
            os.unlink(name, dir_fd=self._fd)
            os.fsync(self._fd)

    def sweep(self) -> None:
        """Remove temporary files of writers that died; only under the lock."""
        with _explained(self.path, "clean up"):
            for entry in _scan(self._fd):
                if entry.name.startswith(TEMP_PREFIX) and entry.name.endswith(TEMP_SUFFIX):
                    info = os.stat(entry.name, dir_fd=self._fd, follow_symlinks=False)
                    if stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid():
                        os.unlink(entry.name, dir_fd=self._fd)

    def _expect(self, name: str, expected: bytes | None) -> FileBytes | None:
        found = self.read(name)
        if (None if found is None else found.raw) != expected:
            raise MemoryConflict(f"{self.path / name} changed meanwhile; what is on disk was kept")
        return found

    def _put(self, name: str, data: bytes, *, mode: int, mtime_ns: int | None) -> None:
        descriptor = os.open(name, _CREATE, mode, dir_fd=self._fd)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fchmod(descriptor, mode)
            if mtime_ns is not None:
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _scan(descriptor: int) -> list[os.DirEntry[str]]:
    with os.scandir(descriptor) as entries:
        return list(entries)


def _descend(path: Path, *, create: bool) -> int | None:
    """Open ``path`` part by part; the last two parts are never followed through a link."""
    above, parts = path.parent.parent, (path.parent.name, path.name)
    if create:
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        current = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    for part in parts:
        try:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
            below = os.open(part, _DIRECTORY, dir_fd=current)
        except FileNotFoundError:
            return None
        finally:
            os.close(current)
        current = below
    info = os.fstat(current)
    if info.st_uid != os.geteuid():
        os.close(current)
        raise UnsafePath(f"{path} belongs to another user")
    return current


def _check(info: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(info.st_mode):
        raise UnsafePath(f"{name} is a symbolic link")
    if not stat.S_ISREG(info.st_mode):
        raise UnsafePath(f"{name} is not a regular file")
    if info.st_nlink != 1:
        raise UnsafePath(f"{name} has {info.st_nlink} names (hard links)")
    if info.st_uid != os.geteuid():
        raise UnsafePath(f"{name} belongs to another user")
    if info.st_size > MAX_FILE:
        raise UnsafePath(f"{name} is larger than 1 MiB")


def _read_all(descriptor: int, name: str) -> bytes:
    parts, size = [], 0
    while chunk := os.read(descriptor, _CHUNK):
        size += len(chunk)
        if size > MAX_FILE:
            raise UnsafePath(f"{name} is larger than 1 MiB")
        parts.append(chunk)
    return b"".join(parts)


@contextmanager
def _explained(path: Path, doing: str) -> Iterator[None]:
    """Turn an ``OSError`` into what, where, and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
            raise UnsafePath(
                f"cannot {doing} at {path}: a symbolic link or a file stands in its place",
                hint="memoryd follows no links there; put a real directory or file in its place",
            ) from error
        hint = {
            errno.EACCES: "check owner and mode of the directory: it must be yours and writable",
            errno.EPERM: "check owner and mode of the directory: it must be yours and writable",
            errno.EROFS: "the file system is mounted read-only",
            errno.ENOSPC: "the disk is full; free some space",
            errno.EDQUOT: "your disk quota is used up; free some space",
        }.get(error.errno or 0, "")
        raise MemorydError(f"cannot {doing} at {path}: {error.strerror}", hint=hint) from error
