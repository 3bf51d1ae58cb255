"""The thread that reads transcripts, and what wakes it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.admission import Admission
from memoryd.clock import Clock
from memoryd.db.engine import Database
from memoryd.ingest.baseline import record_baseline
from memoryd.ingest.classify import classify, memory_directory_of
from memoryd.ingest.follower import Follower
from memoryd.ingest.goal import Goal
from memoryd.ingest.pipeline import DatabaseUnavailable, Pipeline
from memoryd.ingest.recorder import Recorder
from memoryd.ingest.status import IngestStatus, Warnings
from memoryd.ingest.watching import Watching, read_mount_table
from memoryd.paths import Paths
from memoryd.queue.queue import Queue
from memoryd.search.index import TextIndex

_JUMP_S = 5.0
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSettings:
    """Times in seconds.

    Attributes:
        quiet_s: silence that ends a turn, and that lets an unterminated last line count.
        tool_quiet_s: silence that ends a turn while a tool call is open.
        notice_s: silence that ends a turn after a hook said that it has ended.
        rescan_s: between walks over the tree while events arrive.
        poll_s: between walks while none can arrive.
        gather_s: how long events are gathered before they are looked at.
        check_s: how often to look whether the machine was suspended.
        retry_s: pause after the database could not be written.
        debounce_s: how long extraction waits for more turns of a project.
        deadline_s: how long it waits at most.
        watch: whether to ask the system for events at all.
    """

    quiet_s: float = 20.0
    tool_quiet_s: float = 600.0
    notice_s: float = 2.0
    rescan_s: float = 300.0
    poll_s: float = 10.0
    gather_s: float = 0.02
    check_s: float = 60.0
    retry_s: float = 5.0
    debounce_s: float = 5.0
    deadline_s: float = 60.0
    watch: bool = True


@dataclass(slots=True)
class _Settling:
    """A request to bring everything up to date."""

    until: float
    done: threading.Event = field(default_factory=threading.Event)
    settled: bool = False


class Ingest:
    """Reads transcripts in a thread of its own.

    Args:
        paths: of the instance.
        database: with its tables.
        queue: where extraction is asked for.
        index: the text index.
        clock: all instants.
        is_request: whether a prompt (redacted) asks in so many words to remember or forget.
        on_event: called in the reader's thread with the name of what happened and numbers.
        on_memory: called with the path of a memory directory in which something may have changed,
            or with ``None`` when any may have (events were lost). Must return at once.
        mounts: returns the system's table of mounts.
        settings: times.
        admission: what may be taken in, asked for each commit.
    """

    def __init__(
        self,
        *,
        paths: Paths,
        database: Database,
        queue: Queue,
        index: TextIndex,
        clock: Clock,
        is_request: Callable[[str], bool],
        on_event: Callable[..., None] = lambda _name, **_facts: None,
        on_memory: Callable[[str | None], None] = lambda _directory: None,
        mounts: Callable[[], str] = read_mount_table,
        settings: IngestSettings | None = None,
        admission: Callable[[], Admission] = Admission,
    ) -> None:
        self._settings = settings or IngestSettings()
        self._database = database
        self._clock = clock
        self._on_event = on_event
        self._on_memory = on_memory
        self._root = str(Path(os.path.abspath(paths.projects)))  # noqa: PTH100 - resolves no links
        self._warnings = Warnings()
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._hints: set[tuple[str, bool]] = set()
        self._notices: set[str] = set()
        self._settling: list[_Settling] = []
        self._rescan_wanted = True
        self._pipeline = Pipeline(
            root=self._root,
            database=database,
            recorder=Recorder(
                queue,
                is_request,
                quiet_s=self._settings.quiet_s,
                tool_quiet_s=self._settings.tool_quiet_s,
                notice_s=self._settings.notice_s,
                debounce_s=self._settings.debounce_s,
                deadline_s=self._settings.deadline_s,
                admission=admission,
            ),
            follower=(
                follower := Follower(
                    index,
                    database,
                    self._root,
                    lambda text: self._warnings.put("index", text),
                    admission,
                )
            ),
            clock=clock,
            warnings=self._warnings,
            on_event=on_event,
            tail_quiet_s=self._settings.quiet_s,
            stopping=self._stop.is_set,
        )
        self._follower = follower
        self._watching = Watching(
            self._root,
            on_hint=self._hear,
            on_overflow=self._overflow,
            on_event=on_event,
            warnings=self._warnings,
            clock=clock,
            rescan_s=self._settings.rescan_s,
            poll_s=self._settings.poll_s,
            wanted=self._settings.watch,
            mounts=mounts,
        )
        self._thread: threading.Thread | None = None
        self._loaded = False
        self._set_back = False
        self._next_scan = 0.0
        self._offset = 0.0
        self._busy_since: float | None = None

    # Life

    def baseline_if_new(self) -> bool:
        """Record, at the first start only, what exists as handled; return whether it was.

        One transaction, no file is read. To be called before the service answers.
        """
        first = record_baseline(self._database, self._root, now=self._clock.now())
        if first:
            self._on_event("baseline")
        return first

    def start(self) -> None:
        """Start the reader's thread; it begins with a walk over the tree."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="ingest", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """Stop after the commit in hand; return whether the thread has ended.

        Args:
            timeout: seconds to wait for it, ``None`` for as long as it takes.
        """
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return False
            self._thread = None
        self._watching.stop()
        return True

    @property
    def alive(self) -> bool:
        """Whether the reader's thread runs."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def watching(self) -> bool:
        """Whether the system tells of every change below the projects directory."""
        return self._watching.complete

    @property
    def busy_since(self) -> float | None:
        """Monotonic instant at which the thread began what it is doing, ``None`` if it waits."""
        return self._busy_since

    @property
    def catching_up(self) -> bool:
        """Whether the thread reads more than it commits at once."""
        return self._pipeline.catching_up

    # Hints, from any thread

    def hint(self, path: str | os.PathLike[str], is_directory: bool = False) -> None:
        """Say that something may have changed at ``path``; anything else is ignored."""
        relative = self._relative(os.fspath(path))
        if relative is None or (not is_directory and classify(relative) is None):
            return
        with self._lock:
            self._hints.add((relative, is_directory))
        self._wake.set()

    def _hear(self, path: str, is_directory: bool) -> None:
        directory = memory_directory_of(path[len(self._root) + 1 :])
        if directory is not None:
            self._on_memory(f"{self._root}/{directory}")
        self.hint(path, is_directory)

    def _overflow(self) -> None:
        self._on_memory(None)
        self.rescan()

    def notice_turn_end(self, session: str) -> None:
        """Say that the client reported the end of a turn or of the session ``session``."""
        with self._lock:
            self._notices.add(session)
        self._wake.set()

    def rescan(self) -> None:
        """Ask for a walk over the whole tree."""
        self._rescan_wanted = True
        self._wake.set()

    def settle(self, until: float, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Read and index all complete lines that are on the disk now and end every open turn.

        Unterminated last lines are left alone. What is written after the call need not be read:
        while much of it arrives, the answer does not wait for the end of the reading.

        Args:
            until: monotonic instant at which to give up.
            given_up: whether nobody waits any longer.

        Returns:
            Whether it was done in time.
        """
        request = _Settling(until)
        if not self.alive:
            self.run_once()
            self._settle([request])
            return request.settled
        goal = None
        if self._busy_since is not None:
            pipeline = self._pipeline
            goal = Goal(self._root, self._database, lambda: (pipeline.begun, pipeline.indexed))
        with self._lock:
            self._settling.append(request)
        self._wake.set()
        while (left := until - self._clock.monotonic()) > 0 and not given_up():
            if request.done.wait(min(left, _LOOK_S)):
                return request.settled
            if goal is not None and goal.reached() and not self._follower.behind(goal.sizes):
                self._withdraw(request)
                return self._end_open()
        self._withdraw(request)
        return request.settled

    def _withdraw(self, request: _Settling) -> None:
        with self._lock:
            self._settling = [other for other in self._settling if other is not request]

    def status(self) -> IngestStatus:
        """Return a snapshot; only files that are about to be read are looked at."""
        with self._lock:
            hints = [path for path, is_directory in self._hints if not is_directory]
        counters = self._pipeline.counters
        return IngestStatus(
            bytes=counters.bytes,
            records=counters.records,
            skipped=counters.skipped,
            oversize=counters.oversize,
            foreign=counters.foreign,
            lag_bytes=self._pipeline.lag_bytes(hints),
            pending_bytes=self._pipeline.pending_bytes,
            index_lag=self._follower.lag,
            scans=counters.scans,
            busy_s=counters.busy_s,
            files=counters.files,
            sessions=counters.sessions,
            turns=counters.turns,
            watching=self._watching.complete,
            warnings=self._warnings.texts(),
        )

    # The thread

    def run_once(self) -> float:
        """Do everything that is due now; return the seconds until something is due again.

        This is one turn of the thread's loop, for those who drive it themselves.
        """
        if not self._loaded:
            self._pipeline.load()
            self._offset = self._clock.now() - self._clock.monotonic()
            self._loaded = True
            self._set_back = True
        self._detect_suspend()
        try:
            if self._set_back:
                self._pipeline.after_jump(self._settings.tool_quiet_s)
                self._set_back = False
            self._look()
            more = self._follower.step()
        except DatabaseUnavailable:
            self._on_event("database-unavailable")
            self._rescan_wanted = True
            return self._settings.retry_s
        finally:
            self._pipeline.catching_up = False
        return 0.0 if more else self._seconds_to_wait()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._busy_since = self._clock.monotonic()
            self._wake.clear()
            try:
                pause = self.run_once()
                self._answer_settling()
            except Exception as error:  # noqa: BLE001 - the loop's edge: counted, told, tried again
                self._warnings.put(
                    "reader",
                    f"Reading transcripts failed ({type(error).__name__}); it is tried again.",
                )
                self._on_event("ingest-failed", error=type(error).__name__)
                self._rescan_wanted = True
                pause = self._settings.retry_s
                self._stop.wait(pause)
                continue
            self._busy_since = None
            # Whoever waits is kept for no more hints: all of the tree is looked at for them.
            if pause > 0 and self._wake.wait(pause) and not self._settling:
                self._stop.wait(self._settings.gather_s)
        self._answer_settling(give_up=True)
        self._busy_since = None

    def _look(self) -> None:
        now = self._clock.monotonic()
        if self._watching.lost:
            self._on_memory(None)
            self._rescan_wanted = True
        if self._rescan_wanted or now >= self._next_scan:
            self._walk(now)
        with self._lock:
            hints, self._hints = self._hints, set()
            notices, self._notices = self._notices, set()
        for relative in sorted(path for path, is_directory in hints if is_directory):
            self._pipeline.rescan(relative)
        self._pipeline.read(sorted(path for path, is_directory in hints if not is_directory))
        for session in sorted(notices):
            self._pipeline.notice(session)
        self._pipeline.take_tails()
        self._pipeline.end_quiet()

    def _walk(self, now: float) -> None:
        # Watching comes first, so that nothing is written unseen between the two.
        self._watching.renew()
        self._rescan_wanted = False
        self._follower.retry()
        self._pipeline.rescan()
        self._warnings.put("reader", None)
        self._next_scan = now + self._watching.interval_s

    def _settle(self, requests: list[_Settling]) -> None:
        try:
            self._pipeline.rescan()
            self._pipeline.end_quiet(everything=True)
            self._follower.retry()
            until = max(request.until for request in requests)
            while self._follower.step():
                if self._stop.is_set() or self._clock.monotonic() >= until:
                    return
            settled = self._follower.lag == 0 and self._pipeline.lag_bytes() == 0
            for request in requests:
                request.settled = settled
        except DatabaseUnavailable:
            self._rescan_wanted = True
        finally:
            for request in requests:
                request.done.set()

    def _answer_settling(self, *, give_up: bool = False) -> None:
        with self._lock:
            requests, self._settling = self._settling, []
        if requests and not give_up:
            self._settle(requests)
        for request in requests:
            request.done.set()

    def _end_open(self) -> bool:
        try:
            self._pipeline.end_open()
        except DatabaseUnavailable:
            return False
        return True

    def _detect_suspend(self) -> None:
        offset = self._clock.now() - self._clock.monotonic()
        if abs(offset - self._offset) > _JUMP_S:
            if offset < self._offset:
                self._set_back = True
            self._rescan_wanted = True
            self._on_event("clock-jumped")
        self._offset = offset

    def _seconds_to_wait(self) -> float:
        with self._lock:
            if self._hints or self._notices or self._settling:
                return 0.0
        wait = min(self._settings.check_s, self._next_scan - self._clock.monotonic())
        due = self._pipeline.next_due()
        if due is not None:
            wait = min(wait, due - self._clock.now())
        return max(0.0, wait)

    def _relative(self, path: str) -> str | None:
        prefix = f"{self._root}/"
        if path.startswith(prefix):
            return path[len(prefix) :]
        # A caller may have resolved the links on the way to the projects directory.
        directory, _, name = path.rpartition("/")
        real = f"{os.path.realpath(directory)}/{name}"
        real_root = f"{os.path.realpath(self._root)}/"
        return real[len(real_root) :] if real.startswith(real_root) else None
