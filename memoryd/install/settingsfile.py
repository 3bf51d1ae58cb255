"""The client's settings files on disk: read for editing, and replaced only if nobody else did."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import MemorydError

_MOST = 4 << 20
_WRITABLE = 0o222


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file as it was read.

    Attributes:
        path: as it is named.
        real: the file itself, where ``path`` is a link to it.
        content: its bytes, ``None`` if there is no file.
        info: of the file, ``None`` if there is none.
    """

    path: Path
    real: Path
    content: bytes | None
    info: os.stat_result | None

    @property
    def text(self) -> str:
        """Its text, empty if there is no file.

        Raises:
            MemorydError: it is not UTF-8.
        """
        try:
            return (self.content or b"").decode()
        except UnicodeDecodeError as error:
            raise MemorydError(f"{self.path} is not UTF-8 text; nothing was changed") from error

    @property
    def digest(self) -> str | None:
        """SHA-256 of its bytes, ``None`` if there is no file."""
        return None if self.content is None else hashlib.sha256(self.content).hexdigest()

    def check_writable(self) -> None:
        """See that the person may change it.

        Raises:
            MemorydError: it is read only, or its folder is.
        """
        if self.info is None:
            folder = next(place for place in self.real.parents if place.exists())
            if not folder.is_dir() or not os.access(folder, os.W_OK):
                raise MemorydError(f"{self.path} cannot be made: {folder} cannot be written")
            return
        # Whoever may do anything can still have marked the file as not to be changed.
        marked = not self.info.st_mode & _WRITABLE
        if marked or not os.access(self.real, os.W_OK) or not os.access(self.real.parent, os.W_OK):
            raise MemorydError(
                f"{self.real} is read only; nothing was changed",
                hint="let it be written, or put the hooks there yourself: memoryctl help service",
            )


def read(path: Path) -> SettingsFile:
    """Read a settings file; a link is followed.

    Raises:
        MemorydError: it is no file, too large, a link to nothing, or cannot be read.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise MemorydError(
                f"{path} is a link to {Path(path).readlink()}, which is not there"
            ) from None
        return SettingsFile(path, Path(os.path.realpath(path)), None, None)
    except OSError as error:
        raise MemorydError(f"{path} cannot be read: {error.strerror}") from error
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_size > _MOST:
                raise MemorydError(f"{path} is no settings file (no regular file, or over 4 MiB)")
            return SettingsFile(path, real, file.read(), info)
    except OSError as error:
        raise MemorydError(f"{path} cannot be read: {error.strerror}") from error


def back_up(file: SettingsFile, folder: Path) -> str | None:
    """Keep a copy named by its content, readable by the person alone; return its name."""
    if file.content is None:
        return None
    private_directory(folder.parent)
    kept = private_directory(folder) / f"{file.path.name}.{(file.digest or '')[:16]}"
    _write(kept, file.content, None)
    return kept.name


def replace(file: SettingsFile, text: str | None) -> None:
    """Replace what a settings file holds, with the mode and the owner that it has.

    Args:
        file: as it was read.
        text: the new one; ``None`` removes the file.

    Raises:
        MemorydError: it is not any more as it was read, or cannot be written.
    """
    now = read(file.path)
    if (now.real, now.content) != (file.real, file.content):
        raise MemorydError(
            f"{file.path} was changed by somebody else meanwhile; it was left alone",
            hint="run it again",
        )
    try:
        if text is None:
            file.path.unlink(missing_ok=True)
        else:
            _write(file.real, text.encode(), now.info)
    except OSError as error:
        raise MemorydError(f"{file.path} cannot be written: {error.strerror}") from error


def _write(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Write a file so that at every moment the old or the new one is there, whole."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if like is None:
                os.fchmod(descriptor, PRIVATE_FILE)
            else:
                mine = os.fstat(descriptor)
                if (like.st_uid, like.st_gid) != (mine.st_uid, mine.st_gid):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
