"""The SQL that moves jobs between their states.

The invariants are the database's (see ``db.schema``): one running job per key, one queued job per
dedupe key. A worker changes its job only while ``(id, worker, attempt)`` still name it; whoever
lost it gets `LeaseLost` and has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import StrEnum
from random import Random
from typing import TypeVar, assert_never

from sqlalchemy import ColumnElement, Connection, and_, delete, not_, null, select, update
from sqlalchemy.exc import IntegrityError

from memoryd.clock import Clock
from memoryd.db.engine import Database
from memoryd.db.schema import jobs
from memoryd.errors import LeaseLost
from memoryd.queue import overview, transitions
from memoryd.queue.jobs import (
    Cancel,
    Done,
    Job,
    JobKind,
    JobState,
    NewJob,
    Outcome,
    Snooze,
    next_retry,
)
from memoryd.queue.rows import as_job, describe, in_state

T = TypeVar("T")

MIN_SNOOZE_S = 1.0
"""A handler that snoozes into the past must not turn the worker into a busy loop."""

KEEP_S = {JobState.DONE: 86_400.0, JobState.CANCELLED: 86_400.0, JobState.DEAD: 7 * 86_400.0}
"""How long finished jobs are kept, in seconds."""

_BATCH = 500
_RACES = 10


class Lease(StrEnum):
    """What a heartbeat found."""

    HELD = "held"
    """The job is still this worker's; the lease was extended."""
    CANCEL_REQUESTED = "cancel-requested"
    """As held, and somebody asks for the job to stop."""
    LOST = "lost"
    """The job was given to another worker, or finished without this one."""


class Signal(StrEnum):
    """What a subscriber of the queue is told, after the change was committed."""

    WORK = "work"
    """A job was queued, or a key became free."""
    CANCEL = "cancel"
    """A running job was asked to stop."""


class Queue:
    """The durable queue.

    Args:
        database: where the jobs are.
        clock: gives all instants.
        rng: source of the jitter of retries.
    """

    def __init__(self, database: Database, clock: Clock, rng: Random) -> None:
        self._database = database
        self._clock = clock
        self._rng = rng
        self._subscribers: list[Callable[[Signal], None]] = []

    def subscribe(self, callback: Callable[[Signal], None]) -> None:
        """Call ``callback``, which must not block, after every change of this process."""
        self._subscribers.append(callback)

    # Coming in

    def enqueue(self, connection: Connection, new: NewJob) -> int:
        """Queue a job in the caller's `Database.write`; return the id of the row it is in now.

        A queued job with the same dedupe key takes it in (`merging.merge`); one that runs does
        not, so that what came during a run is never lost.
        """
        self._announce(Signal.WORK)
        return transitions.put(connection, new, now=self._clock.now())

    def enqueue_now(self, new: NewJob) -> int:
        """Queue a job in a transaction of its own; return its id."""
        with self._database.write() as connection:
            return self.enqueue(connection, new)

    # A worker's life with a job

    def claim(
        self,
        worker: str,
        *,
        lease_s: float,
        max_priority: int | None = None,
        kinds: Collection[JobKind] | None = None,
    ) -> Job | None:
        """Take the most urgent due job whose key is free, or ``None``.

        Args:
            worker: names the claimant; see ``queue.identity``.
            lease_s: how long the job is safe from `rescue` without a heartbeat.
            max_priority: leave jobs that are less urgent to other workers.
            kinds: what the worker can do; ``None`` for everything.
        """
        now = self._clock.now()
        statement = transitions.claim_statement(
            worker, now=now, lease_until=now + lease_s, max_priority=max_priority, kinds=kinds
        )
        for _ in range(_RACES):
            try:
                with self._database.write() as connection:
                    row = connection.execute(statement).one_or_none()
                return None if row is None else as_job(row)
            except IntegrityError:  # PostgreSQL: another process took the key first.
                continue
        return None

    def heartbeat(self, job: Job, lease_s: float) -> Lease:
        """Extend the lease of a job that this worker runs."""
        statement = (
            transitions.fenced(job)
            .values(lease_until=self._clock.now() + lease_s)
            .returning(jobs.c.cancel_requested)
        )
        with self._database.write() as connection:
            cancel_requested = connection.scalar(statement)
        if cancel_requested is None:
            return Lease.LOST
        return Lease.CANCEL_REQUESTED if cancel_requested else Lease.HELD

    def finish(self, job: Job, outcome: Outcome) -> JobState:
        """Record what the handler answered; return the state that the job is in now.

        Effects of `Done` run in the same transaction. What they raise leaves this method, and
        the job is still running: the caller then calls `fail`.

        Raises:
            LeaseLost: the job is another worker's; nothing was changed.
        """
        match outcome:
            case Done(effects=effects, result=result):
                with self._database.write() as connection:
                    self._announce(Signal.WORK)
                    statement = transitions.fenced(job).values(
                        **transitions.finished(JobState.DONE, now=self._clock.now(), error=None),
                        result=null() if result is None else result,
                    )
                    if connection.execute(statement).rowcount == 0:
                        raise LeaseLost
                    if effects is not None:
                        effects(connection)
                return JobState.DONE
            case Snooze(until=until, reason=reason):
                run_at = max(until, self._clock.now() + MIN_SNOOZE_S)
                return self._change(
                    lambda connection: transitions.requeue(
                        connection,
                        transitions.held(connection, job),
                        now=self._clock.now(),
                        run_at=run_at,
                        attempt=job.attempt - 1,
                        error=reason,
                        snoozed=True,
                    )
                )
            case Cancel(reason=reason):
                return self._change(
                    lambda connection: transitions.end(
                        connection,
                        transitions.held(connection, job),
                        JobState.CANCELLED,
                        now=self._clock.now(),
                        error=reason,
                    )
                )
            case _:
                assert_never(outcome)

    def fail(self, job: Job, error: Exception) -> JobState:
        """Record that the handler raised ``error``: queued again, or dead (`next_retry`).

        Raises:
            LeaseLost: the job is another worker's; nothing was changed.
        """
        delay = next_retry(job.attempt, job.max_attempts, error, self._rng)
        now = self._clock.now()

        def change(connection: Connection) -> JobState:
            held = transitions.held(connection, job)
            if delay is None:
                return transitions.end(
                    connection, held, JobState.DEAD, now=now, error=describe(error)
                )
            return transitions.requeue(
                connection,
                held,
                now=now,
                run_at=now + delay,
                attempt=job.attempt,
                error=describe(error),
            )

        return self._change(change)

    def release(self, job: Job) -> JobState:
        """Give a job back that there is no time to finish: to its place, the attempt not counted.

        Raises:
            LeaseLost: the job is another worker's; nothing was changed.
        """
        return self._change(
            lambda connection: transitions.requeue(
                connection,
                transitions.held(connection, job),
                now=self._clock.now(),
                run_at=job.run_at,
                attempt=job.attempt - 1,
                error=job.error,
            )
        )

    # Putting things right

    def rescue(self, now: float) -> int:
        """Take jobs whose lease is over away from their workers; return how many.

        The attempt counts, so a job that kills its worker every time is dead in the end. Jobs
        that a clock which was wrong put into the far future are made due.
        """
        self._change(lambda connection: transitions.hasten_future(connection, now))
        return self._rescue(and_(in_state(JobState.RUNNING), jobs.c.lease_until <= now), now)

    def rescue_from(self, is_dead: Callable[[str], bool]) -> int:
        """Take jobs away from workers that ``is_dead`` says are gone; return how many.

        For the start of the service: their leases need not run out first.
        """
        with self._database.read() as connection:
            workers = connection.scalars(
                select(jobs.c.worker).where(in_state(JobState.RUNNING)).distinct()
            ).all()
        dead = [worker for worker in workers if is_dead(worker)]
        if not dead:
            return 0
        return self._rescue(
            and_(in_state(JobState.RUNNING), jobs.c.worker.in_(dead)), self._clock.now()
        )

    def cancel(self, job_id: int) -> bool:
        """Stop a job: at once if it waits, at its next check if it runs.

        Returns:
            Whether there was anything to stop.

        Raises:
            NotFound: there is no such job.
        """

        def change(connection: Connection) -> bool:
            job = transitions.locked(connection, job_id)
            match job.state:
                case JobState.QUEUED:
                    transitions.end(
                        connection,
                        job,
                        JobState.CANCELLED,
                        now=self._clock.now(),
                        error="on request",
                    )
                    return True
                case JobState.RUNNING:
                    connection.execute(transitions.at(job_id).values(cancel_requested=True))
                    self._announce(Signal.CANCEL)
                    return True
                case JobState.DONE | JobState.DEAD | JobState.CANCELLED:
                    return False
                case _:
                    assert_never(job.state)

        return self._change(change)

    def retry(self, job_id: int) -> bool:
        """Queue a dead or cancelled job again, as if it had never run.

        Returns:
            Whether it was dead or cancelled.

        Raises:
            NotFound: there is no such job.
        """

        def change(connection: Connection) -> bool:
            job = transitions.locked(connection, job_id)
            if job.state not in {JobState.DEAD, JobState.CANCELLED}:
                return False
            connection.execute(transitions.at(job_id).values(cancel_requested=False))
            transitions.requeue(
                connection,
                transitions.locked(connection, job_id),
                now=self._clock.now(),
                run_at=self._clock.now(),
                attempt=0,
                error=None,
            )
            return True

        return self._change(change)

    def prune(self, now: float) -> int:
        """Delete finished jobs that were kept long enough (`KEEP_S`); return how many."""
        pruned = 0
        for state, keep_s in KEEP_S.items():
            old = (
                select(jobs.c.id)
                .where(jobs.c.state == state, jobs.c.finished_at <= now - keep_s)
                .limit(_BATCH)
            )
            while True:
                with self._database.write() as connection:
                    batch = connection.execute(delete(jobs).where(jobs.c.id.in_(old))).rowcount
                pruned += batch
                if batch < _BATCH:
                    break
        return pruned

    def make_due(self, now: float) -> int:
        """End the debounce of jobs that never ran; return how many. Retries keep their time."""
        statement = (
            update(jobs)
            .where(
                in_state(JobState.QUEUED),
                jobs.c.attempt == 0,
                not_(jobs.c.snoozed),
                jobs.c.run_at > now,
            )
            .values(run_at=now)
        )

        def change(connection: Connection) -> int:
            return connection.execute(statement).rowcount

        return self._change(change)

    # Looking

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs are in each state; every state is there."""
        with self._database.read() as connection:
            return overview.counts(connection)

    def list(
        self,
        states: Collection[JobState] | None = None,
        kinds: Collection[JobKind] | None = None,
        limit: int = 100,
    ) -> tuple[Job, ...]:
        """Return the newest jobs first; ``None`` stands for all states or kinds."""
        with self._database.read() as connection:
            return overview.listing(connection, states=states, kinds=kinds, limit=limit)

    def get(self, job_id: int) -> Job:
        """Return the job; raises `NotFound`."""
        with self._database.read() as connection:
            return overview.get(connection, job_id)

    def why(self, job_id: int) -> str:
        """Return a sentence that says why the job is where it is; raises `NotFound`."""
        with self._database.read() as connection:
            return overview.why(connection, job_id, self._clock.now())

    def next_due(
        self, *, max_priority: int | None = None, kinds: Collection[JobKind] | None = None
    ) -> float | None:
        """Return the earliest instant at which a queued job with a free key can be claimed."""
        with self._database.read() as connection:
            return overview.next_due(connection, max_priority=max_priority, kinds=kinds)

    def unsettled(self, now: float) -> int:
        """Return how many jobs run or wait, retries included; snoozed ones are not."""
        with self._database.read() as connection:
            return overview.unsettled(connection, now)

    # The moves that the methods above are made of

    def _change(self, change: Callable[[Connection], T]) -> T:
        """Run ``change`` in a transaction, again if another process took a unique place first."""
        for remaining in reversed(range(_RACES)):
            try:
                with self._database.write() as connection:
                    self._announce(Signal.WORK)
                    return change(connection)
            except IntegrityError:
                if remaining == 0:
                    raise
        raise AssertionError("unreachable")

    def _announce(self, signal: Signal) -> None:
        def tell() -> None:
            for callback in self._subscribers:
                callback(signal)

        self._database.after_commit(tell)

    def _rescue(self, condition: ColumnElement[bool], now: float) -> int:
        query = (
            select(jobs)
            .where(condition)
            .order_by(jobs.c.id)
            .limit(_BATCH)
            .with_for_update(skip_locked=True)
        )

        def change(connection: Connection) -> int:
            lost = [as_job(row) for row in connection.execute(query)]
            for job in lost:
                transitions.rescue(connection, job, now=now, rng=self._rng)
            return len(lost)

        rescued = 0
        while True:
            batch = self._change(change)
            rescued += batch
            if batch < _BATCH:
                return rescued
