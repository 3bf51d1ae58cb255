"""Looking at the queue: every function reads, none changes anything."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from sqlalchemy import ColumnElement, Connection, and_, exists, func, not_, or_, select

from memoryd.db.schema import jobs
from memoryd.errors import NotFound
from memoryd.queue.jobs import Job, JobKind, JobState
from memoryd.queue.rows import as_job, in_state

_MINUTE_S = 60
_HOUR_S = 3600


def key_is_busy(candidate: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a job with the key ``candidate`` runs."""
    running = jobs.alias("running")
    return exists().where(running.c.key == candidate, in_state(JobState.RUNNING, running))


def counts(connection: Connection) -> dict[JobState, int]:
    """Return how many jobs are in each state; every state is there."""
    rows = connection.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state))
    return dict.fromkeys(JobState, 0) | {JobState(state): number for state, number in rows}


def counts_by_kind(connection: Connection) -> dict[tuple[JobKind, JobState], int]:
    """Return how many jobs of each kind are in each state; what has none is not there."""
    rows = connection.execute(
        select(jobs.c.kind, jobs.c.state, func.count()).group_by(jobs.c.kind, jobs.c.state)
    )
    return {(JobKind(kind), JobState(state)): number for kind, state, number in rows}


def listing(
    connection: Connection,
    *,
    states: Collection[JobState] | None,
    kinds: Collection[JobKind] | None,
    limit: int,
) -> tuple[Job, ...]:
    """Return the newest jobs first, at most ``limit``; ``None`` stands for all."""
    query = select(jobs).order_by(jobs.c.id.desc()).limit(limit)
    if states is not None:
        query = query.where(jobs.c.state.in_(list(states)))
    if kinds is not None:
        query = query.where(jobs.c.kind.in_(list(kinds)))
    return tuple(as_job(row) for row in connection.execute(query))


def get(connection: Connection, job_id: int) -> Job:
    """Return the job with the id.

    Raises:
        NotFound: there is none, or it was pruned.
    """
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise NotFound(
            f"there is no job {job_id}",
            hint="memoryctl jobs list shows what there is; finished jobs are removed after a day",
        )
    return as_job(row)


def next_due(
    connection: Connection, *, max_priority: int | None, kinds: Collection[JobKind] | None
) -> float | None:
    """Return the earliest instant at which a queued job whose key is free can be claimed."""
    query = select(func.min(jobs.c.run_at)).where(
        in_state(JobState.QUEUED), not_(key_is_busy(jobs.c.key))
    )
    if max_priority is not None:
        query = query.where(jobs.c.priority <= max_priority)
    if kinds is not None:
        query = query.where(jobs.c.kind.in_(list(kinds)))
    earliest: float | None = connection.scalar(query)
    return earliest


def unsettled(connection: Connection, now: float, *, up_to: int | None = None) -> int:
    """Return how many jobs run or wait, retries included; those snoozed beyond ``now`` are not.

    Args:
        connection: any.
        now: seconds since 1970 UTC.
        up_to: leave out jobs with a larger id, which were queued later.
    """
    waiting = and_(in_state(JobState.QUEUED), or_(not_(jobs.c.snoozed), jobs.c.run_at <= now))
    query = select(func.count()).where(or_(in_state(JobState.RUNNING), waiting))
    if up_to is not None:
        query = query.where(jobs.c.id <= up_to)
    return connection.scalar(query) or 0


def newest(connection: Connection) -> int:
    """Return the id of the job that was queued last, 0 if there is none."""
    return connection.scalar(select(func.max(jobs.c.id))) or 0


def why(connection: Connection, job_id: int, now: float) -> str:
    """Return a sentence that says why the job is where it is.

    Raises:
        NotFound: there is no such job.
    """
    job = get(connection, job_id)
    match job.state:
        case JobState.QUEUED:
            return _why_queued(connection, job, now)
        case JobState.RUNNING:
            since = _span(now - (job.started_at or now))
            asked = ", asked to stop" if job.cancel_requested else ""
            return f"Running for {since}, attempt {job.attempt} of {job.max_attempts}{asked}."
        case JobState.DONE:
            return f"Done {_span(now - (job.finished_at or now))} ago."
        case JobState.DEAD:
            return (
                f"Dead after attempt {job.attempt} of {job.max_attempts}: {job.error}. "
                f"`memoryctl jobs retry {job.id}` queues it again."
            )
        case JobState.CANCELLED:
            return f"Cancelled: {job.error}."
        case _:
            assert_never(job.state)


def _why_queued(connection: Connection, job: Job, now: float) -> str:
    wait = job.run_at - now
    if wait > 0:
        if job.snoozed:
            return f"Put off for another {_span(wait)}: {job.error}."
        if job.error is not None:
            return (
                f"Attempt {job.attempt} of {job.max_attempts} failed ({job.error}); "
                f"tried again in {_span(wait)}."
            )
        return f"Due in {_span(wait)}."
    busy = connection.scalar(
        select(jobs.c.id).where(jobs.c.key == job.key, in_state(JobState.RUNNING))
    )
    if busy is not None:
        return f"Due; waits for #{busy}, which runs with the same key."
    ahead = connection.scalar(
        select(func.count()).where(
            in_state(JobState.QUEUED),
            jobs.c.run_at <= now,
            or_(
                jobs.c.priority < job.priority,
                and_(jobs.c.priority == job.priority, jobs.c.run_at < job.run_at),
            ),
        )
    )
    return f"Due; waits for a free worker, {ahead} due before it."


def _span(seconds: float) -> str:
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.0f} h"
