"""Keeps the text index up with the cursors; what it missed, it reads again from the transcripts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memoryd.admission import Admission
from memoryd.db.engine import Database
from memoryd.ingest.classify import SUFFIX, SessionFile, classify
from memoryd.ingest.cursor import decode_mark
from memoryd.ingest.reader import CHUNK_BYTES, Source, Unopened
from memoryd.ingest.recorder import Said
from memoryd.ingest.turns import withheld_key
from memoryd.redaction import clean
from memoryd.search.index import Entry, TextIndex
from memoryd.stores import projects, transcripts, turns
from memoryd.transcript.events import AssistantText, Event, HumanPrompt
from memoryd.transcript.reader import TranscriptReader

_STEP_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class _Gap:
    """Bytes of a file that are read but not indexed.

    Attributes:
        start: everything before it is indexed.
        end: everything before it is read.
    """

    start: int
    end: int


class Follower:
    """Writes to the text index.

    Args:
        index: the index.
        database: to look up projects.
        root: the projects directory.
        on_problem: called with a sentence when the index could not be written, and with ``None``
            when it could again.
        admission: what may be indexed.
    """

    def __init__(
        self,
        index: TextIndex,
        database: Database,
        root: str,
        on_problem: Callable[[str | None], None],
        admission: Callable[[], Admission] = Admission,
    ) -> None:
        self._index = index
        self._database = database
        self._root = root
        self._admission = admission
        self._on_problem = on_problem
        self._gaps: dict[str, _Gap] = {}
        self._reading: tuple[str, int, TranscriptReader] | None = None
        self._failed = False
        self._told = False

    @property
    def lag(self) -> int:
        """Bytes that are read but not indexed."""
        return sum(gap.end - gap.start for gap in list(self._gaps.values()))

    def behind(self, sizes: Mapping[str, int]) -> bool:
        """Return whether bytes of these files are read but not indexed; any thread may ask.

        Args:
            sizes: absolute path of each file, and up to where it matters.
        """
        return any(gap.start < sizes.get(path, 0) for path, gap in list(self._gaps.items()))

    def load(self) -> None:
        """Find out where the index is behind: after a crash, or because it was deleted."""
        indexed = self._index.positions()
        with self._database.read() as connection:
            for path, offset in transcripts.read_positions(connection):
                start = indexed.get(path, 0)
                if start < offset:
                    self._gaps[path] = _Gap(start, offset)

    def add(self, said: Sequence[Said]) -> None:
        """Index what was just committed; where the index is behind, that comes first."""
        entries: list[Entry] = []
        positions: dict[str, int] = {}
        for item in said:
            portion = item.portion
            if portion.moved and portion.file is not None:
                self._rename(portion.file.path, portion.path)
            gap = self._gaps.get(portion.path)
            if gap is not None:
                gap.start = 0 if portion.restart else gap.start
                gap.end = portion.offset
                self._reading = None if portion.restart else self._reading
                continue
            positions[portion.path] = portion.offset
            session = _session(portion.path)
            entries += [
                _entry(portion.path, session, project.root, event, 0)
                for event, project in item.entries
            ]
        if positions and not self._write(entries, positions):
            for item in said:
                if item.portion.path in positions:
                    gap = _Gap(item.portion.start, item.portion.offset)
                    self._gaps[item.portion.path] = gap

    def retry(self) -> None:
        """Try again after a failure."""
        self._failed = False

    def step(self) -> bool:
        """Index some megabytes of what is behind; return whether there is more to do."""
        if self._failed or not self._gaps:
            return False
        path = self._reading[0] if self._reading else next(iter(self._gaps))
        gap = self._gaps.get(path)
        if gap is None:
            self._reading = None
            return bool(self._gaps)
        try:
            source = Source.open(self._root, path[len(self._root) + 1 :])
        except OSError:
            source = Unopened.NO_FILE
        if isinstance(source, Unopened):
            # Nobody can index it now. It counts as behind again at the next start.
            self._drop(path)
            return bool(self._gaps)
        try:
            self._read(path, gap, source)
        finally:
            source.close()
        return bool(self._gaps) and not self._failed

    def _read(self, path: str, gap: _Gap, source: Source) -> None:
        if self._reading is None or self._reading[0] != path:
            self._reading = (path, gap.start, TranscriptReader())
        _, base, reader = self._reading
        position = base + reader.offset + reader.pending_bytes
        limit = min(gap.end, position + _STEP_BYTES)
        events = []
        while position < limit:
            chunk = source.read(position, min(CHUNK_BYTES, limit - position))
            if not chunk:
                break
            position += len(chunk)
            events += reader.feed(chunk)
        at_end = position >= gap.end or position < limit
        if at_end:
            events += reader.take_tail()
        entries = [] if self._is_own(path) else self._entries(path, events, base)
        start = gap.end if at_end else base + reader.offset
        if not self._write(entries, {path: start}):
            self._reading = None
        elif at_end:
            self._drop(path)
        else:
            gap.start = start

    def _entries(self, path: str, events: Sequence[Event], base: int) -> list[Entry]:
        """Return what was said, without what is not to be taken in."""
        session = _session(path)
        admission = self._admission()
        said = [event for event in events if isinstance(event, HumanPrompt | AssistantText)]
        roots: dict[str, str] = {}
        entries = []
        with self._database.read() as connection:
            withheld = turns.known_keys(connection, {withheld_key(event.uuid) for event in said})
            for event in said:
                if event.cwd not in roots:
                    known = projects.find_project(connection, event.cwd)
                    roots[event.cwd] = known.root if known else event.cwd
                root = roots[event.cwd]
                if withheld_key(event.uuid) not in withheld and not admission.excludes(
                    event.cwd, root
                ):
                    entries.append(_entry(path, session, root, event, base))
        return entries

    def _is_own(self, path: str) -> bool:
        """Return whether memoryd caused the session, which only its beginning tells."""
        with self._database.read() as connection:
            file = transcripts.files_at(connection, [path]).get(path)
        mark = None if file is None else decode_mark(file.state)
        return mark is not None and TranscriptReader(state=mark.reader).session.own

    def _drop(self, path: str) -> None:
        self._gaps.pop(path, None)
        self._reading = None

    def _rename(self, old: str, new: str) -> None:
        gap = self._gaps.pop(old, None)
        if gap is not None:
            self._gaps[new] = gap
            self._reading = None
        try:
            self._index.rename_file(old, new)
        except sqlite3.Error as error:
            self._fail(error)

    def _write(self, entries: list[Entry], positions: dict[str, int]) -> bool:
        try:
            self._index.add_batch(entries, positions)
        except sqlite3.Error as error:
            self._fail(error)
            return False
        if self._told:
            self._failed = self._told = False
            self._on_problem(None)
        return True

    def _fail(self, error: sqlite3.Error) -> None:
        self._failed = self._told = True
        self._on_problem(
            f"The text index cannot be written ({error}); search misses what is new. Check the "
            "free space and the permissions of the state directory; it is tried again by itself."
        )


def _session(path: str) -> str:
    # Not with pathlib: it would keep every part of every path for good.
    what = classify("/".join(path.rsplit("/", 2)[-2:]))
    if isinstance(what, SessionFile):
        return what.session
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def _entry(
    path: str, session: str, root: str, event: HumanPrompt | AssistantText, base: int
) -> Entry:
    return Entry(
        file=path,
        start=base + event.start,
        session=session,
        project=root,
        uuid=event.uuid,
        at=event.at,
        role="human" if isinstance(event, HumanPrompt) else "assistant",
        text=clean(event.text),
    )
