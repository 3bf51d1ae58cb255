"""Transcripts that stood there at the first start and have not been read since."""

from __future__ import annotations

from collections.abc import Collection

from memoryd.db.engine import Database
from memoryd.stores import transcripts


class Backlog:
    """Knows which files wait since the first start; once none does, it asks no more.

    Args:
        root: the projects directory, absolute.
        database: with its tables.
    """

    def __init__(self, root: str, database: Database) -> None:
        self._root = root
        self._database = database
        self._waits = True

    def first(self, found: Collection[str]) -> list[str]:
        """Put what was written before the first start in front.

        A later fork of that history is then known for what it is.

        Args:
            found: paths below the projects directory.
        """
        rest = list(found)
        if not self._waits or len(rest) == 1:
            return rest
        old: list[str] = []
        with self._database.read() as connection:
            self._waits = transcripts.has_baseline_backlog(connection)
            if self._waits:
                paths = [f"{self._root}/{relative}" for relative in rest]
                waits = transcripts.wait_since_baseline(connection, paths)
                old = [relative for relative, one in zip(rest, waits, strict=True) if one]
                rest = [relative for relative, one in zip(rest, waits, strict=True) if not one]
        return old + rest
