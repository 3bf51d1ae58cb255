"""The first start, cursors of transcript files, and sessions. SQL only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    Boolean,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
    update,
)

from memoryd.db.schema import files, meta, sessions, turns

_BASELINE = "baseline"
_VARIABLES = 500
_ROWS = 1000

Value = TypeVar("Value")


class FileKind(StrEnum):
    """What a transcript file turned out to be."""

    UNKNOWN = "unknown"
    """Not read yet, or nothing in it so far says what it is."""
    SESSION = "session"
    """A session: it has a record of a user or of the assistant."""
    SUBAGENT = "subagent"
    """The transcript of a subagent of a session."""
    FOREIGN = "foreign"
    """Read to its end without finding a session; becomes one if its records appear later."""


class TurnState(StrEnum):
    """Where a human turn is."""

    OPEN = "open"
    """More may follow."""
    ENDED = "ended"
    """Complete; waits for extraction."""
    HANDLED = "handled"
    """Extraction has looked at it."""
    BASELINE = "baseline"
    """Written before the first start: searchable, handled without having been looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A row of ``files``; see ``db.schema``. Positions are bytes."""

    id: int
    path: str
    kind: FileKind
    session_id: str | None
    device: int
    inode: int
    size: int
    offset: int
    head_length: int
    head_hash: bytes | None
    baseline_to: int
    state: bytes | None
    records: int
    skipped: int
    oversize: int
    pending_since: float | None
    missing_since: float | None


@dataclass(frozen=True, slots=True)
class Held:
    """What is needed of a file in order to know whether it changed while nobody looked."""

    path: str
    inode: int
    size: int
    offset: int
    baseline_to: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all files."""

    bytes: int = 0
    records: int = 0
    skipped: int = 0
    oversize: int = 0
    foreign: int = 0
    sessions: int = 0
    turns: int = 0


# First start


def baseline(connection: Connection) -> dict[str, Any] | None:
    """Return what the first start recorded: ``at``, ``files``, ``bytes``, ``unreadable``."""
    value = connection.scalar(select(meta.c.value).where(meta.c.key == _BASELINE))
    return None if value is None else dict(value)


def put_baseline(connection: Connection, value: Mapping[str, Any]) -> None:
    """Record the first start; there is only one, but what it could not read shrinks."""
    changed = connection.execute(
        update(meta).where(meta.c.key == _BASELINE).values(value=dict(value))
    )
    if changed.rowcount == 0:
        connection.execute(insert(meta).values(key=_BASELINE, value=dict(value)))


_WAITS = and_(files.c.offset < files.c.baseline_to, files.c.missing_since.is_(None))
"""What of a file was there before the first start is not read yet."""


def has_baseline_backlog(connection: Connection) -> bool:
    """Return whether parts of files from before the first start are not read yet."""
    return connection.scalar(select(files.c.id).where(_WAITS).limit(1)) is not None


def wait_since_baseline(connection: Connection, paths: Collection[str]) -> list[bool]:
    """Return of each path whether the part from before the first start is not read yet."""
    found: list[bool] = []
    for chunk in chunks(list(paths)):
        wait = set(connection.scalars(select(files.c.path).where(_WAITS, files.c.path.in_(chunk))))
        found += [path in wait for path in chunk]
    return found


# Files


def insert_files(connection: Connection, rows: Collection[Mapping[str, Any]]) -> list[int]:
    """Add files, all with the same columns; return their ids in the same order."""
    if not rows:
        return []
    statement = insert(files).returning(files.c.id, sort_by_parameter_order=True)
    return list(connection.scalars(statement, [dict(row) for row in rows]))


def add_files(connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add any number of files, all with the same columns, some at a time."""
    rest = iter(rows)
    while some := [dict(row) for row in islice(rest, _ROWS)]:
        connection.execute(insert(files), some)


def update_file(connection: Connection, file_id: int, values: Mapping[str, Any]) -> None:
    """Change columns of one file."""
    connection.execute(update(files).where(files.c.id == file_id).values(dict(values)))


def update_files(connection: Connection, rows: Collection[Mapping[str, Any]]) -> None:
    """Change the same columns of many files; ``id`` names the row."""
    if not rows:
        return
    columns = [name for name in next(iter(rows)) if name != "id"]
    statement = (
        update(files)
        .where(files.c.id == bindparam("b_id"))
        .values({name: bindparam(f"b_{name}") for name in columns})
    )
    connection.execute(
        statement, [{f"b_{name}": value for name, value in row.items()} for row in rows]
    )


def files_at(connection: Connection, paths: Collection[str]) -> dict[str, File]:
    """Return the files with these paths, by path."""
    found: dict[str, File] = {}
    for chunk in chunks(list(paths)):
        for row in connection.execute(select(files).where(files.c.path.in_(chunk))):
            found[row.path] = _file(row)
    return found


def files_of(connection: Connection, file_ids: Collection[int]) -> dict[int, File]:
    """Return files by row id."""
    found: dict[int, File] = {}
    for chunk in chunks(list(file_ids)):
        for row in connection.execute(select(files).where(files.c.id.in_(chunk))):
            found[row.id] = _file(row)
    return found


def files_with_inodes(
    connection: Connection, device: int, inodes: Collection[int]
) -> dict[int, list[File]]:
    """Return the files last read from these inodes of a device, by inode."""
    found: dict[int, list[File]] = {}
    for chunk in chunks(list(inodes)):
        rows = connection.execute(
            select(files).where(files.c.device == device, files.c.inode.in_(chunk))
        )
        for row in rows:
            found.setdefault(row.inode, []).append(_file(row))
    return found


def held_files(connection: Connection) -> Iterator[Held]:
    """Yield every file that is not missing."""
    rows = connection.execution_options(yield_per=1000).execute(
        select(
            files.c.path, files.c.inode, files.c.size, files.c.offset, files.c.baseline_to
        ).where(files.c.missing_since.is_(None))
    )
    for row in rows:
        yield Held(row.path, row.inode, row.size, row.offset, row.baseline_to)


def read_positions(connection: Connection) -> Iterator[tuple[str, int]]:
    """Yield path and offset of every session file of which something was read."""
    rows = connection.execution_options(yield_per=1000).execute(
        select(files.c.path, files.c.offset).where(
            files.c.offset > 0, files.c.kind == FileKind.SESSION.value
        )
    )
    for row in rows:
        yield row.path, row.offset


def looked_at(connection: Connection, paths: Collection[str]) -> dict[str, int]:
    """Return how far the known ones of some files were read, unterminated last lines included."""
    found: dict[str, int] = {}
    for chunk in chunks(list(paths)):
        rows = connection.execute(
            select(files.c.path, files.c.size, files.c.offset).where(files.c.path.in_(chunk))
        )
        found |= {row.path: max(row.size, row.offset) for row in rows}
    return found


def totals(connection: Connection) -> Totals:
    """Return the sums over all files, and the numbers of sessions and turns."""
    row = connection.execute(
        select(
            func.coalesce(func.sum(files.c.offset), 0).label("bytes"),
            func.coalesce(func.sum(files.c.records), 0).label("records"),
            func.coalesce(func.sum(files.c.skipped), 0).label("skipped"),
            func.coalesce(func.sum(files.c.oversize), 0).label("oversize"),
        )
    ).one()
    foreign = select(func.count()).where(files.c.kind == FileKind.FOREIGN.value)
    return Totals(
        bytes=int(row.bytes),
        records=int(row.records),
        skipped=int(row.skipped),
        oversize=int(row.oversize),
        foreign=_count(connection, foreign),
        sessions=_count(connection, select(func.count()).select_from(sessions)),
        turns=_count(connection, select(func.count()).select_from(turns)),
    )


def move_file(connection: Connection, file: File, path: str, session_id: str | None) -> None:
    """Let a file keep its cursor, session and turns at a new path.

    Args:
        connection: inside a write.
        file: as it was.
        path: where it is now.
        session_id: the id of the session at the new path.
    """
    values: dict[str, Any] = {"path": path, "missing_since": None}
    if file.session_id is not None and session_id != file.session_id:
        taken = connection.scalar(select(exists().where(sessions.c.id == session_id)))
        if not taken and session_id is not None and file.kind is FileKind.SESSION:
            connection.execute(
                update(sessions).where(sessions.c.file_id == file.id).values(id=session_id)
            )
        connection.execute(
            update(turns).where(turns.c.file_id == file.id).values(session_id=session_id)
        )
        values["session_id"] = session_id
    update_file(connection, file.id, values)
    connection.execute(
        update(sessions).where(sessions.c.file_id == file.id).values(state="present")
    )


def set_missing(connection: Connection, paths: Collection[str], *, now: float) -> int:
    """Note that files are gone; their sessions, turns and memories stay. Return how many."""
    count = 0
    for chunk in chunks(list(paths)):
        gone = and_(files.c.path.in_(chunk), files.c.missing_since.is_(None))
        connection.execute(
            update(sessions)
            .where(sessions.c.file_id.in_(select(files.c.id).where(gone)))
            .values(state="gone")
        )
        count += connection.execute(update(files).where(gone).values(missing_since=now)).rowcount
        connection.execute(_TO_ANOTHER_FILE.where(files.c.path.in_(chunk)))
    return count


# Sessions


def put_sessions(connection: Connection, rows: Collection[Mapping[str, Any]]) -> int:
    """Make sessions or change their columns; return how many are new.

    The project of a session stays the one it began in.

    Args:
        connection: inside a write.
        rows: all columns, each ``id`` once; ``turns`` are those to add, or with a true
            ``recount`` all there are.
    """
    known: set[str] = set()
    for chunk in chunks([row["id"] for row in rows]):
        known.update(connection.scalars(select(sessions.c.id).where(sessions.c.id.in_(chunk))))
    changed = [
        {f"b_{name}": value for name, value in row.items()} for row in rows if row["id"] in known
    ]
    if changed:
        connection.execute(_UPDATE_SESSION, changed)
    new = [
        {name: value for name, value in row.items() if name != "recount"}
        for row in rows
        if row["id"] not in known
    ]
    if new:
        connection.execute(insert(sessions), new)
    return len(new)


def session_path(connection: Connection, session_id: str) -> str | None:
    """Return the path of a session's transcript."""
    return connection.scalar(
        select(files.c.path)
        .join(sessions, sessions.c.file_id == files.c.id)
        .where(sessions.c.id == session_id)
    )


# The transcript of a session may lie in two project directories: one of them is enough.
_another = files.alias()
_other_file = (
    select(func.min(_another.c.id))
    .where(
        _another.c.session_id == sessions.c.id,
        _another.c.kind == FileKind.SESSION.value,
        _another.c.missing_since.is_(None),
    )
    .correlate(sessions)
    .scalar_subquery()
)
_TO_ANOTHER_FILE = (
    update(sessions)
    .where(sessions.c.file_id == files.c.id, _other_file.is_not(None))
    .values(file_id=_other_file, state="present")
)
_UPDATE_SESSION = (
    update(sessions)
    .where(sessions.c.id == bindparam("b_id"))
    .values(
        **{
            name: bindparam(f"b_{name}")
            for name in sessions.c.keys()  # noqa: SIM118 - a collection of columns, not a mapping
            if name not in {"id", "project_id", "title", "turns"}
        },
        # A title is not taken away by one that must not be told.
        title=case((bindparam("b_title") == "", sessions.c.title), else_=bindparam("b_title")),
        project_id=func.coalesce(sessions.c.project_id, bindparam("b_project_id")),
        turns=case(
            (bindparam("b_recount", type_=Boolean), bindparam("b_turns", type_=Integer)),
            else_=sessions.c.turns + bindparam("b_turns", type_=Integer),
        ),
    )
)


def _file(row: Row[Any]) -> File:
    columns = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    return File(**{**columns, "kind": FileKind(row.kind)})


def _count(connection: Connection, statement: Select[Any]) -> int:
    return int(connection.execute(statement).scalar_one())


def chunks(values: list[Value]) -> Iterator[list[Value]]:
    """Part values so that a database takes each part as parameters of one statement."""
    for start in range(0, len(values), _VARIABLES):
        yield values[start : start + _VARIABLES]
