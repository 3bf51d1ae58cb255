"""Lists and sums for people: sessions and projects. SQL only."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from memoryd.db.schema import projects, sessions, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session; see ``db.schema``. Instants are seconds since 1970 UTC."""

    session: str
    project: str | None
    title: str
    started: float | None
    last: float | None
    turns: int
    headless: bool
    context_tokens: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRow:
    """A project and how much is known of it."""

    id: int
    root: str
    slug: str
    sessions: int
    last: float | None


def list_sessions(
    connection: Connection, *, project_root: str | None, limit: int
) -> list[SessionRow]:
    """Return sessions, the latest first; of one project, or of all."""
    counted = (
        select(turns.c.session_id, func.count().label("turns"))
        .group_by(turns.c.session_id)
        .subquery()
    )
    query = (
        select(sessions, projects.c.root, func.coalesce(counted.c.turns, 0).label("counted"))
        .join(projects, projects.c.id == sessions.c.project_id, isouter=True)
        .join(counted, counted.c.session_id == sessions.c.id, isouter=True)
        .order_by(func.coalesce(sessions.c.last, 0.0).desc(), sessions.c.id)
        .limit(limit)
    )
    if project_root is not None:
        query = query.where(projects.c.root == project_root)
    return [
        SessionRow(
            session=row.id,
            project=row.root,
            title=row.title,
            started=row.started,
            last=row.last,
            turns=row.counted,
            headless=row.headless,
            context_tokens=row.context_tokens,
            state=row.state,
        )
        for row in connection.execute(query)
    ]


def list_projects(connection: Connection) -> list[ProjectRow]:
    """Return projects, the one last worked in first."""
    query = (
        select(
            projects.c.id,
            projects.c.root,
            projects.c.slug,
            func.count(sessions.c.id).label("sessions"),
            func.max(sessions.c.last).label("last"),
        )
        .join(sessions, sessions.c.project_id == projects.c.id, isouter=True)
        .group_by(projects.c.id, projects.c.root, projects.c.slug)
        .order_by(func.coalesce(func.max(sessions.c.last), 0.0).desc(), projects.c.root)
    )
    return [
        ProjectRow(id=row.id, root=row.root, slug=row.slug, sessions=row.sessions, last=row.last)
        for row in connection.execute(query)
    ]


def count_projects(connection: Connection) -> int:
    """Return the number of projects."""
    return int(connection.scalar(select(func.count()).select_from(projects)) or 0)
