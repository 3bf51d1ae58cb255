"""From a path to committed rows, jobs and index entries; used by one thread at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from memoryd.clock import Clock
from memoryd.db.engine import Database
from memoryd.errors import DatabaseBusy, DatabaseGone
from memoryd.ingest.backlog import Backlog
from memoryd.ingest.classify import classify
from memoryd.ingest.follower import Follower
from memoryd.ingest.known import look_up
from memoryd.ingest.reader import Portion, Source, Unopened, moved_from, portions
from memoryd.ingest.recorder import Recorded, Recorder
from memoryd.ingest.scanner import Scan, Scanner
from memoryd.ingest.status import (
    Counters,
    Warnings,
    refused_file,
    tell_of_scan,
    unreadable_file,
    unwritable_database,
)
from memoryd.ingest.tails import Tails
from memoryd.ingest.unread import Unread
from memoryd.stores import transcripts, turns
from memoryd.stores.transcripts import File, Totals

_AT_ONCE = 200
_REFUSALS = (DatabaseBusy, DatabaseGone, DBAPIError)


class DatabaseUnavailable(Exception):  # noqa: N818 - a state of the world
    """The database could not be written; nothing is lost, the files are read again."""


class Pipeline:
    """Reads, commits, indexes, and remembers what is due.

    Args:
        root: the projects directory, absolute.
        database: with its tables.
        recorder: writes portions.
        follower: writes the text index.
        clock: all instants.
        warnings: where problems go.
        on_event: told what happened, with numbers and paths but never text.
        tail_quiet_s: how long an unterminated last line must have been left alone.
        stopping: asked between commits.

    Attributes:
        catching_up: there is more to read than is committed at once; any thread may read it.
        begun: commits that were begun; any thread may read it.
        indexed: up to which of them the text index has what they wrote.
    """

    def __init__(
        self,
        *,
        root: str,
        database: Database,
        recorder: Recorder,
        follower: Follower,
        clock: Clock,
        warnings: Warnings,
        on_event: Callable[..., None],
        tail_quiet_s: float,
        stopping: Callable[[], bool],
    ) -> None:
        self.counters = Counters()
        self.catching_up = False
        self.begun = 0
        self.indexed = 0
        self._root = root
        self._database = database
        self._recorder = recorder
        self._follower = follower
        self._clock = clock
        self._warnings = warnings
        self._on_event = on_event
        self._stopping = stopping
        self._scanner = Scanner(root)
        self._quiet: dict[int, float] = {}
        self._tails = Tails(tail_quiet_s)
        self._unread = Unread(root, database)
        self._backlog = Backlog(root, database)
        self._unlisted: set[str] = set()

    # What was left by the last process

    def load(self) -> None:
        """Take up what the database remembers."""
        with self._database.read() as connection:
            sums: Totals = transcripts.totals(connection)
            self._scanner.expect(
                (held.path[len(self._root) + 1 :], held.inode, held.size, held.size == held.offset)
                for held in transcripts.held_files(connection)
                if held.path.startswith(f"{self._root}/")
            )
            self._quiet = {
                turn.file_id: turn.quiet_at
                for turn in turns.open_turns(connection)
                if turn.quiet_at is not None
            }
            first = transcripts.baseline(connection) or {}
        self._unlisted = set(first.get("unreadable", ()))
        counters = self.counters
        counters.bytes, counters.records = sums.bytes, sums.records
        counters.skipped, counters.oversize = sums.skipped, sums.oversize
        counters.foreign, counters.sessions, counters.turns = (
            sums.foreign,
            sums.sessions,
            sums.turns,
        )
        self._follower.load()

    # Status

    def lag_bytes(self, hints: Collection[str] = ()) -> int:
        """Return the bytes that are known to be unread; see `Unread.bytes`."""
        return self._unread.bytes(hints)

    @property
    def pending_bytes(self) -> int:
        """Bytes of unterminated last lines."""
        return self._tails.bytes

    def next_due(self) -> float | None:
        """Return the next instant at which a turn or a tail is due."""
        instants = list(self._quiet.values())
        return min(instants + self._tails.instants(), default=None)

    # Work

    def rescan(self, below: str = "") -> None:
        """Walk the tree, or the part that ``below`` is in, and read what changed.

        Raises:
            DatabaseUnavailable: a commit failed.
        """
        scan = self._scanner.scan_below(below) if below else self._scanner.scan()
        tell_of_scan(self._warnings, self._root, scan, whole=not below)
        self.read(scan.changed)
        gone = [path for path in scan.missing if not os.path.lexists(f"{self._root}/{path}")]
        self._missing(gone)
        if not below:
            self.counters.scans += 1
            self.counters.files = scan.files
            self._listed(scan)
            self._on_event("scanned", files=scan.files, changed=len(scan.changed))

    def read(self, found: Collection[str], *, take_tails: bool = False) -> None:
        """Read files from their cursors on.

        Args:
            found: paths relative to the projects directory; what is no transcript is ignored.
            take_tails: also take unterminated last lines that parse whole.

        Raises:
            DatabaseUnavailable: a commit failed.
        """
        if not found:
            return
        started = self._clock.monotonic()
        batch: list[Portion] = []
        share = 0.0
        gone: list[str] = []
        ordered = self._backlog.first(found)
        try:
            for portion in self._portions(ordered, gone, take_tails=take_tails):
                batch.append(portion)
                share += portion.share
                if share >= 1 or len(batch) >= _AT_ONCE or not portion.last:
                    self.catching_up = True
                    started = self._commit(batch, started)
                    batch, share = [], 0.0
            self._commit(batch, started)
        except (IntegrityError, DataError) as error:
            self._one_by_one(ordered, error, take_tails=take_tails)
        except _REFUSALS as error:
            for relative in ordered:
                self._scanner.doubt(relative)
            self._unavailable(error)
        except Exception as error:  # noqa: BLE001 - one transcript must not stop the others
            self._one_by_one(ordered, error, take_tails=take_tails)
        self._missing(gone)

    def end_quiet(self, *, everything: bool = False) -> None:
        """End open turns whose silence is over, or all of them.

        Raises:
            DatabaseUnavailable: the commit failed.
        """
        now = self._clock.now()
        if not self._quiet or (not everything and min(self._quiet.values()) > now):
            return
        self._write(
            lambda connection: self._recorder.end_quiet(connection, due=None if everything else now)
        )
        # What the database does not know as open can never become due.
        self._quiet = {
            file_id: at for file_id, at in self._quiet.items() if at > now and not everything
        }

    def end_open(self) -> None:
        """End every open turn, in between whatever another thread reads."""
        try:
            with self._database.write() as connection:
                self._recorder.end_quiet(connection, due=None)
        except _REFUSALS as error:
            self._unavailable(error)

    def take_tails(self) -> None:
        """Try unterminated last lines that were left alone for long enough.

        Raises:
            DatabaseUnavailable: a commit failed.
        """
        due = self._tails.take_due(self._clock.now())
        self.read(due, take_tails=True)

    def notice(self, session_id: str) -> None:
        """Read a session whose turn has ended by the word of a hook.

        Raises:
            DatabaseUnavailable: a commit failed.
        """
        with self._database.read() as connection:
            path = transcripts.session_path(connection, session_id)
        if path is not None:
            self.read([path[len(self._root) + 1 :]])
            now = self._clock.now()
            self._write(lambda connection: self._recorder.notice(connection, session_id, now))

    def after_jump(self, longest_s: float) -> None:
        """Let no turn wait longer than ``longest_s`` from now: the wall clock was set back.

        Raises:
            DatabaseUnavailable: the commit failed.
        """
        latest = self._clock.now() + longest_s
        if max(self._quiet.values(), default=latest) > latest:
            self._write(lambda connection: self._recorder.hasten(connection, latest))
        self._tails.hasten(latest)

    # Inside

    def _one_by_one(self, found: list[str], error: Exception, *, take_tails: bool) -> None:
        """Find the transcript that made a batch fail, and pass it over until the next walk."""
        if len(found) > 1:
            for relative in found:
                self.read([relative], take_tails=take_tails)
            return
        (relative,) = found
        self._scanner.doubt(relative)
        self._unread.drop(relative)
        name = type(error).__name__
        self._warnings.put(f"file:{relative}", refused_file(f"{self._root}/{relative}", name))
        self._on_event("file-refused", error=name)

    def _portions(
        self, found: list[str], gone: list[str], *, take_tails: bool
    ) -> Iterator[Portion]:
        self._unread.begin(found, at_once=_AT_ONCE)
        for start in range(0, len(found), _AT_ONCE):
            chunk = found[start : start + _AT_ONCE]
            rows, strangers = look_up(self._database, self._root, chunk)
            if len(found) <= _AT_ONCE:
                self._unread.looked_up(rows)
            for relative in chunk:
                candidates = strangers.get(relative, [])
                yield from self._of_file(
                    relative, rows.get(relative), candidates, gone, take_tails=take_tails
                )
                if self._stopping():
                    for rest in found:
                        self._scanner.doubt(rest)
                    return

    def _of_file(
        self,
        relative: str,
        row: File | None,
        candidates: list[File],
        gone: list[str],
        *,
        take_tails: bool,
    ) -> Iterator[Portion]:
        what = classify(relative)
        if what is None:
            self._unread.drop(relative)
            return
        try:
            source = Source.open(self._root, relative)
        except OSError as error:
            self._unreadable(relative, error)
            return
        if isinstance(source, Unopened):
            self._unread.drop(relative)
            if source is Unopened.GONE:
                gone.append(relative)
            return
        try:
            moved = False
            if row is None:
                row = moved_from(source, what, candidates, self._root)
                moved = row is not None
            last: Portion | None = None
            for last in portions(
                source,
                what,
                row,
                moved=moved,
                baseline_to=self._baseline_of(source),
                take_tail=take_tails,
            ):
                yield last
            if last is None:
                self._unread.drop(relative)
            self._remember_tail(relative, row, last, source, tried=take_tails)
            self._scanner.note(relative, source.status)
            self._warnings.put(f"file:{relative}", None)
        except OSError as error:
            self._unreadable(relative, error)
        finally:
            source.close()

    def _baseline_of(self, source: Source) -> int:
        directory = source.relative.rpartition("/")[0]
        unlisted = "" in self._unlisted or any(
            f"{directory}/".startswith(f"{name}/") for name in self._unlisted
        )
        return source.found.size if unlisted else 0

    def _remember_tail(
        self, relative: str, row: File | None, last: Portion | None, source: Source, *, tried: bool
    ) -> None:
        if last is not None:
            self._tails.found(relative, last.pending, self._clock.now(), tried=tried)
        elif row is not None:
            # A clock that was set back left an instant that is still to come.
            since = row.pending_since and min(row.pending_since, self._clock.now())
            self._tails.still(relative, source.found.size - row.offset, since)

    def _commit(self, batch: list[Portion], started: float) -> float:
        """Write a batch, then index it; return when the stopwatch goes on."""
        recorded = Recorded()
        self.begun += 1
        if batch:
            now = self._clock.now()
            with self._database.write() as connection:
                recorded = self._recorder.record(connection, batch, now)
            self._count(batch)
            self._apply(recorded)
            self._warnings.put("database", None)
        self.counters.busy_s += self._clock.monotonic() - started
        self._follower.add(recorded.said)
        self.indexed = self.begun
        if batch:
            self._on_event("committed", files=len(batch), turns=recorded.turns)
        return self._clock.monotonic()

    def _count(self, batch: list[Portion]) -> None:
        for portion in batch:
            left = 0 if portion.last else portion.found.size - portion.offset
            self._unread.left(portion.relative, left)
            self.counters.bytes += portion.offset - portion.start
            if portion.restart and portion.file is not None:
                self.counters.bytes -= portion.file.offset
            self.counters.records += portion.records
            self.counters.skipped += portion.skipped
            self.counters.oversize += portion.oversize

    def _apply(self, recorded: Recorded) -> None:
        self.counters.sessions += recorded.sessions
        self.counters.turns += recorded.turns
        self.counters.foreign += recorded.foreign
        for file_id, quiet_at in recorded.quiet.items():
            if quiet_at is None:
                self._quiet.pop(file_id, None)
            else:
                self._quiet[file_id] = quiet_at

    def _write(self, change: Callable[[Connection], Recorded]) -> None:
        try:
            with self._database.write() as connection:
                recorded = change(connection)
        except _REFUSALS as error:
            self._unavailable(error)
        else:
            self._apply(recorded)
            self._on_event("turns-changed", files=len(recorded.quiet))

    def _missing(self, found: Iterable[str]) -> None:
        gone = list(found)
        if not gone:
            return
        for relative in gone:
            self._scanner.forget(relative)
            self._tails.forget(relative)
            self._unread.drop(relative)
            self._warnings.put(f"file:{relative}", None)
        try:
            with self._database.write() as connection:
                transcripts.set_missing(
                    connection,
                    [f"{self._root}/{relative}" for relative in gone],
                    now=self._clock.now(),
                )
        except _REFUSALS as error:
            self._unavailable(error)

    def _listed(self, scan: Scan) -> None:
        """Forget directories that could not be listed at the first start but now were."""
        left = self._unlisted & scan.unreadable.keys()
        if left == self._unlisted or not scan.root:
            return
        self._unlisted = left
        try:
            with self._database.write() as connection:
                first = transcripts.baseline(connection) or {}
                transcripts.put_baseline(connection, {**first, "unreadable": sorted(left)})
        except _REFUSALS as error:
            self._unavailable(error)

    def _unreadable(self, relative: str, error: OSError) -> None:
        self._scanner.doubt(relative)
        self._unread.drop(relative)
        self._warnings.put(
            f"file:{relative}",
            unreadable_file(f"{self._root}/{relative}", error.strerror or str(error)),
        )

    def _unavailable(self, error: Exception) -> None:
        reason = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        self._warnings.put("database", unwritable_database(reason))
        raise DatabaseUnavailable(reason) from error
