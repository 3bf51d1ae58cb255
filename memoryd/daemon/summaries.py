"""``session.summary``, and what hooks are told of the summary of a session."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import partial
from hashlib import blake2b
from typing import Any

from memoryd.context.excerpt import excerpt
from memoryd.context.record import Record
from memoryd.context.sections import Section
from memoryd.daemon.calls import Call
from memoryd.daemon.failures import failure_facts
from memoryd.daemon.params import Params
from memoryd.daemon.places import Places
from memoryd.db.engine import Database
from memoryd.errors import MemorydError, NotFound, ProtocolError
from memoryd.jobs.session_memory import SessionMemory
from memoryd.protocol import ErrorCode, instant
from memoryd.recall.present import render_summary
from memoryd.stores.sessions import newest_session, session_place, sessions_beginning

CONTEXT: int = 10_000
"""Length of a summary that is to stand in a prompt, in UTF-16 units."""

_SHOWN = 5
_NAME = 255


class Summaries:
    """Answers for summaries.

    Args:
        database: knows the sessions.
        session_memory: makes and keeps the summaries.
        places: the projects.
        ignoring: returns those of some sessions that ignore memory.
        on_event: told when one could not be made.
    """

    def __init__(
        self,
        *,
        database: Database,
        session_memory: SessionMemory,
        places: Places,
        ignoring: Callable[[Collection[str]], set[str]],
        on_event: Callable[..., None],
    ) -> None:
        self._database = database
        self._session_memory = session_memory
        self._places = places
        self._ignoring = ignoring
        self._on_event = on_event

    def summary(self, call: Call) -> dict[str, Any]:
        """Return the summary of one session."""
        session = self._meant(call.params)
        fresh = call.params.flag("refresh", default=True)
        if fresh:
            record = self._session_memory.refresh(session).record
        else:
            record = self._session_memory.kept(session)
        self._check(session, record)
        if record is None or not record.text:
            why = "nothing was said in it yet" if fresh else "none was made yet"
            raise NotFound(f"there is no summary of session {session}: {why}")
        asking = call.params.session("asking", None)
        ignored = asking is not None and bool(self._ignoring({asking}))
        answer = {
            "session": session,
            "project": record.project or None,
            "updated": instant(record.updated),
            "tokens": record.tokens,
            "sections": {section.value: record.summary.text(section) for section in Section},
            "text": record.text,
            "context": _context(record, CONTEXT),
        }
        if asking is not None:
            answer["ignored"] = ignored
        if ignored:
            answer |= {"tokens": 0, "sections": {}, "text": "", "context": ""}
        return answer

    # For hooks.

    def given(self, session: str, most: int) -> tuple[str, str]:
        """Return what a session is given of its summary, and a name for this state of it.

        Args:
            session: its id.
            most: length in UTF-16 units.

        Returns:
            two empty strings if there is none.
        """
        try:
            record = self._session_memory.kept(session)
        except MemorydError as error:
            self._on_event("summary_unread", session=session, **failure_facts(error))
            return "", ""
        if record is None or not record.text:
            return "", ""
        state = blake2b(record.text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return _context(record, most), f"summary/{session}/{state}"

    def hasten(self, session: str) -> None:
        """Bring a summary up to date soon; returns at once."""
        threading.Thread(target=self._refresh, args=(session,), name="summary", daemon=True).start()

    def _refresh(self, session: str) -> None:
        try:
            if self._session_memory.skipped(session) == "":
                self._session_memory.refresh(session)
        except Exception as error:  # noqa: BLE001 - the job will do it, or the next compaction
            self._on_event("summary_not_written", session=session, **failure_facts(error))

    # Inside.

    def _check(self, session: str, record: Record | None) -> None:
        with self._database.read() as connection:
            place = session_place(connection, session)
        root = place.root if place is not None else record.project if record else ""
        if self._session_memory.excludes(root):
            raise MemorydError(
                f"nothing is told of session {session}: the settings exclude {root}",
                hint="see: memoryctl config",
            )

    def _meant(self, params: Params) -> str:
        """Return the id of the session that a request means.

        Raises:
            NotFound: there is none.
            MemorydError: there are several.
            ProtocolError: the parameter is empty.
        """
        prefix = params.text("session", None, limit=_NAME)
        root = self._places.filter(params)
        if prefix is None:
            root = root or self._places.root(params)
            with self._database.read() as connection:
                newest = newest_session(connection, root)
            if newest is None:
                raise NotFound(
                    f"no session of the project {root} is known", hint="see: memoryctl sessions"
                )
            return newest
        if not prefix.strip():
            raise ProtocolError("parameter 'session' is empty", code=ErrorCode.INVALID_PARAMS)
        found = [name for name in self._beginning(prefix) if self._is_of(name, root)]
        if prefix in found:
            return prefix
        if len(found) == 1:
            return found[0]
        place = f" in the project {root}" if root else ""
        if not found:
            raise NotFound(
                f"no session{place} begins with {prefix!r}", hint="see: memoryctl sessions"
            )
        shown = ", ".join(found[:_SHOWN]) + (" …" if len(found) > _SHOWN else "")
        raise MemorydError(
            f"several sessions begin with {prefix!r}: {shown}", hint="give more of it"
        )

    def _beginning(self, prefix: str) -> list[str]:
        with self._database.read() as connection:
            known = sessions_beginning(connection, prefix, limit=_SHOWN + 1)
        return sorted({*known, *self._session_memory.copied(prefix, _SHOWN + 1)})

    def _is_of(self, session: str, root: str | None) -> bool:
        if root is None:
            return True
        with self._database.read() as connection:
            place = session_place(connection, session)
        if place is not None:
            return place.root == root
        record = self._session_memory.kept(session)
        return record is not None and record.project == root


def _context(record: Record, most: int) -> str:
    return render_summary(
        record.session,
        instant(record.updated) or "",
        partial(excerpt, record.summary),
        most,
    )
