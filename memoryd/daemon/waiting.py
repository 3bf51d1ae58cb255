"""``wait``: return when everything written before the call is read, indexed and handled."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.db.engine import Database
from memoryd.errors import ProtocolError
from memoryd.ingest.service import Ingest
from memoryd.protocol import ErrorCode
from memoryd.queue import overview
from memoryd.queue.queue import Queue
from memoryd.stores import backlog

DEFAULT_S = 60.0
MOST_S = 24 * 3600.0
LOOK_S = 0.5
"""Between two looks when no worker says that a job ended: another process may have ended it."""


@dataclass(frozen=True, slots=True)
class _Point:
    """Row ids of the newest job and turn at the instant when everything was read."""

    job: int
    turn: int


class Waiting:
    """Answers ``wait``.

    Args:
        ingest: ends quiet periods.
        queue: makes jobs due.
        database: knows what is left to do.
        clock: the time.
    """

    def __init__(self, *, ingest: Ingest, queue: Queue, database: Database, clock: Clock) -> None:
        self._ingest = ingest
        self._queue = queue
        self._database = database
        self._clock = clock
        self._changed = threading.Condition()
        self._generation = 0

    def job_ended(self) -> None:
        """Let callers look again."""
        with self._changed:
            self._generation += 1
            self._changed.notify_all()

    def __call__(self, call: Call) -> dict[str, Any]:
        """Handle the method ``wait``.

        Debounced jobs become due at once; retries keep their time and are waited for; snoozed
        jobs and unterminated last lines are not.

        Raises:
            ProtocolError: the service stops.
        """
        timeout = call.params.seconds("timeout_s", DEFAULT_S, most=MOST_S)
        until = self._clock.monotonic() + call.remaining_s(timeout)
        settled: _Point | None = None
        while not call.cancelled.is_set():
            if settled is None and self._ingest.settle(until, call.cancelled.is_set):
                settled = self._point()
            with self._changed:
                generation = self._generation
            now = self._clock.now()
            if settled is not None:
                self._queue.make_due(now)
                left = self._left(settled, now)
                if left == 0:
                    return {"done": True}
                call.progress(jobs=left)
            rest = until - self._clock.monotonic()
            if rest <= 0:
                return {"done": False}
            with self._changed:
                self._changed.wait_for(
                    lambda before=generation: self._generation != before,  # type: ignore[misc]
                    timeout=min(rest, LOOK_S),
                )
        raise ProtocolError("the service is stopping", code=ErrorCode.SHUTTING_DOWN)

    def _point(self) -> _Point:
        with self._database.read() as connection:
            return _Point(job=overview.newest(connection), turn=backlog.newest_turn(connection))

    def _left(self, point: _Point, now: float) -> int:
        """Return how many jobs are left; what was written after ``point`` need not be waited for.

        On a machine where somebody always writes there is always a job.
        """
        with self._database.read() as connection:
            left = overview.unsettled(connection, now)
            if left and not backlog.unhandled(connection, up_to=point.turn):
                return overview.unsettled(connection, now, up_to=point.job)
            return left
