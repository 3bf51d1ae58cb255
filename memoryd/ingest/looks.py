"""What the transcripts of each directory looked like, in few bytes.

A directory is one string of bytes: the names of its transcripts, two slashes, and eight bytes for
each. That is a fifth of what a dictionary of them takes, for every directory that there is.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence

_END = b"//"


def pack(names: Sequence[str], marks: Iterable[int]) -> bytes:
    """Return names and what each looked like (signed, 64 bits); nothing for no names."""
    return "/".join(names).encode() + _END + array("q", marks).tobytes() if names else b""


def unpack(data: bytes) -> dict[str, int]:
    """Return what `pack` was given."""
    names, _, marks = data.partition(_END)
    return dict(zip(names.decode().split("/"), array("q", marks), strict=True)) if data else {}


class Looks:
    """By directory (relative path; the first part is a project), what its transcripts looked like.

    A directory without any is not held.
    """

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self._inside: dict[str, set[str]] = {}
        self._open = ""
        self._marks: dict[str, int] = {}

    def of(self, directory: str) -> dict[str, int]:
        """Return the marks by name, to be changed until the next call of anything here."""
        if directory != self._open:
            self._close()
            self._marks = unpack(self._packed.get(directory, b""))
            self._open = directory
        return self._marks

    def packed(self, directory: str) -> bytes:
        """Return what `pack` makes of a directory."""
        self._close()
        return self._packed.get(directory, b"")

    def put(self, directory: str, packed: bytes) -> None:
        """Replace what is known of a directory."""
        self._close()
        project, inner, _ = directory.partition("/")
        if packed:
            self._packed[directory] = packed
            if inner:
                self._inside.setdefault(project, set()).add(directory)
        elif self._packed.pop(directory, None) is not None and inner:
            self._inside[project].discard(directory)
            if not self._inside[project]:
                del self._inside[project]

    def below(self, project: str) -> set[str]:
        """Return the directories below a project's own."""
        self._close()
        return self._inside.get(project, set())

    def outside(self, projects: Collection[str]) -> list[str]:
        """Return the directories that belong to none of these projects."""
        self._close()
        return [name for name in self._packed if name.partition("/")[0] not in projects]

    def _close(self) -> None:
        if self._open:
            directory, self._open = self._open, ""
            self.put(directory, pack(list(self._marks), self._marks.values()))
            self._marks = {}
