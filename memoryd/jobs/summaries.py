"""Where summaries lie: beside the transcript, and as a copy in memoryd's own state."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from types import EllipsisType

from memoryd.context.record import Record, decode, encode
from memoryd.errors import UnsafePath
from memoryd.memory.directory import MemoryDirectory

FOLDER = "session-memory"
NAME = "summary.md"
_WAIT_S = 2.0


def _no_step(_: str) -> None:
    pass


class SummaryFiles:
    """Reads and writes both; never through a link, 0600 in directories of mode 0700.

    Args:
        transcripts: the projects directory.
        copies: the directory of the copies.
        rng: names of temporary files.
    """

    def __init__(self, transcripts: Path, copies: Path, rng: Random) -> None:
        self._transcripts = os.path.abspath(transcripts)  # noqa: PTH100 - resolve() would follow links
        self._copies = Path(os.path.abspath(copies))  # noqa: PTH100 - as above
        self._rng = rng

    def path(self, transcript: str) -> Path:
        """Return where the summary beside a transcript is."""
        return Path(transcript.removesuffix(".jsonl")) / FOLDER / NAME

    def copy(self, session: str) -> Record | None:
        """Return the copy, ``None`` when there is none, or none that can be read as one.

        Raises:
            MemorydError: it cannot be read.
        """
        found = self._read(self._copies, f"{session}.md")
        return None if found is None else decode(found)

    def copied(self, prefix: str, limit: int) -> list[str]:
        """Return the sessions with a copy whose ids begin with ``prefix``, in order."""
        try:
            names = sorted(os.listdir(self._copies))  # noqa: PTH208 - names are what is asked for
        except FileNotFoundError:
            return []
        found = [name.removesuffix(".md") for name in names if name.endswith(".md")]
        return [name for name in found if name.startswith(prefix)][:limit]

    def put_copy(self, record: Record) -> None:
        """Write the copy.

        Raises:
            MemorydError: it cannot be written.
        """
        name = f"{record.session}.md"
        with MemoryDirectory.open(self._copies, create=True) as directory:
            assert directory is not None  # noqa: S101 - it is made
            with directory.lock(_WAIT_S):
                self._put(directory, name, encode(record))

    def beside(self, transcript: str) -> bytes | None:
        """Return what stands beside a transcript, ``None`` for nothing.

        Raises:
            MemorydError: it cannot be read.
        """
        path = self.path(transcript)
        return self._read(path.parent, path.name)

    def put_beside(self, transcript: str, text: bytes, *, expected: bytes | None) -> None:
        """Write the summary beside a transcript.

        Raises:
            MemoryConflict: it does not hold what is expected.
            MemorydError: it cannot be written.
        """
        path = self.path(transcript)
        project = path.parent.parent.parent
        if project.parent != Path(self._transcripts) or project.is_symlink():
            raise UnsafePath(f"{project} is no directory of the client's")
        with MemoryDirectory.open(path.parent, create=True) as directory:
            assert directory is not None  # noqa: S101 - it is made
            with directory.lock(_WAIT_S):
                directory.sweep()
                self._put(directory, path.name, text, expected=expected)

    @staticmethod
    def _read(folder: Path, name: str) -> bytes | None:
        with MemoryDirectory.open(folder) as directory:
            found = None if directory is None else directory.read(name)
        return None if found is None else found.raw

    def _put(
        self,
        directory: MemoryDirectory,
        name: str,
        data: bytes,
        *,
        expected: bytes | EllipsisType | None = ...,
    ) -> None:
        if isinstance(expected, EllipsisType):
            old = directory.read(name)
            expected = None if old is None else old.raw
        directory.write(
            name,
            data,
            expected=expected,
            mtime_ns=None,
            token=f"{self._rng.getrandbits(64):016x}",
            on_step=_no_step,
        )
