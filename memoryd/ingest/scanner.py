"""Walks the client's projects directory and says what changed since the last walk.

The walk is what ingestion relies on; events of the file system only make it faster. One look
costs two system calls a directory and one a file, no query of the database, and the memory of
`memoryd.ingest.looks`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from stat import S_ISREG

from memoryd.ingest.classify import AGENT_PREFIX, MEMORY, SUBAGENTS, SUFFIX, is_utf8
from memoryd.ingest.cursor import signed
from memoryd.ingest.looks import Looks, pack, unpack

_UNREAD = -1
_DEPTH = 8


@dataclass(slots=True)
class Scan:
    """What one walk found. All paths are relative to the projects directory.

    Attributes:
        changed: transcripts that are new or differ from the last walk.
        missing: transcripts that were there at the last walk.
        unreadable: directories that could not be listed, with the reason.
        misnamed: transcripts and project directories whose names are not UTF-8, in a form that
            can be shown; they are passed over.
        files: transcripts found.
        directories: directories listed.
        root: whether the projects directory itself is there.
    """

    changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    misnamed: list[str] = field(default_factory=list)
    files: int = 0
    directories: int = 0
    root: bool = True


class Scanner:
    """Remembers what each transcript looked like and compares. For one thread at a time.

    Args:
        root: the projects directory; may be a symbolic link, those below it are not followed.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._known = Looks()
        self._expected: set[str] = set()

    def expect(self, files: Iterable[tuple[str, int, int, bool]]) -> None:
        """Take over what an earlier process had read.

        Args:
            files: relative path, inode, size, and whether all of it was handled.
        """
        for relative, inode, size, handled in files:
            directory, name = _split(relative)
            signature = hash((size, inode)) if handled else _UNREAD
            self._known.of(directory)[name] = signature
            self._expected.add(directory)

    def note(self, relative: str, status: os.stat_result) -> None:
        """Remember that the file was read when it looked like ``status``."""
        directory, name = _split(relative)
        if directory not in self._expected:
            self._known.of(directory)[name] = _mark(status)

    def doubt(self, relative: str) -> None:
        """Let the next walk report the file again: it could not be read to its end."""
        directory, name = _split(relative)
        self._known.of(directory)[name] = _UNREAD

    def forget(self, relative: str) -> None:
        """Take the file for gone until it is seen again."""
        directory, name = _split(relative)
        self._known.of(directory).pop(name, None)

    def scan(self) -> Scan:
        """Walk the whole tree."""
        result = Scan()
        try:
            with os.scandir(self._root) as entries:
                projects = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
        except (FileNotFoundError, NotADirectoryError):
            # More likely not mounted than emptied: nothing is declared missing.
            result.root = False
            return result
        except OSError as error:
            result.unreadable[""] = error.strerror or str(error)
            return result
        result.directories = 1
        for project in sorted(projects):
            if not is_utf8(project):
                projects.remove(project)
                result.misnamed.append(os.fsencode(project).decode(errors="backslashreplace"))
        self._drop(self._known.outside(projects), result)
        for project in projects:
            self._scan_project(project, result)
        if not self._expected:
            self._expected = set()  # an emptied one keeps its room
        return result

    def scan_below(self, directory: str) -> Scan:
        """Walk the part of the tree that ``directory`` (a relative path) is in or is."""
        result = Scan()
        parts = directory.split("/")
        if not is_utf8(directory):
            # The walk over the whole tree passes it over and says so.
            return result
        if len(parts) == 1:
            self._scan_project(parts[0], result)
        elif parts[1] != MEMORY:
            seen: set[str] = set()
            self._scan_subagents(f"{parts[0]}/{parts[1]}/{SUBAGENTS}", result, seen, _DEPTH)
        return result

    def _scan_project(self, project: str, result: Scan) -> None:
        seen = {project}
        inner = self._compare(project, result, prefix="")
        if project in result.unreadable:
            return
        for name in inner:
            if name != MEMORY:
                self._scan_subagents(f"{project}/{name}/{SUBAGENTS}", result, seen, _DEPTH)
        self._drop(self._known.below(project) - seen, result)

    def _scan_subagents(self, directory: str, result: Scan, seen: set[str], depth: int) -> None:
        seen.add(directory)
        inner = self._compare(directory, result, prefix=AGENT_PREFIX)
        if directory in result.unreadable:
            below = directory + "/"
            project = directory.partition("/")[0]
            seen.update(name for name in self._known.below(project) if name.startswith(below))
        elif depth:
            for name in inner:
                self._scan_subagents(f"{directory}/{name}", result, seen, depth - 1)

    def _compare(self, directory: str, result: Scan, prefix: str) -> list[str]:
        """Compare the transcripts of one directory; return the directories inside it."""
        try:
            names, marks, inner = self._look(directory, prefix, result)
        except (FileNotFoundError, NotADirectoryError):
            names, marks, inner = [], [], []
        except OSError as error:
            result.unreadable[directory] = error.strerror or str(error)
            return []
        else:
            result.directories += 1
            result.files += len(names)
        found = pack(names, marks)
        known = self._known.packed(directory)
        if found != known:
            fresh = dict(zip(names, marks, strict=True))
            before = unpack(known)
            changed = [name for name, mark in fresh.items() if before.get(name) != mark]
            if directory in self._expected:
                changed = [n for n in changed if not self._as_expected(directory, n, before)]
            result.changed.extend(f"{directory}/{name}" for name in changed)
            result.missing.extend(f"{directory}/{name}" for name in before if name not in fresh)
            self._known.put(directory, found)
        self._expected.discard(directory)
        return inner

    def _look(
        self, directory: str, prefix: str, result: Scan
    ) -> tuple[list[str], list[int], list[str]]:
        names: list[str] = []
        marks: list[int] = []
        inner: list[str] = []
        with os.scandir(f"{self._root}/{directory}") as entries:
            for entry in entries:
                name = entry.name
                if not is_utf8(name):
                    if name.endswith(SUFFIX):
                        path = os.fsencode(f"{directory}/{name}")
                        result.misnamed.append(path.decode(errors="backslashreplace"))
                elif name.endswith(SUFFIX) and name.startswith(prefix):
                    status = entry.stat(follow_symlinks=False)
                    if S_ISREG(status.st_mode):
                        names.append(name)
                        marks.append(_mark(status))
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(name)
        return names, marks, inner

    def _as_expected(self, directory: str, name: str, before: dict[str, int]) -> bool:
        try:
            status = os.lstat(f"{self._root}/{directory}/{name}")
        except OSError:
            return False
        return before.get(name) == hash((status.st_size, signed(status.st_ino)))

    def _drop(self, directories: Collection[str], result: Scan) -> None:
        for directory in directories:
            names = unpack(self._known.packed(directory))
            result.missing.extend(f"{directory}/{name}" for name in names)
            self._known.put(directory, b"")
            self._expected.discard(directory)


def _mark(status: os.stat_result) -> int:
    return hash((status.st_size, status.st_mtime_ns, status.st_ino))


def _split(relative: str) -> tuple[str, str]:
    directory, _, name = relative.rpartition("/")
    return directory, name


def transcript_sizes(root: str) -> dict[str, int]:
    """Return the size of every transcript below the projects directory, by absolute path."""
    sizes: dict[str, int] = {}
    for relative in Scanner(root).scan().changed:
        path = f"{root}/{relative}"
        try:
            sizes[path] = os.lstat(path).st_size
        except OSError:
            continue  # It went meanwhile.
    return sizes
