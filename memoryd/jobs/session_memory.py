"""The job that keeps the summary of a session: what is new in its transcript in, a file out.

The file beside the transcript is written before the copy, which knows how far it reaches, and which
lines memoryd is about to write is in the copy before: a crash in between repeats the work and makes
the same lines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection

from memoryd.admission import Admission
from memoryd.clock import Clock
from memoryd.context.draft import PINNED
from memoryd.context.folding import Fold
from memoryd.context.record import Record
from memoryd.context.sections import Section, render
from memoryd.db.engine import Database
from memoryd.errors import MemoryBusy, MemoryConflict, MemorydError
from memoryd.ingest.cursor import digest
from memoryd.ingest.reader import CHUNK_BYTES, Source, Unopened
from memoryd.ingest.turns import withheld_key
from memoryd.jobs.summaries import SummaryFiles
from memoryd.memory.library import MemoryLibrary
from memoryd.queue.jobs import Done, Job, Outcome, PermanentFailure, Snooze
from memoryd.queue.worker import JobContext
from memoryd.stores.projects import root_of
from memoryd.stores.sessions import SessionPlace, session_place
from memoryd.stores.turns import known_keys
from memoryd.transcript.conversation import Item, ToolCall, each_item

BUSY_S = 5.0
UNWRITABLE_S = 600.0
_TRIES = 3
_AT_ONCE = 200


@dataclass(slots=True)
class Refreshed:
    """What became of a summary.

    Attributes:
        record: the summary, ``None`` if there is nothing to sum up yet.
        changed: whether it says something else than before.
        warnings: sentences.
    """

    record: Record | None
    changed: bool = False
    warnings: list[str] = field(default_factory=list)


class SessionMemory:
    """Brings summaries up to date; the handler of `JobKind.SESSION_MEMORY`.

    Args:
        database: knows the sessions.
        files: the summaries.
        library: knows where the client's auto-memory is off.
        transcripts: the projects directory.
        clock: the time.
        withheld: returns those of some sessions from which nothing is to be learned.
        admission: what may be taken in.
    """

    def __init__(
        self,
        *,
        database: Database,
        files: SummaryFiles,
        library: MemoryLibrary,
        transcripts: Path,
        clock: Clock,
        withheld: Callable[[Collection[str]], set[str]],
        admission: Callable[[], Admission] = Admission,
    ) -> None:
        self._database = database
        self._files = files
        self._library = library
        self._transcripts = transcripts
        self._clock = clock
        self._withheld = withheld
        self._admission = admission
        self._lock = threading.Lock()

    def __call__(self, context: JobContext, job: Job) -> Outcome:
        """Bring the summary of one session up to date.

        Raises:
            PermanentFailure: the job names no session.
        """
        del context
        session = str(job.payload.get("session", ""))
        skipped = self.skipped(session)
        if skipped is None:
            raise PermanentFailure("there is no such session")
        if skipped:
            return Done(result={"skipped": skipped})
        try:
            found = self.refresh(session)
        except MemoryBusy as error:
            return Snooze(self._clock.now() + BUSY_S, str(error))
        except (MemorydError, OSError) as error:
            # What cannot be read or written is a person's to mend; nothing is lost meanwhile.
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return Snooze(self._clock.now() + UNWRITABLE_S, str(reason))
        result = {
            "changed": found.changed,
            "tokens": found.record.tokens if found.record else 0,
        }
        return Done(result=result | ({"warnings": found.warnings} if found.warnings else {}))

    def skipped(self, session: str) -> str | None:
        """Return why nothing is written without being asked for, or an empty string.

        Returns:
            ``None`` if there is no such session.
        """
        with self._database.read() as connection:
            place = session_place(connection, session)
        if place is None:
            return None
        if reason := self.refused(place.root):
            return reason
        off = self._library.may_write(place.root) if place.root else None
        if off is not None:
            return f"the client's auto-memory is off: {off.why}"
        if self._withheld({session}):
            return "the client's auto-memory was off in the session"
        return ""

    def excludes(self, root: str) -> bool:
        """Tell whether the settings exclude a project."""
        return self._admission().excludes(root or None)

    def kept(self, session: str) -> Record | None:
        """Return the summary as it was last written or seen.

        Raises:
            MemorydError: the copy cannot be read.
        """
        return self._files.copy(session)

    def copied(self, prefix: str, limit: int) -> list[str]:
        """Return the sessions with a copy whose ids begin with ``prefix``, in order."""
        return self._files.copied(prefix, limit)

    def refused(self, root: str) -> str:
        """Return why nothing may be read of a project now, or an empty string."""
        if self.excludes(root):
            return "the settings exclude the project"
        return "the project is paused" if self._admission().paused(root or None) else ""

    def refresh(self, session: str) -> Refreshed:
        """Bring a summary up to date and return it; that of a transcript that is gone as it is.

        Raises:
            MemorydError: the copy cannot be read or written.
            OSError: the transcript cannot be read.
        """
        with self._lock:
            with self._database.read() as connection:
                place = session_place(connection, session)
            known = self._files.copy(session)
            source = self._open(place)
            if place is None or source is None or self.refused(place.root):
                return Refreshed(known)
            try:
                for _ in range(_TRIES - 1):
                    try:
                        return self._update(place, source, known)
                    except MemoryConflict:  # Somebody edited it meanwhile: once more, with that.
                        continue
                return self._update(place, source, known)
            finally:
                source.close()

    def _open(self, place: SessionPlace | None) -> Source | None:
        if place is None or place.missing:
            return None
        path = Path(place.path)
        if not path.is_relative_to(self._transcripts):
            return None
        source = Source.open(str(self._transcripts), path.relative_to(self._transcripts).as_posix())
        return None if isinstance(source, Unopened) else source

    def _update(self, place: SessionPlace, source: Source, known: Record | None) -> Refreshed:
        """Sum up what is new.

        Raises:
            MemoryConflict: what stands beside the transcript changed meanwhile.
        """
        warnings: list[str] = []
        try:
            theirs = self._files.beside(place.path)
        except MemorydError as error:
            theirs = None
            warnings.append(str(error))
        record = known or Record(place.session)
        draft = record.draft(None if theirs is None else theirs.decode("utf-8", "replace"))
        if record.anchor and digest(source.before(record.through)).hex() != record.anchor:
            # Another file stands there: what was read of the old one is not in it.
            record = replace(record, through=0, anchor="", turn="", closed=False)
            draft.forget_own()
        fold = Fold(draft, record.turn)
        gate = _Gate(self._database, self._admission(), place, closed=record.closed)
        through, news = record.through, False
        stretch = _chunks(source, through, place.offset)
        for item, go_on in gate.admitted(each_item(stretch, start=through)):
            if item is not None:
                fold.add(item)
                news = True
            through = go_on
        if known is None and draft.value(Section.TASK, PINNED) is None:
            return Refreshed(None)
        if news:
            fold.finish(place.title)
        summary, own = draft.finish()
        text = render(summary)
        changed = known is None or text != known.text
        record = Record(
            session=place.session,
            project=place.root,
            text=text,
            updated=self._clock.now() if known is None or changed else known.updated,
            through=through,
            anchor=digest(source.before(through)).hex() if through else "",
            turn=fold.turn,
            closed=gate.closed,
            own=own,
        )
        if (news or theirs is None) and text.encode("utf-8", "replace") != theirs and not warnings:
            # Killed after the file was written, its lines must be known as memoryd's.
            before = known or Record(place.session)
            self._files.put_copy(replace(before, own=before.own | own))
            warnings += self._put_beside(place.path, text, theirs)
        if record != known:
            self._files.put_copy(record)
        return Refreshed(record, changed, warnings)

    def _put_beside(self, transcript: str, text: str, theirs: bytes | None) -> list[str]:
        """Write the file beside a transcript; return why it could not be written, if so."""
        data = text.encode("utf-8", "replace")
        try:
            self._files.put_beside(transcript, data, expected=theirs)
        except (MemoryConflict, MemoryBusy):
            raise
        except MemorydError as error:
            return [str(error)]
        return []


@dataclass(slots=True)
class _Gate:
    """Leaves out what may not be told of: excluded, or written during a pause."""

    database: Database
    admission: Admission
    place: SessionPlace
    closed: bool
    _roots: dict[str, str | None] = field(default_factory=dict)

    def admitted(self, items: Iterator[tuple[Item, int]]) -> Iterator[tuple[Item | None, int]]:
        """Yield the items with the positions behind them; ``None`` for one that is left out."""
        while batch := list(islice(items, _AT_ONCE)):
            texts = {
                withheld_key(item.uuid): item.uuid
                for item, _ in batch
                if not isinstance(item, ToolCall)
            }
            with self.database.read() as connection:
                withheld = {texts[key] for key in known_keys(connection, texts)}
                kept = [
                    (None if self._refuses(connection, item, withheld) else item, go_on)
                    for item, go_on in batch
                ]
            yield from kept

    def _refuses(self, connection: Connection, item: Item, withheld: Collection[str]) -> bool:
        cwd = item.cwd
        if cwd not in self._roots:
            self._roots[cwd] = root_of(connection, cwd) if cwd else self.place.root or None
        root = self._roots[cwd]
        refused = self.admission.refusal(
            cwd, root, [self.place.path], item.start
        ) is not None or any(
            pause.covers(root) and pause.since <= item.at < (pause.until or item.at + 1)
            for pause in self.admission.pauses
        )
        if not isinstance(item, ToolCall):
            self.closed = refused or item.uuid in withheld
        return refused or self.closed


def _chunks(source: Source, position: int, end: int) -> Iterator[bytes]:
    while position < end:
        chunk = source.read(position, min(CHUNK_BYTES, end - position))
        if not chunk:
            return
        position += len(chunk)
        yield chunk
