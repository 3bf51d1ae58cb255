"""Which directories are trusted to name files outside themselves, and how far a project reaches."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryd import projects
from memoryd.errors import MemorydError

_LIMIT = 1024 * 1024
_VERSION = 1


class TrustUnreadable(MemorydError):  # noqa: N818 - a state of the world, named as the user meets it
    """The list of trusted directories cannot be read."""


@dataclass(frozen=True, slots=True)
class Root:
    """How far the files of a directory reach without trust.

    Attributes:
        path: absolute, links resolved.
        git: it is the top of a git working tree.
    """

    path: str
    git: bool


@dataclass(frozen=True, slots=True)
class Trusted:
    """A trusted directory.

    Attributes:
        path: its real path.
        since: when it was trusted, such as ``2026-12-01T12:00:00Z``.
    """

    path: str
    since: str


def root_of(directory: str, home: str) -> Root:
    """Return the root of the files of a directory: the top of its git working tree, or itself.

    A repository at or above the home directory holds the home directory, keys included, so it is
    no bound for what lies in it.

    Args:
        directory: a real path.
        home: the real path of the person's home directory.
    """
    at = directory
    while not within(home, at):
        if os.path.lexists(os.path.join(at, ".git")):
            return Root(at, git=True)
        at = os.path.dirname(at)
    return Root(directory, git=False)


def is_trusted(root: Root, trusted: Iterable[str]) -> bool:
    """Tell whether a root is among the trusted directories.

    A worktree counts as its repository. Outside git a trusted directory stands for those in it
    too; a repository in a trusted directory must be trusted itself.
    """
    known = frozenset(trusted)
    if root.path in known:
        return True
    if root.git:
        main = projects.resolve(root.path)
        return main is not None and main.path in known
    return any(within(root.path, path) for path in known)


def within(path: str, directory: str) -> bool:
    """Tell whether a real path is a directory, or lies in it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def read_trusted(path: Path) -> tuple[Trusted, ...]:
    """Read the list; a file that is not there lists nothing.

    Raises:
        TrustUnreadable: it is no file of this person, or not what was written.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _unreadable(path, (error.strerror or "").lower()) from error
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _LIMIT:
            raise _unreadable(path, "it is no file of memoryd")
        if info.st_uid != os.geteuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise _unreadable(path, "others may write it")
        data = file.read()
    try:
        value: Any = json.loads(data)
        found = tuple(Trusted(str(one["path"]), str(one["since"])) for one in value["directories"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _unreadable(path, "it is not what memoryd wrote") from None
    return found


def write_trusted(path: Path, trusted: Iterable[Trusted]) -> None:
    """Write the list as a whole, for this person's eyes only.

    Raises:
        OSError: it cannot be written; the old list stays.
    """
    listed = [{"path": one.path, "since": one.since} for one in trusted]
    text = json.dumps({"version": _VERSION, "directories": listed}, indent=2) + "\n"
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _unreadable(path: Path, reason: str) -> TrustUnreadable:
    return TrustUnreadable(
        f"{path} cannot be read: {reason}", hint="mend it, or remove it and trust again"
    )
