"""The daily job that keeps memoryd's own rows few."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from memoryd.clock import Clock
from memoryd.db.engine import Database
from memoryd.queue.jobs import Done, Job, JobKind, NewJob, Outcome, Priority
from memoryd.queue.queue import Queue
from memoryd.queue.worker import JobContext
from memoryd.stores.periodic import last_run, put_last_run
from memoryd.stores.recollections import forget_unused

PERIOD_S = 24 * 3600.0
FORGET_S = 60 * 24 * 3600.0
"""What a session was given of memory is forgotten so long after its last recall, unless its
transcript is still there."""


def cleanup_if_due(database: Database, queue: Queue, clock: Clock) -> bool:
    """Enqueue the job if a day has passed since it last succeeded; return whether it was.

    A clock that was set back makes it due too, so that it never waits for the future to pass.
    """
    now = clock.now()
    with database.read() as connection:
        since = now - last_run(connection, JobKind.CLEANUP)
    if 0 <= since < PERIOD_S:
        return False
    key = str(JobKind.CLEANUP)
    queue.enqueue_now(NewJob(kind=JobKind.CLEANUP, key=key, dedupe_key=key, priority=Priority.LOW))
    return True


class Cleanup:
    """The handler of `JobKind.CLEANUP`: finished jobs and old ledgers go in their time."""

    def __init__(self, *, database: Database, queue: Queue, clock: Clock) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock

    def __call__(self, context: JobContext, job: Job) -> Outcome:
        """Prune, then fold the write-ahead log back into the database."""
        del job
        now = self._clock.now()
        pruned = self._queue.prune(now)
        context.check_cancelled()
        with self._database.write() as connection:
            forgotten = forget_unused(connection, before=now - FORGET_S)
        self._database.checkpoint()
        result = {"jobs": pruned, "recall_sessions": forgotten}
        return Done(effects=partial(_remember, now), result=result)


def _remember(now: float, connection: Connection) -> None:
    put_last_run(connection, JobKind.CLEANUP, now)
