"""Events of the file system as hints of where to look. The only module that knows watchdog."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
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

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver
    from watchdog.utils import BaseThread

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
LIMITS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that mean that the system allows no more watches."""


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
        self._refused = _Refused()
        self._on_overflow = on_overflow
        self._observer: BaseObserver | None = None
        self._source: BaseThread | None = None
        self._identity = (0, 0)

    @property
    def refused(self) -> int:
        """Error number with which a directory could not be watched, 0 if all are."""
        return self._refused.number

    def start(self) -> None:
        """Begin to watch.

        A directory below the root that cannot be watched raises nothing: see ``refused``.

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
        self._identity = (status.st_dev, status.st_ino)
        self._observer, self._source = _observer(self._refused, self._on_overflow)
        handler = _Handler(real, self._root, self._on_hint)
        try:
            self._observer.schedule(handler, real, recursive=True, event_filter=_EVENTS)
            self._observer.start()
        except Exception:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop watching; may be called without a start."""
        observer, self._observer = self._observer, None
        source, self._source = self._source, None
        # After its reading thread has died, the descriptor may be gone already.
        with contextlib.suppress(OSError):
            if observer is not None:
                observer.stop()
        with contextlib.suppress(OSError):
            if source is not None:
                source.stop()
        for thread in (observer, source):
            if thread is not None and thread.is_alive():
                thread.join()

    def alive(self) -> bool:
        """Return whether events of the directory that now has this name still arrive."""
        observer = self._observer
        if observer is None or not observer.is_alive():
            return False
        if not all(emitter.is_alive() for emitter in observer.emitters):
            return False
        if self._source is not None and not self._source.is_alive():
            return False
        try:
            status = os.stat(self._root)  # noqa: PTH116 - as above
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity


class _Refused:
    """Remembers that a directory could not be watched."""

    number = 0


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


if sys.platform == "linux":
    from watchdog.observers.api import BaseObserver as _BaseObserver
    from watchdog.observers.inotify import InotifyEmitter
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyEvent,
        InotifyFD,
        Mask,
        WatchCallback,
        WatchDescriptor,
    )

    class _Inotify(InotifyFD):
        """Says what its callers keep to themselves: refused directories and dropped events."""

        def __init__(self, refused: _Refused, on_overflow: Callable[[], None]) -> None:
            super().__init__()
            self._refused = refused
            self._on_overflow = on_overflow
            self._shared: dict[CallbackId, WatchCallback] = {}

        def add_callback(
            self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
        ) -> WatchDescriptor:
            try:
                wd = super().add_callback(path, mask, callback, id_)
            except OSError as error:
                if error.errno in LIMITS:
                    self._refused.number = error.errno
                raise
            # All watches have the same callback: one dictionary of it instead of thousands.
            with self._lock:
                watch = self._watch_for_wd.get(wd)
                if watch is not None and watch.callbacks == self._shared:
                    watch.callbacks = self._shared
                elif watch is not None and not self._shared:
                    self._shared = dict(watch.callbacks)
            return wd

        def remove_callbacks(self, callbacks: list[tuple[WatchDescriptor, CallbackId]]) -> None:
            with self._lock:
                for wd, _ in callbacks:
                    watch = self._watch_for_wd.get(wd)
                    if watch is not None:  # gets its own again, to be emptied
                        watch.callbacks = dict(watch.callbacks)
            super().remove_callbacks(callbacks)

        def handle_event(self, event: InotifyEvent) -> None:
            super().handle_event(event)
            if event.is_queue_overflow:
                # Only now, when what was made meanwhile is watched as well.
                self._on_overflow()

    def _observer(
        refused: _Refused, on_overflow: Callable[[], None]
    ) -> tuple[BaseObserver, BaseThread | None]:
        source = _Inotify(refused, on_overflow)
        source.start()
        return _BaseObserver(InotifyEmitter, inotify_fd=source), source

else:
    from watchdog.observers import Observer

    def _observer(
        refused: _Refused, on_overflow: Callable[[], None]
    ) -> tuple[BaseObserver, BaseThread | None]:
        del refused, on_overflow
        return Observer(), None
