"""Made-up transcripts, and an instance of ingestion over them that a test drives itself."""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from memoryd.admission import Admission
from memoryd.clock import Clock, ManualClock
from memoryd.db.engine import Database
from memoryd.db.schema import files, jobs, project_paths, projects, sessions, turns
from memoryd.ingest.service import Ingest, IngestSettings
from memoryd.paths import Paths
from memoryd.queue.queue import Queue
from memoryd.search.index import TextIndex
from sqlalchemy import Table, select

CWD = "/nowhere/app"


def prompt(uuid: str, text: str, *, cwd: str = CWD, session: str = "s", **more: Any) -> bytes:
    return line(
        {
            "type": "user",
            "uuid": uuid,
            "parentUuid": None,
            "sessionId": session,
            "cwd": cwd,
            "timestamp": "2026-11-30T10:00:00.000Z",
            "isSidechain": False,
            "message": {"role": "user", "content": text},
            **more,
        }
    )


def reply(
    uuid: str,
    text: str,
    *,
    stop: str | None = "end_turn",
    cwd: str = CWD,
    session: str = "s",
    tool: str | None = None,
    sidechain: bool = False,
) -> bytes:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if tool is not None:
        content.append({"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": "ls"}})
    return line(
        {
            "type": "assistant",
            "uuid": uuid,
            "sessionId": session,
            "cwd": cwd,
            "timestamp": "2026-11-30T10:00:05.000Z",
            "isSidechain": sidechain,
            "message": {
                "id": f"msg-{uuid}",
                "role": "assistant",
                "model": "some-model",
                "content": content,
                "stop_reason": stop,
                "usage": {"input_tokens": 100, "output_tokens": 10},
            },
        }
    )


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


class Bench:
    """An instance over temporary directories; ``ingest`` may be replaced like a restarted one."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        *,
        clock: Clock | None = None,
        is_request: Callable[[str], bool] = lambda text: text.startswith("Remember"),
        settings: IngestSettings | None = None,
    ) -> None:
        self.paths = Paths(
            config=folder / "config",
            state=folder / "state",
            runtime=folder / "run",
            settings=folder / "config.toml",
            home=folder,
        )
        self.projects = self.paths.projects
        self.projects.mkdir(parents=True, exist_ok=True)
        self.paths.state.mkdir(exist_ok=True)
        self.database = database
        self.manual = ManualClock()
        self.clock: Clock = clock or self.manual
        self.queue = Queue(database, self.clock, Random(1))
        self.is_request = is_request
        self.settings = settings or IngestSettings(watch=False)
        self.admission: Callable[[], Admission] = Admission
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.ingest = self.restart()

    def restart(self) -> Ingest:
        self.index = TextIndex(self.paths.text_index, clock=self.clock)
        weakref.finalize(self, self.index.close)
        self.ingest = Ingest(
            paths=self.paths,
            database=self.database,
            queue=self.queue,
            index=self.index,
            clock=self.clock,
            is_request=self.is_request,
            on_event=lambda name, **facts: self.events.append((name, facts)),
            settings=self.settings,
            admission=lambda: self.admission(),  # noqa: PLW0108 - a test may replace it
        )
        return self.ingest

    def file(self, name: str = "s", project: str = "-nowhere-app") -> Path:
        path = self.projects / project / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, data: bytes, name: str = "s", project: str = "-nowhere-app") -> Path:
        path = self.file(name, project)
        path.write_bytes(data)
        return path

    def append(self, data: bytes, name: str = "s", project: str = "-nowhere-app") -> Path:
        path = self.file(name, project)
        with path.open("ab") as file:
            file.write(data)
        return path

    def scan(self) -> None:
        """Look at everything, as the thread does every few minutes."""
        self.ingest.rescan()
        while self.ingest.run_once() == 0.0:
            pass

    def settle(self) -> bool:
        return self.ingest.settle(self.clock.monotonic() + 60)

    def later(self, seconds: float) -> None:
        """Let time pass and do what is due, without looking at the disk anew."""
        self.manual.advance(seconds)
        while self.ingest.run_once() == 0.0:
            pass

    def rows(self, table: Table, *columns: str) -> list[tuple[Any, ...]]:
        chosen = [table.c[name] for name in columns] if columns else [table]
        with self.database.read() as connection:
            order = next(iter(table.primary_key.columns))
            return [tuple(row) for row in connection.execute(select(*chosen).order_by(order))]

    def turns(self, *columns: str) -> list[tuple[Any, ...]]:
        return self.rows(turns, *(columns or ("session_id", "uuid", "state")))

    def sessions(self, *columns: str) -> list[tuple[Any, ...]]:
        return self.rows(sessions, *(columns or ("id", "turns", "state")))

    def files(self, *columns: str) -> list[tuple[Any, ...]]:
        return self.rows(files, *(columns or ("path", "kind", "offset")))

    def jobs(self, *columns: str) -> list[tuple[Any, ...]]:
        return self.rows(jobs, *(columns or ("kind", "key", "priority")))

    def project_rows(self) -> list[tuple[Any, ...]]:
        return self.rows(projects, "root", "kind")

    def known_paths(self) -> list[tuple[Any, ...]]:
        return self.rows(project_paths, "path", "project_id")

    def entries(self, column: str = "text") -> dict[str, Any]:
        """Return one column of everything in the text index, by uuid."""
        with closing(sqlite3.connect(self.paths.text_index)) as connection:
            return dict(connection.execute(f"SELECT uuid, {column} FROM entries ORDER BY uuid"))

    def indexed(self) -> list[str]:
        """Return the uuids of everything in the text index."""
        return list(self.entries())


def replace_file(path: Path, data: bytes) -> None:
    """Put another file in the place of ``path``, as editors do."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)  # noqa: PTH105 - as above
