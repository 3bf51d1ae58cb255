"""Queues to test with, and what a worker tells about itself."""

import threading
from collections.abc import Callable
from random import Random
from typing import Any

from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.queue.jobs import JobKind, NewJob
from memoryd.queue.queue import Queue

PATIENCE_S = 30.0


def make_queue(database: Database, clock: ManualClock) -> Queue:
    """A queue whose jitter is the same in every run."""
    return Queue(database, clock, Random(7))


def job(key: str = "project", **changes: Any) -> NewJob:
    """A job of everyday priority that is due at once."""
    return NewJob(**{"kind": JobKind.EXTRACT, "key": key, **changes})


class Events:
    """Collects what ``on_event`` is told; tests wait for it instead of sleeping."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self._condition = threading.Condition()

    def __call__(self, name: str, **facts: Any) -> None:
        with self._condition:
            self.seen.append((name, facts))
            self._condition.notify_all()

    def names(self) -> list[str]:
        """The names of all events so far."""
        with self._condition:
            return [name for name, _ in self.seen]

    def wait_for(self, name: str, times: int = 1) -> dict[str, Any]:
        """Wait until ``name`` came ``times`` times; return the facts of that last one."""
        return self._wait(lambda: [facts for seen, facts in self.seen if seen == name], times)

    def _wait(self, found: Callable[[], list[dict[str, Any]]], times: int) -> dict[str, Any]:
        with self._condition:
            if not self._condition.wait_for(lambda: len(found()) >= times, PATIENCE_S):
                raise AssertionError(f"not told in time; seen: {self.seen}")
            return found()[times - 1]
