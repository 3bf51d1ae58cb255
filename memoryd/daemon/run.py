"""The composition root: every room is put together here, started in order, and stopped in reverse.

Start: locks, schema, unsettled memory writes, baseline, socket, reader, workers, schedule.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import structlog
from structlog.typing import FilteringBoundLogger

from memoryd import settings as configuration
from memoryd.clock import Clock, SystemClock
from memoryd.daemon import logs
from memoryd.daemon.allocator import Allocator, use_one_arena
from memoryd.daemon.answering import Answering
from memoryd.daemon.failures import failure_facts
from memoryd.daemon.handling import handlers
from memoryd.daemon.instance import Instance
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.lifecycle import Lifecycle
from memoryd.daemon.listener import Listener, open_listener
from memoryd.daemon.notify import Notifier
from memoryd.daemon.parts import Parts
from memoryd.daemon.pausing import Pausing
from memoryd.daemon.places import Places
from memoryd.daemon.private import private_directory
from memoryd.daemon.schedule import Schedule
from memoryd.daemon.server import Server
from memoryd.daemon.shelf import Shelves
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.migrate import ensure_current
from memoryd.errors import MemorydError
from memoryd.extraction.offline.reading import is_request
from memoryd.ingest.service import Ingest, IngestSettings
from memoryd.jobs.cleanup import cleanup_if_due
from memoryd.jobs.session_memory import SessionMemory
from memoryd.jobs.summaries import SummaryFiles
from memoryd.memory.library import MemoryLibrary
from memoryd.memory.location import MANAGED_SETTINGS
from memoryd.paths import Paths
from memoryd.queue.heartbeats import Heartbeats
from memoryd.queue.identity import WorkerName, is_dead
from memoryd.queue.jobs import JobState, Priority
from memoryd.queue.queue import Queue
from memoryd.queue.worker import Worker
from memoryd.search.index import TextIndex
from memoryd.settings import Settings
from memoryd.stores.journal import SqlJournal
from memoryd.transcript.toolcalls import is_memory_file

STUCK_S = 120.0
"""A loop that did not come round for so long is not alive."""

SWITCH_S = 0.0005
"""Seconds a thread computes while another waits for its turn: reading and answering, which give it
away at every system call, must not wait long for it behind a job that computes."""

_QUIET_EVENTS = frozenset({"idle", "heartbeat", "scanned", "read", "indexed", "claimed"})
_RELOADED = frozenset({"log.level", "recall.max_memories", "exclude"})
_HUNGRY = frozenset({"committed", "done"})
_ENDED = frozenset(state.value for state in JobState) | {"released", "lease_lost"}


class MemoryService:
    """All of a running service.

    Args:
        paths: of the instance.
        settings: as read at the start.
        reread: reads the settings again.
        environ: of the process; an inherited socket is taken out of it.
        clock: the time.
        rng: jitter and names.
        log: for what happens.
        relog: lets the log follow the settings.
        shutdown: asks the process to stop.
    """

    def __init__(
        self,
        *,
        paths: Paths,
        settings: Settings,
        reread: Callable[[], Settings],
        environ: MutableMapping[str, str],
        clock: Clock,
        rng: Random,
        log: FilteringBoundLogger,
        relog: Callable[[Settings], None],
        shutdown: Callable[[], None],
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._reread = reread
        self._environ = environ
        self._clock = clock
        self._rng = rng
        self._log = log
        self._relog = relog
        self._shutdown = shutdown
        self._undo: list[tuple[str, Callable[[float], object]]] = []
        self._notes: list[str] = []
        self._faults = 0
        self._allocator = Allocator()
        self._ingest: Ingest | None = None
        self._pausing: Pausing | None = None
        self._server: Server | None = None
        self._workers: list[Worker] = []

    def start(self) -> None:
        """Return when the socket answers and the reader, workers and schedule run.

        Raises:
            MemorydError: it cannot run; the message says what to do.
        """
        instance = Instance(self._paths)
        self._undo.append(("locks", lambda _: instance.release()))
        self._notes += instance.warnings
        listener = open_listener(self._paths.socket, self._environ)
        self._undo.append(("listener", lambda _: listener.close()))
        database = self._open_database()
        queue = Queue(database, self._clock, self._rng)
        journal = SqlJournal(database)
        library = MemoryLibrary(
            config=self._paths.config,
            home=self._paths.home,
            managed=MANAGED_SETTINGS.get(sys.platform),
            environ=self._environ,
            always=self._settings.memory.always,
            journal=journal,
            clock=self._clock,
            rng=self._rng,
        )
        self._settle(queue, journal, library)
        shelves = Shelves(
            library, journal, told=self._told, clock=self._clock, on_read=self._allocator.used
        )
        index = TextIndex(self._paths.text_index, clock=self._clock)
        self._undo.append(("text index", lambda _: index.close()))
        places = Places(database, self._clock, self._paths.home)
        pausing = Pausing(
            database=database,
            queue=queue,
            places=places,
            clock=self._clock,
            transcripts=self._paths.projects,
            home=self._paths.home,
            exclude=self._settings.exclude,
        )
        self._pausing = pausing
        ingest = Ingest(
            paths=self._paths,
            database=database,
            queue=queue,
            index=index,
            clock=self._clock,
            is_request=is_request,
            on_event=self._event,
            on_memory=shelves.changed,
            settings=IngestSettings(
                debounce_s=self._settings.extract.debounce_s,
                deadline_s=self._settings.extract.deadline_s,
            ),
            admission=pausing.admission,
        )
        self._ingest = ingest
        ingest.baseline_if_new()
        ledger = self._keep_ledger(database, library)
        session_memory = SessionMemory(
            database=database,
            files=SummaryFiles(self._paths.projects, self._paths.summaries, self._rng),
            library=library,
            transcripts=self._paths.projects,
            clock=self._clock,
            withheld=ledger.withheld_among,
            admission=pausing.admission,
        )
        parts = Parts(
            paths=self._paths,
            clock=self._clock,
            rng=self._rng,
            database=database,
            queue=queue,
            journal=journal,
            library=library,
            index=index,
            ingest=ingest,
            shelves=shelves,
            places=places,
            pausing=pausing,
            ledger=ledger,
            session_memory=session_memory,
        )
        self._serve(listener, parts)
        ingest.start()
        self._undo.append(("reader", ingest.stop))
        self._work(parts)
        schedule = Schedule(
            rescue=lambda: self._look_after(parts),
            periodic=lambda: cleanup_if_due(database, queue, self._clock),
            on_error=self._fault,
        )
        schedule.start()
        self._undo.append(("schedule", lambda _: schedule.stop()))
        self._allocator.begin()

    def stop(self, drain_s: float) -> None:
        """Stop in reverse order; what is not finished within ``drain_s`` is done again later."""
        give_up = self._clock.monotonic() + drain_s
        while self._undo:
            name, step = self._undo.pop()
            try:
                step(max(0.0, give_up - self._clock.monotonic()))
            except Exception as error:  # noqa: BLE001 - the other steps must still be taken
                self._log.error("stop_failed", part=name, **failure_facts(error))

    def reload(self) -> None:
        """Read the settings again; those that only a restart can change are named in the log.

        Raises:
            ConfigError: they cannot be used; the old ones stay.
        """
        new = self._reread()
        old, self._settings = self._settings, new
        self._relog(new)
        if self._pausing is not None:
            self._pausing.exclude(new.exclude)
        fixed = [
            name
            for name, value in new.values().items()
            if name not in _RELOADED and old.values()[name] != value
        ]
        if fixed:
            self._log.warning("restart_needed", settings=fixed)

    def alive(self) -> bool:
        """Tell whether every loop ticked lately."""
        now = self._clock.monotonic()
        if self._server is None or self._ingest is None or not self._ingest.alive:
            return False
        if now - self._server.last_tick > STUCK_S:
            return False
        if any(not w.busy and now - w.last_tick > STUCK_S for w in self._workers):
            return False
        since = self._ingest.busy_since
        return since is None or now - since < STUCK_S * 10

    def _told(self, directory: Path) -> bool:
        """Whether the reader hears of every change in a memory directory."""
        return (
            self._ingest is not None
            and self._ingest.watching
            and directory.is_relative_to(os.path.abspath(self._paths.projects))  # noqa: PTH100 - resolve() would follow links
        )

    def _open_database(self) -> Database:
        url = self._settings.database_url or sqlite_url(self._paths.database)
        ensure_current(url, backups=self._paths.state / "backups", clock=self._clock)
        database = Database.open(url, on_wait=lambda s: self._event("database_busy", waited_s=s))
        self._undo.append(("database", lambda _: database.dispose()))
        return database

    def _settle(self, queue: Queue, journal: SqlJournal, library: MemoryLibrary) -> None:
        """Finish or give up what a service that died left behind."""
        rescued = queue.rescue_from(is_dead) + queue.rescue(self._clock.now())
        if rescued:
            self._event("rescued", jobs=rescued)
        for root in sorted({intent.project_root for intent in journal.intents()}):
            try:
                found = library.store(root).recover()
            except MemorydError as error:
                # One directory that cannot be read now must not keep the others waiting.
                self._notes.append(f"unfinished memory writes of {root}: {error}")
                continue
            self._event("recovered", done=len(found.done), aborted=len(found.aborted))

    def _serve(self, listener: Listener, parts: Parts) -> None:
        answering = Answering(
            parts,
            settings=lambda: self._settings,
            warnings=lambda: self._warnings(parts),
            shutdown=self._shutdown,
            on_event=self._event,
        )
        self._undo.append(("prefetch", lambda _: answering.prefetch.close()))
        self._waiting = answering.waiting
        self._server = Server(listener, answering.methods, clock=self._clock, log=self._log)
        self._server.start()
        self._undo.append(("socket", self._server.stop))

    def _keep_ledger(self, database: Database, library: MemoryLibrary) -> SessionLedger:
        ledger = SessionLedger(
            database=database,
            clock=self._clock,
            transcripts=self._paths.projects,
            is_memory=lambda path: is_memory_file(path) or library.shares(path),
            on_event=self._event,
        )
        self._undo.append(("ledger", ledger.stop))
        return ledger

    def _work(self, parts: Parts) -> None:
        heartbeats = Heartbeats(parts.queue, on_event=self._event)
        heartbeats.start()
        self._undo.append(("heartbeats", lambda _: heartbeats.stop()))
        table = handlers(parts)
        # One worker is kept for what a person waits for.
        for name, limit in (("any", None), ("explicit", Priority.EXPLICIT)):
            worker = Worker(
                parts.queue,
                table,
                worker_id=str(WorkerName.current(name)),
                clock=self._clock,
                heartbeats=heartbeats,
                max_priority=limit,
                first=lambda: parts.ingest.catching_up,
                on_event=self._event,
            )
            worker.start()
            self._workers.append(worker)
            self._undo.append((f"worker {name}", worker.stop))

    def _look_after(self, parts: Parts) -> None:
        parts.queue.rescue(self._clock.now())
        if parts.shelves.give_up_unused():
            self._allocator.used()
        self._allocator.give_back(parts.index.release)

    def _event(self, name: str, **facts: Any) -> None:
        write = self._log.debug if name in _QUIET_EVENTS else self._log.info
        write(name, **facts)
        if name in _HUNGRY:
            self._allocator.used()
        if name in _ENDED:
            self._waiting.job_ended()

    def _fault(self, error: Exception) -> None:
        self._faults += 1
        self._log.error("trigger_failed", **failure_facts(error))

    def _warnings(self, parts: Parts) -> list[str]:
        found = [*self._notes, *self._settings.warnings]
        dead = parts.queue.counts()[JobState.DEAD]
        if dead:
            found.append(f"{dead} dead: memoryctl jobs list --state dead")
        if self._faults:
            found.append(f"{self._faults} triggers failed since the start; the log says why")
        if parts.database.waits:
            found.append(
                f"another program locked the database {parts.database.waits} times since the start"
            )
        return found


def run(environ: Mapping[str, str], *, ready_fd: int | None = None) -> int:
    """Run the service in this process until it is asked to stop; return the exit code.

    Args:
        environ: of the process.
        ready_fd: where to say that it is ready, when it was started into the background.
    """
    os.umask(0o077)
    sys.setswitchinterval(SWITCH_S)
    use_one_arena()
    mutable = dict(environ)
    paths = Paths.from_environment(mutable)

    def read_settings() -> Settings:
        return configuration.read(paths.settings, mutable, home=paths.home)

    log: FilteringBoundLogger = structlog.get_logger()
    lifecycle = Lifecycle(notifier=Notifier(mutable, os.getpid()), log=log, ready_fd=ready_fd)

    def build() -> MemoryService:
        stream = None
        if ready_fd is not None:
            private_directory(paths.state)
            stream = logs.RotatingStderr(paths.log)
        journal = logs.under_journal(mutable)

        def relog(settings: Settings) -> None:
            logs.configure(settings.log.level, stream=stream, journal=journal)

        settings = read_settings()
        relog(settings)
        lifecycle.drain_s = settings.drain_s
        return MemoryService(
            paths=paths,
            settings=settings,
            reread=read_settings,
            environ=mutable,
            clock=SystemClock(),
            rng=SystemRandom(),
            log=log,
            relog=relog,
            shutdown=lifecycle.request_stop,
        )

    return lifecycle.run(build)
