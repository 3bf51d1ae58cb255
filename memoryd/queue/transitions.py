"""The statements that move one job, inside a transaction that ``queue.queue`` opened."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, bindparam, not_, or_, select, update

from memoryd.db.schema import jobs
from memoryd.errors import LeaseLost
from memoryd.queue import overview
from memoryd.queue.jobs import Job, JobKind, JobState, NewJob, next_retry
from memoryd.queue.merging import Waiting, merge
from memoryd.queue.rows import as_job, in_state

_FREED: dict[str, Any] = {"worker": None, "lease_until": None}
# Statements are built once: while a backlog is read, building them would cost more than running.
_MERGE = update(jobs).where(jobs.c.id == bindparam("b_id"))
_TWIN = (
    select(jobs)
    .where(in_state(JobState.QUEUED), jobs.c.dedupe_key == bindparam("b_dedupe_key"))
    .with_for_update()
)
_CLOCK_S = 60.0
"""How far an instant of the past may lie in the future by a clock that is merely corrected."""


def claim_statement(
    worker: str,
    *,
    now: float,
    lease_until: float,
    max_priority: int | None,
    kinds: Collection[JobKind] | None,
) -> Any:
    """Build the one statement of a claim, for both databases (SQLite knows no row locks)."""
    ready = jobs.alias("ready")
    chosen = (
        select(ready.c.id)
        .where(
            in_state(JobState.QUEUED, ready),
            ready.c.run_at <= now,
            not_(overview.key_is_busy(ready.c.key)),
        )
        .order_by(ready.c.priority, ready.c.run_at, ready.c.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=ready)
    )
    if max_priority is not None:
        chosen = chosen.where(ready.c.priority <= max_priority)
    if kinds is not None:
        chosen = chosen.where(ready.c.kind.in_(list(kinds)))
    return (
        update(jobs)
        .where(jobs.c.id == chosen.scalar_subquery(), in_state(JobState.QUEUED))
        .values(
            state=JobState.RUNNING,
            worker=worker,
            lease_until=lease_until,
            attempt=jobs.c.attempt + 1,
            snoozed=False,
            started_at=now,
        )
        .returning(*jobs.c)
    )


def put(connection: Connection, new: NewJob, *, now: float) -> int:
    """Insert a job, or merge it into the queued one with its dedupe key; return the row's id."""
    waiting = Waiting(
        payload=new.payload,
        priority=new.priority,
        run_at=now + new.delay_s,
        deadline=None if new.deadline_s is None else now + new.deadline_s,
        attempt=0,
        snoozed=False,
    )
    row = {
        "kind": new.kind,
        "key": new.key,
        "dedupe_key": new.dedupe_key,
        "state": JobState.QUEUED,
        "max_attempts": new.max_attempts,
        "created_at": now,
        **columns(waiting),
    }
    while True:
        inserted: int | None = connection.scalar(_insert(connection.dialect.name), row)
        if inserted is not None:
            return inserted
        # On PostgreSQL another process may have claimed the twin meanwhile: then insert.
        twin = twin_of(connection, new.dedupe_key)
        if twin is not None:
            merged = merge(waiting_part(twin), waiting)
            connection.execute(_MERGE, {"b_id": twin.id, **columns(merged)})
            return twin.id


@cache
def _insert(dialect: str) -> Any:
    """Build the statement that inserts a job unless one with its dedupe key is queued."""
    # Only the dialect in use is loaded.
    insert = import_module(f"sqlalchemy.dialects.{dialect}").insert
    return (
        insert(jobs)
        .on_conflict_do_nothing(
            index_elements=[jobs.c.dedupe_key], index_where=in_state(JobState.QUEUED)
        )
        .returning(jobs.c.id)
    )


def at(job_id: int) -> Update:
    """Update the row with the id."""
    return update(jobs).where(jobs.c.id == job_id)


def fenced(job: Job) -> Update:
    """Update the row of ``job`` if it is still the claim that the caller made."""
    return at(job.id).where(*_fence(job))


def held(connection: Connection, job: Job) -> Job:
    """Return the row of a claimed job as it is now, locked.

    Raises:
        LeaseLost: it is no longer the claim that the caller made.
    """
    query = select(jobs).where(jobs.c.id == job.id, *_fence(job)).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        raise LeaseLost
    return as_job(row)


def locked(connection: Connection, job_id: int) -> Job:
    """Return the row with the id, locked; raises `NotFound`."""
    connection.execute(select(jobs.c.id).where(jobs.c.id == job_id).with_for_update())
    return overview.get(connection, job_id)


def twin_of(connection: Connection, dedupe_key: str | None) -> Job | None:
    """Return the queued job with the dedupe key, locked."""
    if dedupe_key is None:
        return None
    row = connection.execute(_TWIN, {"b_dedupe_key": dedupe_key}).one_or_none()
    return None if row is None else as_job(row)


def waiting_part(job: Job) -> Waiting:
    """Return what merging decides about."""
    return Waiting(
        payload=job.payload,
        priority=job.priority,
        run_at=job.run_at,
        deadline=job.deadline,
        attempt=job.attempt,
        snoozed=job.snoozed,
    )


def columns(waiting: Waiting) -> dict[str, Any]:
    """Return the values of the columns that merging decided about."""
    return {
        "payload": dict(waiting.payload),
        "priority": waiting.priority,
        "run_at": waiting.run_at,
        "deadline": waiting.deadline,
        "attempt": waiting.attempt,
        "snoozed": waiting.snoozed,
    }


def finished(state: JobState, *, now: float, error: str | None) -> dict[str, Any]:
    """Return the values of the columns of a job that ends in ``state``."""
    return {"state": state, "finished_at": now, "error": error, "snoozed": False, **_FREED}


def end(
    connection: Connection, job: Job, state: JobState, *, now: float, error: str | None
) -> JobState:
    """Let ``job`` end in ``state``."""
    connection.execute(at(job.id).values(**finished(state, now=now, error=error)))
    return state


def requeue(
    connection: Connection,
    job: Job,
    *,
    now: float,
    run_at: float,
    attempt: int,
    error: str | None,
    snoozed: bool = False,
) -> JobState:
    """Let ``job`` wait again, or end it if it was asked to stop.

    One that was queued meanwhile under the same dedupe key is merged into it.
    """
    if job.cancel_requested:
        return end(connection, job, JobState.CANCELLED, now=now, error="on request")
    waiting = Waiting(
        payload=job.payload,
        priority=job.priority,
        run_at=run_at,
        deadline=job.deadline,
        attempt=attempt,
        snoozed=snoozed,
    )
    twin = twin_of(connection, job.dedupe_key)
    if twin is not None:
        end(connection, twin, JobState.CANCELLED, now=now, error=f"merged into #{job.id}")
        waiting = merge(waiting, waiting_part(twin))
    connection.execute(
        at(job.id).values(
            **columns(waiting),
            **_FREED,
            state=JobState.QUEUED,
            snoozes=job.snoozes + snoozed,
            error=error,
            finished_at=None,
        )
    )
    return JobState.QUEUED


def hasten_future(connection: Connection, now: float) -> int:
    """Make jobs due whose last step lies in the future: the clock was set back since.

    Their instants were reckoned from a clock that was wrong; return how many there were.
    """
    future = or_(jobs.c.created_at > now + _CLOCK_S, jobs.c.started_at > now + _CLOCK_S)
    changed = connection.execute(
        update(jobs)
        .where(in_state(JobState.QUEUED), future, jobs.c.run_at > now)
        .values(run_at=now, deadline=now, snoozed=False)
    )
    return changed.rowcount


def rescue(connection: Connection, job: Job, *, now: float, rng: Random) -> JobState:
    """Take ``job`` away from a worker that vanished. The attempt counts."""
    vanished = LeaseLost("its worker vanished")
    delay = next_retry(job.attempt, job.max_attempts, vanished, rng)
    if delay is None:
        return end(connection, job, JobState.DEAD, now=now, error=str(vanished))
    return requeue(
        connection,
        job,
        now=now,
        # A first loss is mostly a restart, and the job keeps its place; a second may be the job's
        # own doing, and must not take the service down in a tight loop.
        run_at=job.run_at if job.attempt == 1 else now + delay,
        attempt=job.attempt,
        error=str(vanished),
    )


def _fence(job: Job) -> tuple[ColumnElement[bool], ...]:
    return (
        in_state(JobState.RUNNING),
        jobs.c.worker == job.worker,
        jobs.c.attempt == job.attempt,
    )
