"""A few threads for the methods of the socket, started when first needed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Task = Callable[[], None]


class Pool:
    """Runs tasks in order on at most ``size`` threads.

    A thread is started when a task finds none idle, and then stays. The threads are daemons: a
    handler that hangs must not keep the process from ending.
    """

    def __init__(self, size: int, name: str = "method") -> None:
        self._size = size
        self._name = name
        self._tasks: deque[Task] = deque()
        self._changed = threading.Condition()
        self._idle = 0
        self._started = 0
        self._closed = False

    def submit(self, task: Task) -> None:
        """Run ``task`` when a thread is free; it must not raise."""
        with self._changed:
            self._tasks.append(task)
            if self._idle < len(self._tasks) and self._started < self._size:
                self._started += 1
                threading.Thread(
                    target=self._run, name=f"{self._name}-{self._started}", daemon=True
                ).start()
            self._changed.notify()

    def close(self) -> None:
        """Let the threads end after the tasks that are submitted."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while not self._tasks and not self._closed:
                    self._changed.wait()
                self._idle -= 1
                if not self._tasks:
                    return
                task = self._tasks.popleft()
            task()
