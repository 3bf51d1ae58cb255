"""The jobs that are asked for in more than one place."""

from __future__ import annotations

from memoryd.queue.jobs import JobKind, NewJob, Priority


def extract_job(
    project_id: int, *, explicit: bool, debounce_s: float = 0.0, deadline_s: float = 0.0
) -> NewJob:
    """Return the job that learns from the ended turns of a project.

    Args:
        project_id: row id of the project.
        explicit: a person asked for it in so many words: ahead of everything, and at once.
        debounce_s: how long to wait for more turns.
        deadline_s: how long to wait at most.
    """
    key = f"{JobKind.EXTRACT}:{project_id}"
    return NewJob(
        kind=JobKind.EXTRACT,
        key=key,
        dedupe_key=key,
        payload={"project": project_id},
        priority=Priority.EXPLICIT if explicit else Priority.NORMAL,
        delay_s=0.0 if explicit else debounce_s,
        deadline_s=deadline_s,
    )


def session_memory_job(
    session: str, project_id: int | None, *, debounce_s: float = 0.0, deadline_s: float = 0.0
) -> NewJob:
    """Return the job that brings the summary of a session up to date.

    Args:
        session: id of the session.
        project_id: row id of its project, ``None`` where it is not known.
        debounce_s: how long to wait for more of the session.
        deadline_s: how long to wait at most.
    """
    key = f"{JobKind.SESSION_MEMORY}:{session}"
    return NewJob(
        kind=JobKind.SESSION_MEMORY,
        key=key,
        dedupe_key=key,
        payload={"session": session} | ({} if project_id is None else {"project": project_id}),
        priority=Priority.NORMAL,
        delay_s=debounce_s,
        deadline_s=deadline_s,
    )
