"""The life of a service in its process: start, signals, watchdog, stop."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Callable
from enum import Enum
from types import FrameType
from typing import Protocol, assert_never

from structlog.typing import FilteringBoundLogger

from memoryd.daemon.failures import failure_facts
from memoryd.daemon.notify import Notifier
from memoryd.errors import MemorydError

READY = "ready\n"
"""What a service in the background writes to its readiness pipe; else the error is written."""


class Service(Protocol):
    """What runs."""

    def start(self) -> None:
        """Return when it answers. Raises ``MemorydError`` when it cannot run."""
        ...

    def stop(self, drain_s: float) -> None:
        """End within ``drain_s`` seconds; also after a ``start`` that failed half-way."""
        ...

    def reload(self) -> None:
        """Read the settings again; raises ``MemorydError`` and keeps the old ones."""
        ...

    def alive(self) -> bool:
        """Tell whether every loop ticked lately."""
        ...


class _Event(Enum):
    STOP = "stop"
    RELOAD = "reload"


class Lifecycle:
    """Runs one service until it is asked to stop.

    Args:
        notifier: tells the service manager.
        log: for what happens to the process.
        ready_fd: readiness pipe of ``memoryd start``, or ``None``.
        drain_s: seconds for what is in flight when it stops.
    """

    def __init__(
        self,
        *,
        notifier: Notifier,
        log: FilteringBoundLogger,
        ready_fd: int | None = None,
        drain_s: float = 20.0,
    ) -> None:
        self._notifier = notifier
        self._log = log
        self._ready_fd = ready_fd
        self.drain_s = drain_s
        # SimpleQueue.put may be interrupted by itself: a signal handler may call it.
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._stopping = False

    def request_stop(self) -> None:
        """Let ``run`` stop the service; from any thread."""
        self._events.put(_Event.STOP)

    def run(self, build: Callable[[], Service]) -> int:
        """Build a service, run it in this (the main) thread's care, and return the exit code.

        SIGTERM and SIGINT stop it gracefully, a second one ends the process at once; SIGHUP
        reloads the settings.
        """
        former = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        }
        try:
            return self._run(build)
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _run(self, build: Callable[[], Service]) -> int:
        service: Service | None = None
        try:
            service = build()
            service.start()
        except MemorydError as error:
            self._log.error("start_failed", **failure_facts(error))
            hint = f"\n  {error.hint}" if error.hint else ""
            self._tell_parent(f"memoryd: {error}{hint}\n")
            if service is not None:
                service.stop(0)
            return 1
        self._log.info("started", pid=os.getpid())
        self._notifier.send(READY=1)
        self._tell_parent(READY)
        self._attend(service)
        self._stopping = True
        self._notifier.send(STOPPING=1)
        self._log.info("stopping")
        service.stop(self.drain_s)
        self._log.info("stopped")
        return 0

    def _attend(self, service: Service) -> None:
        """Return when the service must stop."""
        watchdog_s = self._notifier.watchdog_s
        while True:
            try:
                event = self._events.get(timeout=watchdog_s / 3 if watchdog_s else None)
            except queue.Empty:
                if service.alive():
                    self._notifier.send(WATCHDOG=1)
                else:
                    self._log.error("loop_stuck")
                continue
            match event:
                case _Event.STOP:
                    return
                case _Event.RELOAD:
                    self._reload(service)
                case _:
                    assert_never(event)

    def _reload(self, service: Service) -> None:
        self._notifier.reloading()
        try:
            service.reload()
        except MemorydError as error:
            self._log.error("reload_failed", **failure_facts(error))
        else:
            self._log.info("reloaded")
        self._notifier.send(READY=1)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self._events.put(_Event.RELOAD)
            return
        if self._stopping:
            os._exit(128 + number)  # Nothing is lost: what was not finished is done again.
        self._stopping = True
        self._events.put(_Event.STOP)

    def _tell_parent(self, text: str) -> None:
        if self._ready_fd is None:
            if text != READY:
                os.write(2, text.encode(errors="backslashreplace"))
            return
        fd, self._ready_fd = self._ready_fd, None
        try:
            os.write(fd, text.encode(errors="backslashreplace"))
        except BrokenPipeError:
            return  # Whoever started it did not wait.
        finally:
            os.close(fd)
