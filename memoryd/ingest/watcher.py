"""Events of the file system as hints of where to look. The only module that knows watchdog."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

# Without a filter the observer also asks for opens and closes, its own among them: above some
# 4,000 directories its walk at the start floods the kernel's queue, again and again.
_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
_OVERFLOW_LOGGER = "watchdog.observers.inotify"


class Watcher:
    """Watches one directory tree.

    Args:
        root: the directory; a symbolic link is resolved once.
        on_hint: called in the observer's thread with a path below ``root`` as it was given, and
            whether it is a directory. Must return at once.
        on_overflow: called when the kernel dropped events.
    """

    def __init__(
        self,
        root: str,
        *,
        on_hint: Callable[[str, bool], None],
        on_overflow: Callable[[], None],
    ) -> None:
        self._root = root
        self._on_hint = on_hint
        self._on_overflow = on_overflow
        self._observer: BaseObserver | None = None
        self._overflows: _OverflowHandler | None = None
        self._identity = (0, 0)

    def start(self) -> None:
        """Begin to watch.

        Raises:
            OSError: the directory is not there, or the system's limit of watches or of
                inotify instances is reached.
        """
        real = os.path.realpath(self._root)
        status = os.stat(real)  # noqa: PTH116 - paths are strings throughout this room
        # Directories made inside a new one are registered twice, which is harmless; but where
        # warnings are errors, this one would end watchdog's reading thread without a word.
        warnings.filterwarnings(
            "ignore", "Callback with id .* already exists", RuntimeWarning, r"watchdog\."
        )
        observer = Observer()
        handler = _Handler(real, self._root, self._on_hint)
        overflows = _OverflowHandler(self._on_overflow)
        try:
            observer.schedule(handler, real, recursive=True, event_filter=_EVENTS)
            observer.start()
        except Exception:
            observer.stop()
            raise
        logging.getLogger(_OVERFLOW_LOGGER).addHandler(overflows)
        self._identity = (status.st_dev, status.st_ino)
        self._observer = observer
        self._overflows = overflows

    def stop(self) -> None:
        """Stop watching; may be called without a start."""
        if self._overflows is not None:
            logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self._overflows)
            self._overflows = None
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def alive(self) -> bool:
        """Return whether events of the directory that now has this name still arrive."""
        if self._observer is None or not self._observer.is_alive():
            return False
        try:
            status = os.stat(self._root)  # noqa: PTH116 - as above
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity


class _Handler(FileSystemEventHandler):
    def __init__(self, real: str, root: str, on_hint: Callable[[str, bool], None]) -> None:
        self._real = real
        self._root = root
        self._on_hint = on_hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                name = os.fsdecode(path)
                if name.startswith(self._real):
                    self._on_hint(self._root + name[len(self._real) :], event.is_directory)


class _OverflowHandler(logging.Handler):
    def __init__(self, on_overflow: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._on_overflow = on_overflow

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in str(record.msg):
            self._on_overflow()
