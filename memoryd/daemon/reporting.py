"""The methods that tell what is there: ``hello status search sessions projects jobs.*``."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from memoryd import __version__
from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.pausing import Pausing
from memoryd.daemon.places import Places
from memoryd.daemon.shelf import Shelves
from memoryd.db.engine import Database
from memoryd.errors import ProtocolError
from memoryd.ingest.service import Ingest
from memoryd.liveness import is_live, live_sessions
from memoryd.memory.library import MemoryLibrary
from memoryd.paths import Paths
from memoryd.protocol import PROTOCOL_VERSION, ErrorCode, instant
from memoryd.queue.jobs import Job, JobState
from memoryd.queue.queue import Queue
from memoryd.recall.present import Said, render_said
from memoryd.redaction import clean
from memoryd.search.index import Hit, TextIndex
from memoryd.stores.overview import count_projects, list_projects, list_sessions

_MOST = 10_000
_SNOOZED_SHOWN = 5


class Reporting:
    """Answers what changes nothing.

    Args:
        paths: of the instance.
        database: with its tables.
        queue: the jobs.
        ingest: what is read.
        index: what can be searched.
        library: the memory directories.
        shelves: the memories.
        places: the projects.
        clock: the time.
        provider: name of the provider in use.
        pausing: what is not taken in.
        hooks: returns which hooks were seen.
        ignoring: returns those of some sessions that ignore memory.
        warnings: further warnings for ``status``, asked for each time.
    """

    def __init__(
        self,
        *,
        paths: Paths,
        database: Database,
        queue: Queue,
        ingest: Ingest,
        index: TextIndex,
        library: MemoryLibrary,
        shelves: Shelves,
        places: Places,
        clock: Clock,
        provider: str,
        pausing: Pausing,
        hooks: Callable[[], dict[str, dict[str, Any]]],
        ignoring: Callable[[Collection[str]], set[str]],
        warnings: Callable[[], list[str]],
    ) -> None:
        self._paths = paths
        self._database = database
        self._queue = queue
        self._ingest = ingest
        self._index = index
        self._library = library
        self._shelves = shelves
        self._places = places
        self._clock = clock
        self._provider = provider
        self._pausing = pausing
        self._hooks = hooks
        self._ignoring = ignoring
        self._warnings = warnings
        self._started = clock.monotonic()

    def hello(self, call: Call) -> dict[str, Any]:
        """Say who answers; refuse a client that speaks another version of the protocol."""
        wanted = call.params.integer("protocol", PROTOCOL_VERSION, least=0, most=2**31)
        if wanted != PROTOCOL_VERSION:
            raise ProtocolError(
                f"the service speaks version {PROTOCOL_VERSION} of the protocol, not {wanted}",
                code=ErrorCode.VERSION,
                hint="update the older of the two",
            )
        return {
            "protocol": PROTOCOL_VERSION,
            "version": __version__,
            "pid": os.getpid(),
            "state": os.path.abspath(self._paths.state),  # noqa: PTH100 - resolve() would follow links
        }

    def status(self, call: Call) -> dict[str, Any]:
        """Return the state of the service on one page."""
        del call
        ingest = self._ingest.status()
        with self._database.read() as connection:
            projects = count_projects(connection)
            roots = [project.root for project in list_projects(connection)]
        counts = self._queue.counts()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round(self._clock.monotonic() - self._started, 1),
            "socket": str(self._paths.socket),
            "provider": self._provider,
            "projects": projects,
            "sessions": ingest.sessions,
            "turns": ingest.turns,
            "memories": sum(self._shelves.count(root) for root in roots),
            "jobs": {state.value: counts[state] for state in JobState},
            "ingest": {
                "bytes": ingest.bytes,
                "records": ingest.records,
                "skipped": ingest.skipped,
                "oversize": ingest.oversize,
                "foreign": ingest.foreign,
                "lag_bytes": ingest.lag_bytes,
                "pending_bytes": ingest.pending_bytes,
                "index_lag": ingest.index_lag,
                "scans": ingest.scans,
                "busy_s": round(ingest.busy_s, 3),
            },
            "hooks": self._hooks(),
            "budget": {},
            "paused": self._pausing.lasting(),
            "exclude": list(self._pausing.admission().exclude),
            "warnings": [
                *self._warnings(),
                *ingest.warnings,
                *self._switched_off(roots),
                *self._put_off(counts),
            ],
        }

    def search(self, call: Call) -> dict[str, Any]:
        """Search what was said."""
        began = self._clock.monotonic()
        query = call.params.text("query")
        limit = call.params.integer("limit", 20, least=1, most=_MOST)
        session = call.params.session("session", None)
        ignored = session is not None and bool(self._ignoring({session}))
        hits: Sequence[Hit] = ()
        if not ignored:
            hits = self._index.search(query, project=self._places.filter(call.params), limit=limit)
        answer = {
            "query": clean(query),
            "hits": [
                {
                    "session": hit.session,
                    "project": hit.project,
                    "uuid": hit.uuid,
                    "timestamp": instant(hit.timestamp),
                    "role": hit.role,
                    "snippet": hit.snippet,
                    "score": hit.score,
                }
                for hit in hits
            ],
            "text": render_said(
                [
                    Said(hit.session, instant(hit.timestamp) or "", hit.role, hit.snippet)
                    for hit in hits
                ]
            ),
            "elapsed_ms": round((self._clock.monotonic() - began) * 1000, 3),
        }
        if session is not None:
            answer["ignored"] = ignored
        return answer

    def sessions(self, call: Call) -> list[dict[str, Any]]:
        """List sessions, the latest first."""
        limit = call.params.integer("limit", _MOST, least=1, most=_MOST)
        root = self._places.filter(call.params)
        named = live_sessions(self._paths.config)
        now = self._clock.now()
        with self._database.read() as connection:
            rows = list_sessions(connection, project_root=root, limit=limit)
        ignoring = self._ignoring([row.session for row in rows])
        return [
            {
                "session": row.session,
                "project": row.project,
                "title": row.title,
                "started": instant(row.started),
                "last": instant(row.last),
                "turns": row.turns,
                "headless": row.headless,
                "context_tokens": row.context_tokens,
                "live": row.state == "present"
                and is_live(row.session, row.last, named=named, now=now),
                "state": row.state,
                "ignoring_memory": row.session in ignoring,
            }
            for row in rows
        ]

    def projects(self, call: Call) -> list[dict[str, Any]]:
        """List projects, the one last worked in first."""
        del call
        with self._database.read() as connection:
            rows = list_projects(connection)
        return [
            {
                "project": row.root,
                "memories": self._shelves.count(row.root),
                "directory": str(self._library.store(row.root).directory),
                "sessions": row.sessions,
                "last": instant(row.last),
            }
            for row in rows
        ]

    def jobs_list(self, call: Call) -> list[dict[str, Any]]:
        """List jobs, the latest first."""
        state = call.params.choice("state", [member.value for member in JobState])
        limit = call.params.integer("limit", 50, least=1, most=_MOST)
        root = self._places.filter(call.params)
        jobs = self._queue.list(
            states=None if state is None else [JobState(state)],
            limit=limit if root is None else _MOST,
        )
        names = self._projects()
        found = [_summary(job, names) for job in jobs]
        return [job for job in found if root in (None, job["project"])][:limit]

    def jobs_show(self, call: Call) -> dict[str, Any]:
        """Return all about one job."""
        job = self._queue.get(call.params.integer("id", least=1, most=2**62))
        return {
            **_summary(job, self._projects()),
            "priority": job.priority,
            "max_attempts": job.max_attempts,
            "snoozes": job.snoozes,
            "worker": job.worker,
            "created_at": instant(job.created_at),
            "started_at": instant(job.started_at),
            "finished_at": instant(job.finished_at),
            "result": job.result,
        }

    def jobs_why(self, call: Call) -> dict[str, Any]:
        """Say why a job does not run now."""
        number = call.params.integer("id", least=1, most=2**62)
        return {"id": number, "why": self._queue.why(number)}

    def jobs_retry(self, call: Call) -> dict[str, Any]:
        """Queue a dead or cancelled job again."""
        number = call.params.integer("id", least=1, most=2**62)
        changed = self._queue.retry(number)
        return {"id": number, "changed": changed, "state": self._queue.get(number).state.value}

    def jobs_cancel(self, call: Call) -> dict[str, Any]:
        """Cancel a job, or ask a running one to stop."""
        number = call.params.integer("id", least=1, most=2**62)
        changed = self._queue.cancel(number)
        return {"id": number, "changed": changed, "state": self._queue.get(number).state.value}

    def _projects(self) -> dict[int, str]:
        with self._database.read() as connection:
            return {project.id: project.root for project in list_projects(connection)}

    def _switched_off(self, roots: list[str]) -> list[str]:
        off = {state.why for root in roots if (state := self._library.may_write(root)) is not None}
        return [f"no memories are written: the client's auto-memory is off ({why})" for why in off]

    def _put_off(self, counts: Mapping[JobState, int]) -> list[str]:
        if not counts[JobState.QUEUED]:
            return []
        waiting = self._queue.list(states=[JobState.QUEUED], limit=_MOST)
        reasons = sorted({job.error for job in waiting if job.snoozed and job.error})
        return [f"put off: {reason}" for reason in reasons[:_SNOOZED_SHOWN]]


def _summary(job: Job, projects: Mapping[int, str]) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind.value,
        "key": job.key,
        "project": projects.get(job.payload.get("project", 0)),
        "state": job.state.value,
        "attempt": job.attempt,
        "run_at": instant(job.run_at),
        "error": job.error,
    }
