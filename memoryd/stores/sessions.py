"""Single sessions: which one is meant, and where it is. SQL only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from memoryd.db.schema import files, projects, sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """A session and its transcript.

    Attributes:
        session: its id.
        project_id: row id of its project, ``None`` where it is not known.
        root: of its project, or an empty string.
        title: redacted; may be empty.
        path: of the transcript.
        offset: position up to which the transcript was taken in.
        missing: the transcript is known to be gone.
    """

    session: str
    project_id: int | None
    root: str
    title: str
    path: str
    offset: int
    missing: bool


def session_place(connection: Connection, session: str) -> SessionPlace | None:
    """Return a session, ``None`` if there is none of that id."""
    row = connection.execute(_PLACE.where(sessions.c.id == session)).one_or_none()
    return None if row is None else _place(row)


def newest_session(connection: Connection, root: str) -> str | None:
    """Return the id of the session of a project in which something was said last."""
    return connection.scalar(
        select(sessions.c.id)
        .join(projects, projects.c.id == sessions.c.project_id)
        .where(projects.c.root == root)
        .order_by(func.coalesce(sessions.c.last, 0.0).desc(), sessions.c.id)
        .limit(1)
    )


def sessions_beginning(connection: Connection, prefix: str, *, limit: int) -> list[str]:
    """Return the ids that begin with ``prefix``, in order."""
    begins = func.substr(sessions.c.id, 1, len(prefix)) == prefix
    return list(
        connection.scalars(select(sessions.c.id).where(begins).order_by(sessions.c.id).limit(limit))
    )


_PLACE: Select[Any] = (
    select(
        sessions.c.id,
        sessions.c.project_id,
        sessions.c.title,
        projects.c.root,
        files.c.path,
        files.c.offset,
        files.c.missing_since,
    )
    .join(files, files.c.id == sessions.c.file_id)
    .join(projects, projects.c.id == sessions.c.project_id, isouter=True)
)


def _place(row: Row[Any]) -> SessionPlace:
    return SessionPlace(
        session=row.id,
        project_id=row.project_id,
        root=row.root or "",
        title=row.title,
        path=row.path,
        offset=row.offset,
        missing=row.missing_since is not None,
    )
