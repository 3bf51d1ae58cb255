"""What was on the disk at one instant, and whether all of it is read and indexed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from memoryd.db.engine import Database
from memoryd.ingest.scanner import Scanner
from memoryd.stores import transcripts

_AT_ONCE = 200


class Goal:
    """Taken when somebody asks to wait while much is being read; used by that thread.

    Args:
        root: the projects directory; all sizes are taken now.
        database: knows the cursors.
        commits: returns how many commits were begun and up to which of them all is indexed.
    """

    def __init__(
        self, root: str, database: Database, commits: Callable[[], tuple[int, int]]
    ) -> None:
        self._database = database
        self._commits = commits
        self.sizes: dict[str, int] = {}
        for relative in Scanner(root).scan().changed:
            path = f"{root}/{relative}"
            with contextlib.suppress(OSError):
                self.sizes[path] = os.lstat(path).st_size
        self._left = [path for path, size in self.sizes.items() if size]
        self._last_commit: int | None = None

    def reached(self) -> bool:
        """Return whether everything is committed, and what the commits brought is indexed.

        What the index owes from earlier is not looked at.
        """
        while self._left:
            some = self._left[:_AT_ONCE]
            with self._database.read() as connection:
                read = transcripts.looked_at(connection, some)
            rest = [path for path in some if read.get(path, 0) < self.sizes[path]]
            self._left[:_AT_ONCE] = rest
            if rest:
                return False
        if self._last_commit is None:
            self._last_commit = self._commits()[0]
        return self._commits()[1] >= self._last_commit
