"""Time as a parameter: the service reads it here, tests set it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC; may jump in both directions."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary instant; never goes backwards."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Return the wall clock."""
        return time.time()

    def monotonic(self) -> float:
        """Return the monotonic clock."""
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is told to move (for tests and replays)."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> float:
        """Return the set wall clock."""
        return self._now

    def monotonic(self) -> float:
        """Return the set monotonic clock."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass on both clocks."""
        self._now += seconds
        self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward (or back) without any time passing."""
        self._now += seconds
