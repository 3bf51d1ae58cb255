"""Human turns, and the record uuids that were met. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, insert, select, update

from memoryd.db.schema import seen, turns
from memoryd.stores.transcripts import TurnState, chunks


@dataclass(frozen=True, slots=True)
class Turn:
    """What ingestion knows of a turn; see ``db.schema``."""

    id: int
    file_id: int
    project_id: int
    uuid: str
    state: TurnState
    explicit: bool
    start: int
    end: int
    quiet_at: float | None
    end_reason: str | None


def insert_turns(connection: Connection, rows: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Add turns, all with the same columns, in their order.

    Returns:
        The id of the last turn of each file by the file's id. To have the ids of all returned
        costs several times as much as to write them.
    """
    if not rows:
        return {}
    before = connection.scalar(select(func.max(turns.c.id))) or 0
    connection.execute(insert(turns), rows)
    last = select(turns.c.file_id, func.max(turns.c.id)).where(turns.c.id > before)
    found = connection.execute(last.group_by(turns.c.file_id))
    return {row[0]: row[1] for row in found}


def update_turns(connection: Connection, rows: Collection[Mapping[str, Any]]) -> None:
    """Change start, end, state, end reason and quiet of turns; ``id`` names the row."""
    if rows:
        connection.execute(
            _UPDATE_TURN,
            [{f"b_{name}": value for name, value in row.items()} for row in rows],
        )


def end_turn(connection: Connection, turn_id: int, reason: str) -> None:
    """Let an open turn be ended."""
    connection.execute(
        update(turns)
        .where(turns.c.id == turn_id, turns.c.state == TurnState.OPEN.value)
        .values(state=TurnState.ENDED.value, end_reason=reason, quiet_at=None)
    )


def set_quiet(connection: Connection, turn_id: int, quiet_at: float) -> None:
    """Set the instant at which silence ends an open turn."""
    connection.execute(update(turns).where(turns.c.id == turn_id).values(quiet_at=quiet_at))


def turns_of(connection: Connection, turn_ids: Collection[int]) -> dict[int, Turn]:
    """Return turns by row id."""
    found: dict[int, Turn] = {}
    for chunk in chunks(list(turn_ids)):
        for row in connection.execute(_TURN.where(turns.c.id.in_(chunk))):
            found[row.id] = _turn(row)
    return found


def turn_with_uuid(connection: Connection, session_id: str, uuid: str) -> Turn | None:
    """Return the turn of a session whose prompt has this uuid."""
    row = connection.execute(
        _TURN.where(turns.c.session_id == session_id, turns.c.uuid == uuid)
    ).first()
    return None if row is None else _turn(row)


def open_turns(
    connection: Connection, *, due: float | None = None, session_id: str | None = None
) -> list[Turn]:
    """Return the open turns, oldest first.

    Args:
        connection: any.
        due: only those whose silence is over at this instant.
        session_id: only those of this session.
    """
    statement = _TURN.where(turns.c.state == TurnState.OPEN.value).order_by(turns.c.id)
    if due is not None:
        statement = statement.where(turns.c.quiet_at <= due)
    if session_id is not None:
        statement = statement.where(turns.c.session_id == session_id)
    return [_turn(row) for row in connection.execute(statement)]


def open_turn_of(connection: Connection, file_id: int) -> Turn | None:
    """Return the open turn of a file; there is at most one."""
    row = connection.execute(
        _TURN.where(turns.c.file_id == file_id, turns.c.state == TurnState.OPEN.value)
    ).first()
    return None if row is None else _turn(row)


def known_keys(connection: Connection, keys: Collection[int]) -> set[int]:
    """Return which of these digests of uuids were met before."""
    found: set[int] = set()
    for chunk in chunks(list(keys)):
        found.update(connection.scalars(select(seen.c.key).where(seen.c.key.in_(chunk))))
    return found


def add_keys(connection: Connection, keys: Collection[int]) -> None:
    """Remember digests of uuids that were not met before."""
    if keys:
        connection.execute(insert(seen), [{"key": key} for key in keys])


_UPDATE_TURN = (
    update(turns)
    .where(turns.c.id == bindparam("b_id"))
    .values(
        {
            name: bindparam(f"b_{name}")
            for name in ("start", "end", "state", "end_reason", "quiet_at")
        }
    )
)
_TURN: Select[Any] = select(
    turns.c.id,
    turns.c.file_id,
    turns.c.project_id,
    turns.c.uuid,
    turns.c.state,
    turns.c.explicit,
    turns.c.start,
    turns.c.end,
    turns.c.quiet_at,
    turns.c.end_reason,
)


def _turn(row: Row[Any]) -> Turn:
    return Turn(
        row.id,
        row.file_id,
        row.project_id,
        row.uuid,
        TurnState(row.state),
        row.explicit,
        row.start,
        row.end,
        row.quiet_at,
        row.end_reason,
    )
