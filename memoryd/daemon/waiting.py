"""``wait``: return when everything written before the call is read, indexed and handled."""

from __future__ import annotations

import threading
from typing import Any

from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.ingest.service import Ingest
from memoryd.queue.queue import Queue

DEFAULT_S = 60.0
MOST_S = 24 * 3600.0
LOOK_S = 0.5
"""Between two looks when no worker says that a job ended: another process may have ended it."""


class Waiting:
    """Answers ``wait``.

    Args:
        ingest: ends quiet periods.
        queue: knows what is left to do.
        clock: the time.
    """

    def __init__(self, *, ingest: Ingest, queue: Queue, clock: Clock) -> None:
        self._ingest = ingest
        self._queue = queue
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
        """
        timeout = call.params.seconds("timeout_s", DEFAULT_S, most=MOST_S)
        until = self._clock.monotonic() + call.remaining_s(timeout)
        settled = False
        while not call.cancelled.is_set():
            if not settled:
                settled = self._ingest.settle(until)
            with self._changed:
                generation = self._generation
            now = self._clock.now()
            if settled:
                self._queue.make_due(now)
                left = self._queue.unsettled(now)
                if left == 0:
                    return {"done": True}
                call.progress(jobs=left)
            rest = until - self._clock.monotonic()
            if rest <= 0:
                break
            with self._changed:
                self._changed.wait_for(
                    lambda before=generation: self._generation != before,  # type: ignore[misc]
                    timeout=min(rest, LOOK_S),
                )
        return {"done": False}
