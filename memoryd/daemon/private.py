"""Directories that only the person may enter."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memoryd.errors import UnsafePath

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600

_OTHERS = 0o077
_OWN_NAMES = ("memoryd.", "text.db", "lock", "run", "summaries", ".new.sock")


def private_directory(path: Path) -> Path:
    """Make ``path`` (parents too) unless it is there, and check that it is safe to use.

    A directory of the person that is open to others is closed to them when nothing but
    memoryd's own files is in it; otherwise it is somebody's, and refused.

    Raises:
        UnsafePath: it is a link, no directory, another user's, or open to others.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=PRIVATE_DIRECTORY)
    except FileExistsError:
        pass
    except OSError as error:
        raise UnsafePath(f"cannot make the directory {path}: {error.strerror}") from error
    fd = _open_directory(path)
    try:
        found = os.fstat(fd)
        if found.st_uid != os.geteuid():
            raise UnsafePath(f"{path} belongs to another user (uid {found.st_uid})")
        if stat.S_IMODE(found.st_mode) & _OTHERS:
            if foreign := [
                name
                for name in os.listdir(fd)  # noqa: PTH208 - by descriptor, so that what is checked is what is used
                if not name.startswith(_OWN_NAMES)
            ]:
                raise UnsafePath(
                    f"{path} is open to other users and holds other things ({foreign[0]!r})",
                    hint=f"give memoryd a directory of its own, or: chmod 700 {path}",
                )
            os.fchmod(fd, PRIVATE_DIRECTORY)
    finally:
        os.close(fd)
    return path


def _open_directory(path: Path) -> int:
    """Open a directory, never through a link in its last part."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise UnsafePath(f"{path} is a symbolic link; memoryd does not follow it") from None
        raise UnsafePath(f"{path} cannot be used as a directory: {error.strerror}") from error
