"""Whether the system tells of changes, and how often to look where it does not."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from memoryd.clock import Clock
from memoryd.db.filesystem import MOUNT_TABLE, without_events
from memoryd.ingest.status import Warnings, no_events, remote_directory
from memoryd.ingest.watcher import Watcher

_LIMITS = Path("/proc/sys/fs/inotify")


def read_mount_table() -> str:
    """Return the system's table of mounts, nothing where it has none (macOS)."""
    try:
        return MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


class Watching:
    """Keeps a watcher over the projects directory for as long as the system allows it.

    Args:
        root: the projects directory.
        on_hint: as in `Watcher`.
        on_overflow: as in `Watcher`.
        on_event: told what happened.
        warnings: where problems go.
        clock: when to try again.
        rescan_s: between walks over the tree while events arrive, and between two attempts.
        poll_s: between walks while some do not.
        wanted: whether to ask the system for events at all.
        mounts: returns a mount table.
    """

    def __init__(
        self,
        root: str,
        *,
        on_hint: Callable[[str, bool], None],
        on_overflow: Callable[[], None],
        on_event: Callable[..., None],
        warnings: Warnings,
        clock: Clock,
        rescan_s: float,
        poll_s: float,
        wanted: bool,
        mounts: Callable[[], str] = read_mount_table,
    ) -> None:
        self._root = root
        self._on_hint = on_hint
        self._on_overflow = on_overflow
        self._on_event = on_event
        self._warnings = warnings
        self._clock = clock
        self._rescan_s = rescan_s
        self._poll_s = poll_s
        self._wanted = wanted
        self._mounts = mounts
        self._watcher: Watcher | None = None
        self._remote = False
        self._retry_at = float("-inf")

    @property
    def complete(self) -> bool:
        """Whether every change below the directory is told, by whomever it is made."""
        watcher = self._watcher
        return watcher is not None and not self._remote and not watcher.refused and watcher.alive()

    @property
    def lost(self) -> bool:
        """Whether events that arrived arrive no longer: ``renew`` and look at everything."""
        watcher = self._watcher
        return watcher is not None and (watcher.refused != 0 or not watcher.alive())

    @property
    def interval_s(self) -> float:
        """Seconds until the whole tree is to be looked at again."""
        return self._poll_s if self._watcher is None or self._remote else self._rescan_s

    def renew(self) -> None:
        """Begin to watch, or replace a watcher that ended; to be called before each walk."""
        if not self._wanted:
            return
        kind = without_events(self._mounts(), PurePosixPath(os.path.realpath(self._root)))
        self._remote = kind is not None
        told = None if kind is None else remote_directory(self._root, kind, self._poll_s)
        self._warnings.put("remote", told)
        watcher = self._watcher
        if watcher is not None:
            if not self.lost:
                return
            self.stop()
            if watcher.refused:
                self._failed(watcher.refused)
            else:
                self._on_event("watcher-replaced")
        now = self._clock.monotonic()
        if now < self._retry_at or not os.path.isdir(self._root):  # noqa: PTH112 - paths are strings in this room
            return
        watcher = Watcher(self._root, on_hint=self._on_hint, on_overflow=self._on_overflow)
        try:
            watcher.start()
        except OSError as error:
            self._failed(error.errno or 0)
            return
        if watcher.refused:
            # Watching a part would take what the limit leaves to other programs.
            watcher.stop()
            self._failed(watcher.refused)
            return
        self._watcher = watcher
        self._warnings.put("watcher", None)

    def stop(self) -> None:
        """Watch no longer."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def _failed(self, number: int) -> None:
        self._retry_at = self._clock.monotonic() + self._rescan_s
        name = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}.get(number)
        limit = None if name is None else _read_limit(name)
        self._warnings.put("watcher", no_events(number, name, limit, self._poll_s))
        self._on_event("watch-failed", error=str(number))


def _read_limit(name: str) -> int | None:
    try:
        return int((_LIMITS / name).read_text())
    except (OSError, ValueError):
        return None
