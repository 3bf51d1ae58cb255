"""``pause`` and ``resume``, and what may be taken in because of them and of the settings."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memoryd.admission import Admission, Pause
from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.places import Places
from memoryd.db.engine import Database
from memoryd.ingest.scanner import transcript_sizes
from memoryd.protocol import instant
from memoryd.queue.queue import Queue
from memoryd.queue.requests import extract_job
from memoryd.stores.backlog import projects_waiting
from memoryd.stores.pauses import offsets, pauses, put_pauses


class Pausing:
    """Keeps pauses in the database and the admission of the moment in memory.

    Args:
        database: with its tables.
        queue: for what waited during a pause.
        places: the projects.
        clock: the time.
        transcripts: the projects directory.
        home: what ``~`` stands for.
        exclude: as the settings say.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        places: Places,
        clock: Clock,
        transcripts: Path,
        home: Path,
        exclude: Sequence[str],
    ) -> None:
        self._database = database
        self._queue = queue
        self._places = places
        self._clock = clock
        self._root = os.path.abspath(transcripts)  # noqa: PTH100 - resolve() would follow links
        self._home = home
        self._lock = threading.Lock()
        with database.read() as connection:
            self._admission = Admission(exclude, pauses(connection), home=home)

    def admission(self) -> Admission:
        """Return what is to be taken in from now on."""
        return self._admission

    def admits(self, root: str) -> bool:
        """Tell whether transcripts of the project at ``root`` may be read now."""
        return not (self._admission.excludes(root) or self._admission.paused(root))

    def exclude(self, globs: Sequence[str]) -> None:
        """Take over the setting."""
        with self._lock:
            self._admission = Admission(globs, self._admission.pauses, home=self._home)

    def pause(self, call: Call) -> dict[str, Any]:
        """Take nothing in that is written from now on, of one project or of all."""
        root = self._places.filter(call.params)
        with self._lock:
            lasting = [pause for pause in self._admission.pauses if pause.until is None]
            changed = not any(pause.root == root for pause in lasting)
            if changed:
                begun = Pause(root=root, since=self._clock.now(), before=self._unread())
                self._put([*self._admission.pauses, begun])
            return {"changed": changed, "paused": self.lasting()}

    def resume(self, call: Call) -> dict[str, Any]:
        """Take in again what is written from now on; of all, every pause ends."""
        root = self._places.filter(call.params)
        with self._lock:
            ending = [
                pause
                for pause in self._admission.pauses
                if pause.until is None and root in (None, pause.root)
            ]
            if ending:
                now, through = self._clock.now(), self._unread()
                self._put(
                    [
                        replace(pause, until=now, through=through) if pause in ending else pause
                        for pause in self._admission.pauses
                    ]
                )
                self._take_up()
            return {"changed": bool(ending), "paused": self.lasting()}

    def lasting(self) -> list[dict[str, Any]]:
        """Return the pauses that last, for ``status``."""
        return [
            {"project": pause.root, "since": instant(pause.since)}
            for pause in self._admission.pauses
            if pause.until is None
        ]

    def _unread(self) -> dict[str, int]:
        """Return where each transcript ends now that has bytes which were not read yet."""
        sizes = transcript_sizes(self._root)
        with self._database.read() as connection:
            read = offsets(connection, sizes)
        return {path: size for path, size in sizes.items() if size > read.get(path, 0)}

    def _put(self, found: Sequence[Pause]) -> None:
        with self._database.write() as connection:
            put_pauses(connection, found)
        self._admission = Admission(self._admission.exclude, found, home=self._home)

    def _take_up(self) -> None:
        """Let what was put off because of a pause go on."""
        with self._database.write() as connection:
            for project_id, root in projects_waiting(connection):
                if not self._admission.paused(root):
                    self._queue.enqueue(connection, extract_job(project_id, explicit=True))
