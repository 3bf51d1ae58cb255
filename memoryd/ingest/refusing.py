"""Asking, event by event, whether what a transcript says may be taken in."""

from __future__ import annotations

from pathlib import PurePosixPath

import msgspec
from sqlalchemy import Connection

from memoryd.admission import Admission, Refusal
from memoryd.ingest.reader import Portion
from memoryd.ingest.turns import Met, TurnWriter
from memoryd.stores import projects
from memoryd.stores.projects import Project
from memoryd.transcript.events import AssistantText, Event, HumanPrompt
from memoryd.transcript.state import ReaderState


class Gate:
    """Decides about the events of one transaction.

    Args:
        connection: to look up projects; nothing is written.
        admission: of the moment.
    """

    def __init__(self, connection: Connection, admission: Admission) -> None:
        self._connection = connection
        self._admission = admission
        self._roots: dict[str, str | None] = {}
        self._excluded: dict[str, bool] = {}
        self._cwd = ""
        self._refused = False

    def excludes(self, cwd: str) -> bool:
        """Tell whether a working directory or its project is excluded."""
        if cwd not in self._excluded:
            # Following links costs system calls: once a transaction is enough.
            self._excluded[cwd] = self._admission.excludes(cwd, self._root(cwd, ""))
        return self._excluded[cwd]

    def enter(self) -> None:
        """Begin with another portion."""
        self._cwd = ""
        self._refused = False

    def refusal(self, event: Event, portion: Portion) -> Refusal | None:
        """Say why an event may not be taken in; events are asked about in file order.

        What names no directory belongs to where something was said last.
        """
        if isinstance(event, HumanPrompt | AssistantText) and event.cwd:
            self._cwd = event.cwd
        refusal = self._ask(self._cwd or portion.session.cwd, portion, event.start)
        self._refused = self._refused or refusal is not None
        return refusal

    def hides_titles(self, portion: Portion) -> bool:
        """Tell whether part of the portion just followed may not be told of.

        Titles have no place of their own among the events: any in such a portion may be meant.
        """
        ends = (portion.start, max(portion.start, portion.offset - 1))
        return self._refused or any(
            self._ask(portion.session.cwd, portion, position) is not None for position in ends
        )

    def _ask(self, cwd: str, portion: Portion, position: int) -> Refusal | None:
        paths = (portion.path, portion.file.path) if portion.file else (portion.path,)
        directory = PurePosixPath(portion.path).parent
        root = self._root(cwd, str(directory))
        if self.excludes(cwd) if cwd else self._admission.excludes(root):
            return Refusal.EXCLUDED
        return Refusal.PAUSED if self._admission.withholds(root, paths, position) else None

    def _root(self, cwd: str, directory: str) -> str | None:
        key = cwd or directory
        if key not in self._roots:
            if cwd:
                self._roots[key] = projects.root_of(self._connection, cwd)
            else:
                named = projects.by_slug(self._connection, PurePosixPath(directory).name)
                self._roots[key] = named[0].root if len(named) == 1 else None
        return self._roots[key]


def withhold(
    refusal: Refusal,
    event: Event,
    writer: TurnWriter,
    met: Met,
    *,
    project: Project | None,
    now: float,
    reread_to: int,
) -> None:
    """Pass over an event; its record counts as met and handled from now on.

    Args:
        refusal: why.
        event: a prompt of a pause becomes a turn that counts as handled; else nothing is kept.
        writer: of its file; an open turn ends here.
        met: the uuids.
        project: of a prompt of a pause.
        now: seconds since 1970 UTC.
        reread_to: as in `Mark`.
    """
    first = False
    if isinstance(event, HumanPrompt | AssistantText):
        first = met.is_first(event.uuid)
        if first:
            met.withhold(event.uuid)
    if not isinstance(event, HumanPrompt) or refusal is Refusal.EXCLUDED or project is None:
        if refusal is Refusal.EXCLUDED or not writer.is_baseline:
            writer.leave(event.start)
    elif first:
        writer.begin(event, project.id, at=event.at or now, baseline=True, explicit=False)
    elif event.start < reread_to:
        writer.take_up(event)
    elif event.uuid != writer.uuid:
        writer.leave(event.start)


def untitle(portion: Portion) -> None:
    """Forget titles that a session was given while it may not be told of."""
    state = msgspec.msgpack.decode(portion.reader, type=ReaderState)
    for session in (state.session, portion.session):
        session.custom_title = session.ai_title = session.agent_name = ""
    portion.reader = msgspec.msgpack.encode(state)
