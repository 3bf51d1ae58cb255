"""The pauses there were, and how far files were read when one began or ended. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, insert, select, update

from memoryd.admission import Pause
from memoryd.db.schema import files, meta
from memoryd.stores.transcripts import chunks

_KEY = "pauses"


def pauses(connection: Connection) -> list[Pause]:
    """Return all pauses, oldest first."""
    value = connection.scalar(select(meta.c.value).where(meta.c.key == _KEY))
    return [Pause(**item) for item in value or []]


def put_pauses(connection: Connection, found: Sequence[Pause]) -> None:
    """Remember these pauses and no others."""
    value = [
        {
            "root": pause.root,
            "since": pause.since,
            "until": pause.until,
            "before": dict(pause.before),
            "through": dict(pause.through),
        }
        for pause in found
    ]
    changed = connection.execute(update(meta).where(meta.c.key == _KEY).values(value=value))
    if not changed.rowcount:
        connection.execute(insert(meta).values(key=_KEY, value=value))


def offsets(connection: Connection, paths: Collection[str]) -> dict[str, int]:
    """Return up to where each of these files was read; what is not known is left out."""
    found: dict[str, int] = {}
    for chunk in chunks(list(paths)):
        rows = connection.execute(
            select(files.c.path, files.c.offset).where(files.c.path.in_(chunk))
        )
        found.update({row.path: row.offset for row in rows})
    return found
