"""``metrics``: what the service does, in numbers; nothing of what was said or kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memoryd import __version__
from memoryd.clock import Clock
from memoryd.daemon.calls import Call, Handler
from memoryd.daemon.hooking import Tally
from memoryd.daemon.openmetrics import (
    CONTENT_TYPE,
    Family,
    Kind,
    Sample,
    counter,
    gauge,
    render,
)
from memoryd.db.engine import Database
from memoryd.ingest.service import Ingest
from memoryd.queue.jobs import JobKind, JobState
from memoryd.queue.overview import counts_by_kind
from memoryd.stores.backlog import waiting
from memoryd.stores.overview import count_projects, list_projects

_STATM = Path("/proc/self/statm")


class Metering:
    """Answers ``metrics`` and counts what only it counts.

    Args:
        database: with its tables.
        ingest: what is read.
        hooks: returns what came of each of the client's events.
        count: how many memories a project has, by its root.
        clock: the time.
    """

    def __init__(
        self,
        *,
        database: Database,
        ingest: Ingest,
        hooks: Callable[[], dict[str, Tally]],
        count: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._database = database
        self._ingest = ingest
        self._hooks = hooks
        self._count = count
        self._clock = clock
        self._started = clock.monotonic()
        self._lock = threading.Lock()
        self._recalls = 0
        self._failed = 0
        self._recall_s = 0.0

    def recall(self, handler: Handler) -> Handler:
        """Return the handler of ``recall``, counted and timed."""

        def counted(call: Call) -> Any:
            began = self._clock.monotonic()
            failed = True
            try:
                answer = handler(call)
                failed = False
            finally:
                with self._lock:
                    self._recalls += 1
                    self._failed += failed
                    self._recall_s += self._clock.monotonic() - began
            return answer

        return counted

    def __call__(self, call: Call) -> dict[str, Any]:
        """Handle the method ``metrics``."""
        del call
        with self._database.read() as connection:
            jobs = counts_by_kind(connection)
            waiting_turns = waiting(connection)
            projects = count_projects(connection)
            roots = [project.root for project in list_projects(connection)]
        memories = sum(self._count(root) for root in roots)
        families = [
            Family("memoryd_build", Kind.INFO, "The program.", [_version()]),
            gauge(
                "memoryd_uptime_seconds",
                "Since the service started.",
                self._clock.monotonic() - self._started,
                "seconds",
            ),
            *_resident(),
            gauge("memoryd_jobs", "Jobs by kind and state.", _by_labels(jobs)),
            gauge("memoryd_turns_waiting", "Ended turns not learned from yet.", waiting_turns),
            gauge("memoryd_projects", "Known projects.", projects),
            gauge("memoryd_memories", "Memories of all projects.", memories),
            *self._of_ingest(),
            *self._of_recall(),
            *_of_hooks(self._hooks()),
        ]
        return {"content_type": CONTENT_TYPE, "text": render(families)}

    def _of_ingest(self) -> list[Family]:
        status = self._ingest.status()
        return [
            gauge("memoryd_sessions", "Known sessions.", status.sessions),
            gauge("memoryd_turns", "Known turns.", status.turns),
            gauge("memoryd_ingest_bytes", "Bytes of transcripts handled.", status.bytes, "bytes"),
            counter("memoryd_ingest_records", "Whole objects read.", status.records),
            counter("memoryd_ingest_skipped", "Unknown types and bad pieces.", status.skipped),
            counter("memoryd_ingest_oversize", "Records that were shortened.", status.oversize),
            gauge(
                "memoryd_ingest_lag_bytes",
                "Bytes of complete lines not read yet.",
                status.lag_bytes,
                "bytes",
            ),
            gauge(
                "memoryd_ingest_pending_bytes",
                "Bytes of unterminated last lines.",
                status.pending_bytes,
                "bytes",
            ),
            gauge(
                "memoryd_index_lag_bytes",
                "Bytes read but not searchable yet.",
                status.index_lag,
                "bytes",
            ),
            gauge("memoryd_watching", "1 while file events arrive.", status.watching),
            counter("memoryd_ingest_scans", "Walks over the tree.", status.scans),
            counter(
                "memoryd_ingest_busy_seconds", "Reading and committing.", status.busy_s, "seconds"
            ),
        ]

    def _of_recall(self) -> list[Family]:
        with self._lock:
            asked, failed, seconds = self._recalls, self._failed, self._recall_s
        return [
            Family(
                "memoryd_recall_seconds",
                Kind.SUMMARY,
                "Requests of recall and the time they took in the service.",
                [Sample(asked, suffix="_count"), Sample(seconds, suffix="_sum")],
                "seconds",
            ),
            counter("memoryd_recall_failures", "Requests of recall that were refused.", failed),
        ]


def _of_hooks(tallies: dict[str, Tally]) -> list[Family]:
    return [
        Family(
            "memoryd_hook_seconds",
            Kind.SUMMARY,
            "Events of the client's hooks and the time they took in the service.",
            [
                sample
                for name, tally in tallies.items()
                for sample in (
                    Sample(tally.count, {"event": name}, "_count"),
                    Sample(tally.seconds, {"event": name}, "_sum"),
                )
            ],
            "seconds",
        ),
        Family(
            "memoryd_hooks_given",
            Kind.COUNTER,
            "Events that were answered with something for the model.",
            [Sample(tally.given, {"event": name}, "_total") for name, tally in tallies.items()],
        ),
    ]


def _version() -> Sample:
    return Sample(1, {"version": __version__}, "_info")


def _by_labels(
    jobs: dict[tuple[JobKind, JobState], int],
) -> dict[tuple[tuple[str, str], ...], float]:
    return {
        (("kind", kind.value), ("state", state.value)): jobs.get((kind, state), 0)
        for kind in JobKind
        for state in JobState
    }


def _resident() -> list[Family]:
    """Return the memory that the process holds, where the system tells it."""
    try:
        pages = int(_STATM.read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return []
    held = pages * os.sysconf("SC_PAGE_SIZE")
    return [gauge("memoryd_resident_memory_bytes", "Memory of the process.", held, "bytes")]
