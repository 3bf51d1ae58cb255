"""The only module of this room that reads files: never through a link, never too much."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice

MAX_FILE = 4 * 1024 * 1024
"""Bytes of a file of instructions; a larger one is skipped whole."""

MAX_NAMES = 10_000
"""Names in a directory that is listed."""

_CACHED = 8 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds.

    Attributes:
        text: decoded, without a byte order mark; ``None`` when the file was skipped or is absent.
        notice: why it was skipped, or what is odd about it, in words.
        absent: there is no such file.
    """

    text: str | None
    notice: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory."""

    name: str
    directory: bool


class Reader:
    """Reads files, and remembers their texts by path, inode, time of change and size.

    A reader may be kept; it holds at most 8 MiB of text. It is not for several threads at once.
    """

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[tuple[int, ...], Content]] = OrderedDict()
        self._held = 0

    def read(self, path: str) -> Content:
        """Read a file by its real path.

        Every part of the path is opened without following links, so what is read is what was
        judged, whatever is swapped meanwhile.
        """
        try:
            descriptor = _open(path)
        except (FileNotFoundError, NotADirectoryError):
            return Content(None, absent=True)
        except (OSError, ValueError) as error:
            return Content(None, f"cannot be read ({_reason(error)})")
        try:
            return self._content(path, descriptor)
        except OSError as error:
            return Content(None, f"cannot be read ({_reason(error)})")
        finally:
            os.close(descriptor)

    def _content(self, path: str, descriptor: int) -> Content:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return Content(None, "is no regular file")
        if info.st_size > MAX_FILE:
            return Content(None, f"is larger than {MAX_FILE >> 20} MiB")
        key = (info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
        known = self._texts.get(path)
        if known is not None and known[0] == key:
            self._texts.move_to_end(path)
            return known[1]
        content = _decoded(_all(descriptor, info.st_size), info.st_uid)
        self._keep(path, key, content)
        return content

    def entries(self, directory: str) -> list[Entry] | str:
        """Return what a directory holds, by name, or in words why it cannot be listed."""
        try:
            with os.scandir(directory) as found:
                some = islice(found, MAX_NAMES + 1)
                entries = [Entry(one.name, _is_directory(one)) for one in some]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            return f"cannot be listed ({_reason(error)})"
        if len(entries) > MAX_NAMES:
            return f"holds more than {MAX_NAMES} names: none of them loads"
        return sorted(entries, key=lambda entry: entry.name)

    def real(self, path: str) -> str | None:
        """Return where a path leads, links resolved; ``None`` if that can be nowhere."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return None

    def _keep(self, path: str, key: tuple[int, ...], content: Content) -> None:
        before = self._texts.pop(path, None)
        self._held += _size(content) - (_size(before[1]) if before else 0)
        self._texts[path] = key, content
        while self._held > _CACHED:
            _, (_, dropped) = self._texts.popitem(last=False)
            self._held -= _size(dropped)


def _open(path: str) -> int:
    """Open a real path part by part.

    Raises:
        OSError: a part is a link, absent, or may not be entered.
    """
    directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    parts = path.strip("/").split("/")
    try:
        for part in parts[:-1]:
            entered = os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = entered
        return os.open(parts[-1], _FLAGS, dir_fd=directory)
    finally:
        os.close(directory)


def _all(descriptor: int, size: int) -> bytes:
    """Read a file up to the size that it had; one read may give less."""
    pieces = []
    while size > 0 and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads round in a circle.
        return False


def _decoded(data: bytes, owner: int) -> Content:
    if b"\0" in data:
        return Content(None, "is no text")
    notices = []
    if owner not in (os.geteuid(), 0):
        notices.append(f"belongs to another user (uid {owner})")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
        notices.append("is not all UTF-8")
    return Content(text, " and ".join(notices))


def _size(content: Content) -> int:
    return len(content.text or "") + 200


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
