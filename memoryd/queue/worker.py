"""The loop that runs jobs: claim, run the handler, record the outcome, wait for more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memoryd.clock import Clock
from memoryd.errors import DatabaseBusy, LeaseLost
from memoryd.queue.heartbeats import Heartbeats, Held, JobCancelled
from memoryd.queue.jobs import Cancel, Job, JobKind, JobState, Outcome
from memoryd.queue.queue import Queue, Signal
from memoryd.queue.rows import describe

IDLE_S = 30.0
"""An idle worker looks this often, for jobs that another process queued."""

GIVE_WAY_S = 5.0
"""So long a worker lets work go first that others do."""

_LOOK_S = 0.05
_LOST_RACE_S = 1.0
_TROUBLE_S = 5.0


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a handler may ask for.

    Attributes:
        job: the job as it was claimed.
        clock: the worker's clock.
    """

    job: Job
    clock: Clock
    _held: Held

    def check_cancelled(self) -> None:
        """Call between steps: leaves the handler by an exception if the job must stop.

        The exceptions (`JobCancelled`, `LeaseLost`) are the worker's: let them pass.
        """
        self._held.check()


Handler = Callable[[JobContext, Job], Outcome]


class Worker:
    """A thread that runs one job after the other.

    Args:
        queue: where the jobs are.
        handlers: what to do for each kind; other kinds are left to other workers.
        worker_id: the name of this worker, ``str(WorkerName.current(…))``.
        clock: for ``last_tick``, durations and the handlers.
        heartbeats: keeps the leases alive; started and stopped by the caller.
        max_priority: leave jobs that are less urgent to other workers.
        first: whether work is being done that goes first: the interpreter lets one thread compute
            at a time.
        on_event: told what happens by name and facts, never with text of a person: ``idle``,
            ``claimed``, ``failed`` (the handler or its effects raised), then where the job is:
            ``done``, ``queued`` (a retry or a snooze), ``dead``, ``cancelled``, ``lease_lost``
            or ``released``; ``database_busy``, ``worker_error``, ``stopped``.

    Attributes:
        last_tick: monotonic seconds at which the loop last came round.
    """

    def __init__(
        self,
        queue: Queue,
        handlers: Mapping[JobKind, Handler],
        *,
        worker_id: str,
        clock: Clock,
        heartbeats: Heartbeats,
        max_priority: int | None = None,
        first: Callable[[], bool] = lambda: False,
        on_event: Callable[..., Any],
    ) -> None:
        self.last_tick = clock.monotonic()
        self._first = first
        self._waiting_since: float | None = None
        self._queue = queue
        self._handlers = dict(handlers)
        self._worker_id = worker_id
        self._clock = clock
        self._heartbeats = heartbeats
        self._max_priority = max_priority
        self._on_event = on_event
        self._condition = threading.Condition()
        self._woken = False
        self._stopping = False
        self._running: Held | None = None
        self._thread = threading.Thread(target=self._run, name=f"worker {worker_id}", daemon=True)
        queue.subscribe(self._hear)

    @property
    def busy(self) -> bool:
        """Whether a handler runs: a long one is alive although ``last_tick`` stands still."""
        return self._running is not None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Let the worker look for jobs now."""
        with self._condition:
            self._woken = True
            self._condition.notify()

    def stop(self, drain_s: float) -> bool:
        """Claim no more; wait ``drain_s`` for the running job, then give it back.

        Returns:
            Whether the thread ended. If not, what its handler answers is discarded.
        """
        with self._condition:
            self._stopping = True
            self._condition.notify()
        self._thread.join(drain_s)
        if not self._thread.is_alive():
            return True
        held = self._running
        if held is not None:
            try:
                self._queue.release(held.job)
            except LeaseLost:
                self._event("lease_lost", held.job)
            else:
                self._event("released", held.job)
            self._heartbeats.drop(held)
        return False

    def _hear(self, signal: Signal) -> None:
        if signal is Signal.WORK:
            self.wake()

    def _run(self) -> None:
        while not self._stopping:
            self.last_tick = self._clock.monotonic()
            try:
                wait_s = self._step()
            except Exception as error:  # noqa: BLE001 - the loop's edge: reported, tried again
                self._on_event("worker_error", worker=self._worker_id, error=describe(error))
                wait_s = _TROUBLE_S
            with self._condition:
                self._condition.wait_for(lambda: self._woken or self._stopping, timeout=wait_s)
        self._on_event("stopped", worker=self._worker_id)

    def _step(self) -> float:
        """Run one job if there is one; return the seconds until there may be another."""
        # Lowered before looking, so that a job queued during the look is not overlooked.
        self._woken = False
        if self._gives_way():
            return _LOOK_S
        job = self._queue.claim(
            self._worker_id,
            lease_s=self._heartbeats.lease_s,
            max_priority=self._max_priority,
            kinds=self._handlers.keys(),
        )
        if job is not None:
            self._execute(job)
            return 0.0
        due = self._queue.next_due(max_priority=self._max_priority, kinds=self._handlers.keys())
        wait_s = IDLE_S if due is None else min(IDLE_S, due - self._clock.now())
        self._on_event("idle", worker=self._worker_id, due=due)
        return wait_s if wait_s > 0 else _LOST_RACE_S

    def _gives_way(self) -> bool:
        """Return whether to claim nothing yet, because other work goes first."""
        if not self._first():
            self._waiting_since = None
            return False
        now = self._clock.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        return now - self._waiting_since < GIVE_WAY_S

    def _execute(self, job: Job) -> None:
        started = self._clock.monotonic()
        held = self._heartbeats.hold(job)
        self._running = held
        self._event("claimed", job)
        try:
            state = self._settle(job, self._attempt(job, held))
        except LeaseLost:
            self._event("lease_lost", job)
        else:
            ms = round((self._clock.monotonic() - started) * 1000)
            self._event(state.value, job, ms=ms)
        finally:
            self._running = None
            self._heartbeats.drop(held)

    def _attempt(self, job: Job, held: Held) -> Outcome | Exception:
        try:
            return self._handlers[job.kind](JobContext(job, self._clock, held), job)
        except JobCancelled:
            return Cancel("on request")
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a handler raises fails its job
            self._event("failed", job, error=describe(error))
            return error

    def _settle(self, job: Job, outcome: Outcome | Exception) -> JobState:
        while True:
            try:
                if isinstance(outcome, Exception):
                    return self._queue.fail(job, outcome)
                return self._queue.finish(job, outcome)
            except LeaseLost:
                raise
            except DatabaseBusy:
                # The work is done: it is not thrown away because another program is slow.
                self._event("database_busy", job)
                if self._stopping:
                    raise
            except Exception as error:
                if isinstance(outcome, Exception):
                    raise
                self._event("failed", job, error=describe(error))
                outcome = error

    def _event(self, name: str, job: Job, **facts: Any) -> None:
        self._on_event(name, job=job.id, kind=job.kind, key=job.key, attempt=job.attempt, **facts)
