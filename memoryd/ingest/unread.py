"""How much is known to be on the disk that nobody has read yet."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence

from memoryd.db.engine import Database
from memoryd.stores import transcripts
from memoryd.stores.transcripts import File


class Unread:
    """Bytes behind the cursors of all files, by path relative to the projects directory.

    Written by the thread that reads; any thread may ask for the sum.

    Args:
        root: the projects directory.
        database: knows the cursors.
    """

    def __init__(self, root: str, database: Database) -> None:
        self._root = root
        self._database = database
        self._left: dict[str, int] = {}

    def bytes(self, hints: Collection[str] = ()) -> int:
        """Return the sum.

        Args:
            hints: further files that may have grown; only these are looked at on the disk.
        """
        left = self._left.copy()
        if hints:
            left = self._behind_cursors(self._sizes(hints)) | left
        return sum(left.values())

    def begin(self, found: Sequence[str], *, at_once: int) -> None:
        """Take files for unread that are about to be read.

        Args:
            found: the files.
            at_once: up to so many are looked up by the caller, who then calls ``looked_up``.
        """
        for start in range(0, len(found), at_once):
            sizes = self._sizes(found[start : start + at_once])
            self._left |= sizes if len(found) <= at_once else self._behind_cursors(sizes)

    def looked_up(self, rows: Mapping[str, File]) -> None:
        """Leave out what was read of the few files before, by their rows."""
        for relative, row in rows.items():
            self.left(relative, self._left.get(relative, 0) - max(row.size, row.offset))

    def left(self, relative: str, count: int) -> None:
        """Say that ``count`` bytes of a file are not committed."""
        if count > 0:
            self._left[relative] = count
        else:
            self.drop(relative)

    def drop(self, relative: str) -> None:
        """Leave a file out: it is read, gone, or cannot be read."""
        self._left.pop(relative, None)
        if not self._left:
            self._left = {}  # an emptied one keeps its room

    def _sizes(self, found: Collection[str]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for relative in found:
            with contextlib.suppress(OSError):
                sizes[relative] = os.lstat(f"{self._root}/{relative}").st_size
        return sizes

    def _behind_cursors(self, sizes: Mapping[str, int]) -> dict[str, int]:
        with self._database.read() as connection:
            read = transcripts.looked_at(connection, [f"{self._root}/{name}" for name in sizes])
        return {
            name: max(0, size - read.get(f"{self._root}/{name}", 0)) for name, size in sizes.items()
        }
