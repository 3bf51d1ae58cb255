"""What happens by the clock: triggers that only enqueue, or look after the queue."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

RESCUE_S = 30
PERIODIC_S = 900


class Schedule:
    """Fires the triggers.

    APScheduler forgets across restarts and would skip what came due while the machine slept:
    no trigger is ever too late (``misfire_grace_time=None``), missed ones fire once, and whether a
    periodic job is due is read from the database.

    Args:
        rescue: called every 30 s: jobs whose worker is gone are queued again.
        periodic: called at the start and every quarter of an hour: enqueues what is due.
        on_error: told of what either raises; the next firing tries again.
    """

    def __init__(
        self,
        *,
        rescue: Callable[[], object],
        periodic: Callable[[], object],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._on_error = on_error
        # It tells at INFO of every firing, and of coalesced ones at WARNING: neither is news here.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(1)},
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        self._periodic = periodic
        # Objects, not names: those would be looked up among everything that is installed.
        often = IntervalTrigger(seconds=RESCUE_S, timezone=UTC)
        seldom = IntervalTrigger(seconds=PERIODIC_S, timezone=UTC, jitter=PERIODIC_S // 10)
        self._scheduler.add_job(self._guarded(rescue), often)
        self._scheduler.add_job(self._guarded(periodic), seldom)

    def start(self) -> None:
        """Look once what came due while nobody ran, then fire by the clock."""
        self._guarded(self._periodic)()
        self._scheduler.start()

    def stop(self) -> None:
        """Fire no more; return when the trigger in hand has ended."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)

    def _guarded(self, action: Callable[[], object]) -> Callable[[], None]:
        def fire() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - the loop's edge: told, tried again
                self._on_error(error)

        return fire
