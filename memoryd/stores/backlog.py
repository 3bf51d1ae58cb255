"""Ended turns that wait for extraction. SQL only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from memoryd.db.schema import files, projects, turns
from memoryd.stores.transcripts import TurnState


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTurn:
    """An ended turn and where its bytes are.

    Attributes:
        id: row id.
        session: id of the session.
        path: of the transcript file.
        uuid: of the person's record.
        start: position of its first byte.
        end: position behind its last byte.
        at: when it was said, or read where its record does not say; seconds since 1970 UTC.
        missing: the file is known to be gone.
        headless: the prompt came from a run without a person at the keyboard.
    """

    id: int
    session: str
    path: str
    uuid: str
    start: int
    end: int
    at: float
    missing: bool
    headless: bool


def due_turns(connection: Connection, project_id: int, *, limit: int) -> list[DueTurn]:
    """Return the ended turns of a project: explicit requests first, then oldest first."""
    rows = connection.execute(
        select(turns, files.c.path, files.c.missing_since)
        .join(files, files.c.id == turns.c.file_id)
        .where(turns.c.project_id == project_id, turns.c.state == TurnState.ENDED.value)
        .order_by(turns.c.explicit.desc(), turns.c.id)
        .limit(limit)
    )
    return [
        DueTurn(
            id=row.id,
            session=row.session_id,
            path=row.path,
            uuid=row.uuid,
            start=row.start,
            end=row.end,
            at=row.at,
            missing=row.missing_since is not None,
            headless=row.headless,
        )
        for row in rows
    ]


def mark_handled(connection: Connection, ids: Collection[int], *, now: float) -> None:
    """Note that extraction has looked at these turns."""
    if ids:
        connection.execute(
            update(turns)
            .where(turns.c.id.in_(ids), turns.c.state == TurnState.ENDED.value)
            .values(state=TurnState.HANDLED.value, handled_at=now)
        )


def waiting(connection: Connection) -> int:
    """Return how many ended turns wait for extraction, over all projects."""
    return int(
        connection.scalar(select(func.count()).where(turns.c.state == TurnState.ENDED.value)) or 0
    )


def projects_waiting(connection: Connection) -> list[tuple[int, str]]:
    """Return row id and root of the projects with ended turns that wait for extraction."""
    rows = connection.execute(
        select(projects.c.id, projects.c.root)
        .join(turns, turns.c.project_id == projects.c.id)
        .where(turns.c.state == TurnState.ENDED.value)
        .distinct()
        .order_by(projects.c.id)
    )
    return [(row.id, row.root) for row in rows]


def newest_turn(connection: Connection) -> int:
    """Return the row id of the turn that was met last, 0 if there is none."""
    return int(connection.scalar(select(func.max(turns.c.id))) or 0)


def unhandled(connection: Connection, *, up_to: int) -> int:
    """Return how many turns up to this row id are not handled yet."""
    open_or_ended = turns.c.state.in_([TurnState.OPEN.value, TurnState.ENDED.value])
    query = select(func.count()).where(open_or_ended, turns.c.id <= up_to)
    return int(connection.scalar(query) or 0)
