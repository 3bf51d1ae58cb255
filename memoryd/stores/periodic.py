"""When each periodic job last ran, so that what was due while the machine slept runs once. SQL."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from memoryd.db.schema import meta
from memoryd.queue.jobs import JobKind
from memoryd.stores.transcripts import baseline


def last_run(connection: Connection, kind: JobKind) -> float:
    """Return when ``kind`` last succeeded, seconds since 1970 UTC.

    The first start of the service counts as a run; before it, 0.
    """
    value = connection.scalar(select(meta.c.value).where(meta.c.key == _key(kind)))
    if value is not None:
        return float(value)
    first = baseline(connection)
    return float(first["at"]) if first is not None else 0.0


def put_last_run(connection: Connection, kind: JobKind, at: float) -> None:
    """Remember that ``kind`` succeeded at the instant ``at``."""
    changed = connection.execute(
        update(meta).where(meta.c.key == _key(kind)).values(value=at)
    ).rowcount
    if not changed:
        connection.execute(insert(meta).values(key=_key(kind), value=at))


def _key(kind: JobKind) -> str:
    return f"last:{kind}"
