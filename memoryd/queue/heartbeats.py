"""One thread that extends the leases of all jobs that this process runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from memoryd.errors import LeaseLost
from memoryd.queue.jobs import Job
from memoryd.queue.queue import Lease, Queue, Signal
from memoryd.queue.rows import describe


class JobCancelled(Exception):  # noqa: N818 - a request, not a failure
    """Somebody asked for the job to stop."""


class Held:
    """A job that runs here, and what its heartbeats found."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._cancelled = threading.Event()
        self._lost = threading.Event()

    def check(self) -> None:
        """Return if the job should go on.

        Raises:
            JobCancelled: somebody asked for it to stop.
            LeaseLost: it is no longer ours; nothing it does would count.
        """
        if self._lost.is_set():
            raise LeaseLost
        if self._cancelled.is_set():
            raise JobCancelled

    def note(self, lease: Lease) -> None:
        """Remember what a heartbeat found."""
        if lease is Lease.LOST:
            self._lost.set()
        elif lease is Lease.CANCEL_REQUESTED:
            self._cancelled.set()


class Heartbeats:
    """Beats for every held job each third of the lease; sleeps while there is none.

    Args:
        queue: where the leases are.
        lease_s: how long a job is safe without a heartbeat.
        on_event: told ``heartbeat`` (``job``, ``lease``) and ``heartbeat_failed`` (``error``).
    """

    def __init__(
        self, queue: Queue, *, lease_s: float = 60.0, on_event: Callable[..., Any]
    ) -> None:
        self.lease_s = lease_s
        self._queue = queue
        self._on_event = on_event
        self._condition = threading.Condition()
        self._held: dict[int, Held] = {}
        self._now = False
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="heartbeats", daemon=True)
        queue.subscribe(self._hear)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; jobs that are still held lose their lease in time."""
        with self._condition:
            self._stopping = True
            self._condition.notify()
        self._thread.join()

    def hold(self, job: Job) -> Held:
        """Keep the lease of ``job`` alive until `drop`."""
        held = Held(job)
        with self._condition:
            self._held[job.id] = held
            self._condition.notify()
        return held

    def drop(self, held: Held) -> None:
        """Let the job go: it is finished, or given back."""
        with self._condition:
            self._held.pop(held.job.id, None)

    def _hear(self, signal: Signal) -> None:
        if signal is Signal.CANCEL:
            with self._condition:
                self._now = True
                self._condition.notify()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._held or self._stopping)
                self._condition.wait_for(
                    lambda: self._now or self._stopping, timeout=self.lease_s / 3
                )
                if self._stopping:
                    return
                self._now = False
                held = list(self._held.values())
            for one in held:
                self._beat(one)

    def _beat(self, held: Held) -> None:
        try:
            lease = self._queue.heartbeat(held.job, self.lease_s)
        except Exception as error:  # noqa: BLE001 - the loop's edge: the next beat tries again
            self._on_event("heartbeat_failed", job=held.job.id, error=describe(error))
            return
        held.note(lease)
        self._on_event("heartbeat", job=held.job.id, lease=lease)
