"""What of a transcript may be taken in at all: the person's exclusions and pauses. Pure.

Nothing here goes by time: a pause is told by where a file ended when it began and when it ended,
so that slow reading, wrong clocks and old timestamps let nothing through.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_MAGIC = frozenset("*?[")


class Refusal(StrEnum):
    """Why something is not taken in."""

    EXCLUDED = "excluded"
    """The person's settings exclude its directory: no trace but its digest is kept."""
    PAUSED = "paused"
    """Written during a pause: its position is kept, so that it can be taken up when asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A pause, of one project or of everything.

    Attributes:
        root: of the project; ``None`` for everything.
        since: when it began, seconds since 1970 UTC.
        until: when it ended, ``None`` while it lasts.
        before: by path, where transcripts that had unread bytes ended when it began.
        through: by path, where those ended that had unread bytes when it ended.
    """

    root: str | None
    since: float
    until: float | None = None
    before: Mapping[str, int] = field(default_factory=dict)
    through: Mapping[str, int] = field(default_factory=dict)

    def covers(self, root: str | None) -> bool:
        """Tell whether it is about the project at ``root``."""
        return self.root is None or self.root == root

    def holds(self, paths: Sequence[str], position: int) -> bool:
        """Tell whether what is read now at a position of a file was written during the pause.

        Args:
            paths: names of the file, the former one too if it was renamed.
            position: where it begins in the file.
        """
        if any(position < self.before.get(path, 0) for path in paths):
            return False
        return self.until is None or any(position < self.through.get(path, 0) for path in paths)


class Admission:
    """Decides what may be taken in.

    Args:
        exclude: globs over directories; what is below a match is excluded too.
        pauses: all there ever were.
        home: what ``~`` stands for.
    """

    def __init__(
        self, exclude: Sequence[str] = (), pauses: Sequence[Pause] = (), *, home: Path = Path("/")
    ) -> None:
        self.exclude = tuple(exclude)
        self.pauses = tuple(pauses)
        self._patterns = _patterns(exclude, home)
        self._telling = tuple(
            pause for pause in self.pauses if pause.until is None or pause.through
        )

    @property
    def refuses_something(self) -> bool:
        """Whether there is anything to ask about."""
        return bool(self._patterns or self._telling)

    def excludes(self, *directories: str | None) -> bool:
        """Tell whether one of the directories is excluded."""
        if not self._patterns:
            return False
        places = {
            place
            for directory in directories
            if directory and "\0" not in directory
            for place in (os.path.normpath(directory), os.path.realpath(directory))
        }
        return any(
            _matches(PurePosixPath(place).parts, pattern)
            for place in places
            for pattern in self._patterns
        )

    def paused(self, root: str | None) -> bool:
        """Tell whether the project at ``root`` is paused now."""
        return any(pause.until is None and pause.covers(root) for pause in self.pauses)

    def refusal(
        self, cwd: str, root: str | None, paths: Sequence[str], position: int
    ) -> Refusal | None:
        """Say why what stands in a transcript may not be taken in; ``None``: it may.

        Args:
            cwd: the working directory in which it was said, or an empty string.
            root: of its project.
            paths: of the transcript.
            position: where it begins there.
        """
        if self.excludes(cwd, root):
            return Refusal.EXCLUDED
        return Refusal.PAUSED if self.withholds(root, paths, position) else None

    def withholds(self, root: str | None, paths: Sequence[str], position: int) -> bool:
        """Tell whether what stands at a position was written during a pause; as `refusal`."""
        return any(pause.covers(root) and pause.holds(paths, position) for pause in self._telling)


def _patterns(globs: Sequence[str], home: Path) -> frozenset[tuple[str, ...]]:
    """Return the globs part by part, also with links in their literal beginning resolved."""
    found = set()
    for glob in globs:
        path = home / glob[2:] if glob.startswith("~/") else home if glob == "~" else Path(glob)
        parts = PurePosixPath(os.path.normpath(path)).parts
        literal = next(
            (at for at, part in enumerate(parts) if _MAGIC.intersection(part)), len(parts)
        )
        found.add(_short(parts))
        if literal:
            real = PurePosixPath(os.path.realpath(PurePosixPath(*parts[:literal]))).parts
            found.add(_short((*real, *parts[literal:])))
    return frozenset(found)


def _short(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Drop what changes nothing: a ``**`` behind another, or at the end."""
    kept: list[str] = []
    for part in parts:
        if part != "**" or kept[-1:] != ["**"]:
            kept.append(part)
    return tuple(kept[:-1] if kept[-1:] == ["**"] else kept)


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return True  # A match above: everything below it is meant too.
    if pattern[0] == "**":
        return any(_matches(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
