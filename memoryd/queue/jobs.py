"""What a job is: its states, what a handler may answer, and when a failure is tried again.

All of it is pure. The SQL is in ``queue.queue``, the loop that runs handlers in ``queue.worker``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    """Waits for its instant, its key, or a worker; a retry is queued again with an error."""
    RUNNING = "running"
    """A worker holds a lease on it; without heartbeats the rescuer queues it again."""
    DONE = "done"
    """Its effects are committed. Pruned after a day."""
    DEAD = "dead"
    """Failed for good, or too often; kept a week, ``memoryctl jobs retry`` queues it again."""
    CANCELLED = "cancelled"
    """Given up on request, or because its reason went away. Pruned after a day."""


class JobKind(StrEnum):
    """What a job does."""

    EXTRACT = "extract"
    """Learn from the ended turns of one project."""
    SESSION_MEMORY = "session-memory"
    """Bring the summary of one session up to date."""
    CLEANUP = "cleanup"
    """Prune memoryd's own rows."""


class Priority:
    """Lower runs first."""

    EXPLICIT = 0
    """A person asked for it in so many words and may be waiting."""
    NORMAL = 100
    """The background work of every day."""
    LOW = 200
    """Housekeeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to enqueue.

    Attributes:
        kind: which handler runs it.
        key: no two jobs with the same key run at once.
        dedupe_key: at most one queued job has it; enqueueing again merges into that one: the
            smaller priority wins, ``run_at`` slides later but never beyond the first deadline
            (and earlier if the new one is more urgent), the payload is replaced.
        payload: JSON for the handler; positions and ids, never text of a transcript.
        priority: lower runs first.
        delay_s: seconds from now until it is due (debounce).
        deadline_s: seconds from now after which sliding stops; ``None`` means it does not slide.
        max_attempts: runs that may fail before it is dead.
    """

    kind: JobKind
    key: str
    dedupe_key: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = Priority.NORMAL
    delay_s: float = 0.0
    deadline_s: float | None = None
    max_attempts: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A row of the queue. Instants are seconds since 1970 UTC."""

    id: int
    kind: JobKind
    key: str
    dedupe_key: str | None
    payload: Mapping[str, Any]
    priority: int
    state: JobState
    run_at: float
    deadline: float | None
    attempt: int
    max_attempts: int
    snoozes: int
    snoozed: bool
    worker: str | None
    lease_until: float | None
    cancel_requested: bool
    error: str | None
    result: Any
    created_at: float
    started_at: float | None
    finished_at: float | None


@dataclass(frozen=True, slots=True)
class Done:
    """The work is finished.

    Attributes:
        effects: runs in the transaction that marks the job done, and only if the job still
            belongs to this worker. Raising in it fails the job.
        result: JSON for ``memoryctl jobs show``.
    """

    effects: Callable[[Connection], None] | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Snooze:
    """Not now: queued again for ``until`` without costing an attempt."""

    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """There is no longer any reason to do it."""

    reason: str


Outcome = Done | Snooze | Cancel


class PermanentFailure(Exception):  # noqa: N818 - raised by handlers, read as a statement
    """Trying again cannot help; the job is dead at once."""


class TransientFailure(Exception):  # noqa: N818 - as above
    """Try again, not before ``retry_after_s`` seconds if given (``Retry-After``)."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


RETRY_BASE_S = 5.0
RETRY_CAP_S = 900.0


def next_retry(attempt: int, max_attempts: int, error: Exception, rng: Random) -> float | None:
    """Return the seconds until the next attempt, or ``None`` when the job is dead.

    Full jitter: uniform between 0 and ``min(900, 5 * 2**attempt)`` seconds, so that jobs that
    failed together do not come back together; a server's ``Retry-After`` is a lower bound.

    Args:
        attempt: how many runs were started, this one included (1 for the first).
        max_attempts: runs that may fail before the job is dead.
        error: what the handler raised.
        rng: source of the jitter.
    """
    if isinstance(error, PermanentFailure) or attempt >= max_attempts:
        return None
    delay = rng.uniform(0, min(RETRY_CAP_S, RETRY_BASE_S * 2**attempt))
    if isinstance(error, TransientFailure) and error.retry_after_s is not None:
        delay += error.retry_after_s
    return delay
