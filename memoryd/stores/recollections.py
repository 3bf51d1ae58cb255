"""What sessions have in front of them of memory, and whether they ignore it. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Column, Connection, delete, exists, insert, select, update

from memoryd.db.schema import recall_ledger, recall_sessions, sessions
from memoryd.recall.recollection import Held, How, Recollection
from memoryd.stores.transcripts import chunks


def recollection(connection: Connection, session: str) -> Recollection | None:
    """Return what is known of a session, ``None`` when nothing is."""
    row = connection.execute(
        select(recall_sessions).where(recall_sessions.c.session_id == session)
    ).one_or_none()
    if row is None:
        return None
    held = connection.execute(select(recall_ledger).where(recall_ledger.c.session_id == session))
    return Recollection(
        held={item.path: Held(How(item.how), item.bytes, item.at) for item in held},
        ignoring=row.ignoring,
        withheld=row.withheld,
        said_at=row.said_at,
        compacted_at=row.compacted_at,
        read_to=row.read_to,
    )


def put_recollection(
    connection: Connection,
    session: str,
    known: Recollection,
    *,
    changed: Mapping[str, Held],
    now: float,
) -> None:
    """Write a session: its own facts, and the memories that are new or changed.

    Args:
        connection: inside a write.
        session: its id.
        known: its facts; ``held`` is not looked at.
        changed: the memories to write.
        now: seconds since 1970 UTC.
    """
    facts = {
        "ignoring": known.ignoring,
        "withheld": known.withheld,
        "said_at": known.said_at,
        "compacted_at": known.compacted_at,
        "read_to": known.read_to,
        "used_at": now,
    }
    mine = recall_sessions.c.session_id == session
    if not connection.execute(update(recall_sessions).where(mine).values(facts)).rowcount:
        connection.execute(insert(recall_sessions).values(session_id=session, **facts))
    rows = recall_ledger.c.session_id == session
    if known.compacted_at:
        connection.execute(
            delete(recall_ledger).where(rows, recall_ledger.c.at <= known.compacted_at)
        )
    for chunk in chunks(list(changed)):
        connection.execute(delete(recall_ledger).where(rows, recall_ledger.c.path.in_(chunk)))
    if changed:
        connection.execute(
            insert(recall_ledger),
            [
                {
                    "session_id": session,
                    "path": path,
                    "how": held.how.value,
                    "bytes": held.bytes,
                    "at": held.at,
                }
                for path, held in changed.items()
            ],
        )


def ignoring_among(connection: Connection, names: Collection[str]) -> set[str]:
    """Return those of some sessions that are to ignore memory."""
    return _among(connection, names, recall_sessions.c.ignoring)


def withheld_among(connection: Connection, names: Collection[str]) -> set[str]:
    """Return those of some sessions from which nothing is to be learned."""
    return _among(connection, names, recall_sessions.c.withheld)


def _among(connection: Connection, names: Collection[str], flag: Column[bool]) -> set[str]:
    found: set[str] = set()
    for chunk in chunks(list(names)):
        found.update(
            connection.scalars(
                select(recall_sessions.c.session_id).where(
                    recall_sessions.c.session_id.in_(chunk), flag
                )
            )
        )
    return found


def forget_unused(connection: Connection, *, before: float) -> int:
    """Drop sessions not used since an instant, unless their transcript is still there.

    Returns:
        how many sessions.
    """
    present = exists().where(
        sessions.c.id == recall_sessions.c.session_id, sessions.c.state == "present"
    )
    unused: Sequence[str] = connection.scalars(
        select(recall_sessions.c.session_id).where(recall_sessions.c.used_at < before, ~present)
    ).all()
    for chunk in chunks(list(unused)):
        connection.execute(delete(recall_ledger).where(recall_ledger.c.session_id.in_(chunk)))
        connection.execute(delete(recall_sessions).where(recall_sessions.c.session_id.in_(chunk)))
    return len(unused)
