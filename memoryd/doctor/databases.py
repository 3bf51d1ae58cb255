"""The database, the jobs in it, and the text index; read only."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import NullPool
from sqlalchemy.exc import SQLAlchemyError

from memoryd.db.engine import SQLITE, make_engine, parse_url, sqlite_url
from memoryd.db.migrate import HEAD
from memoryd.doctor.finding import Finding, broken, fine, note
from memoryd.errors import ConfigError
from memoryd.paths import Paths
from memoryd.redaction import clean

Query = Callable[[str], list[tuple[Any, ...]]]

_SHOWN = 3
_FUTURE_S = 300.0
_BUSY_S = 5.0


def database(paths: Paths, url: str, now: float) -> Iterator[Finding]:
    """Look at the database and what waits in it.

    Args:
        paths: of the instance.
        url: the setting; empty for SQLite in the state directory.
        now: seconds since 1970 UTC.
    """
    try:
        parsed = parse_url(url or sqlite_url(paths.database))
    except ConfigError as error:
        yield broken("database", str(error), error.hint)
        return
    if parsed.get_backend_name() == SQLITE:
        path = Path(parsed.database or "")
        if not path.exists():
            yield note("database", f"{path} is not there yet; memoryd start makes it")
            return
        try:
            with closing(_read_only(path)) as connection:
                yield from _sqlite(path, connection)
                yield from _contents(lambda sql: connection.execute(sql).fetchall(), now)
        except sqlite3.Error as error:
            yield _damaged(path, str(error))
        return
    engine = make_engine(parsed, poolclass=NullPool)
    try:
        with engine.connect() as session:
            yield from _contents(
                lambda sql: [tuple(row) for row in session.exec_driver_sql(sql)], now
            )
    except SQLAlchemyError as error:
        text = f"{parsed.render_as_string(hide_password=True)}: {type(error).__name__}"
        yield broken("database", text, "see that the server runs: memoryctl config database_url")


def text_index(paths: Paths) -> Iterator[Finding]:
    """Look at the text index."""
    path = paths.text_index
    if not path.exists():
        yield note("text index", f"{path} is not there yet; it is made from the transcripts")
        return
    try:
        with closing(_read_only(path)) as connection:
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        said = str(error)
    if said == "ok":
        yield fine("text index", str(path))
    else:
        mend = f"memoryd stop && rm {shlex.quote(str(path))}* && memoryd start"
        yield broken("text index", f"{path} is damaged ({said}); it is rebuilt when removed", mend)


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_BUSY_S)


def _sqlite(path: Path, connection: sqlite3.Connection) -> Iterator[Finding]:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    yield fine("database", str(path)) if said == "ok" else _damaged(path, said)


def _damaged(path: Path, said: str) -> Finding:
    return broken(
        "database",
        f"{path} cannot be used: {said}",
        f"memoryd stop, then put back the newest of {path.parent / 'backups'}, or move it away",
    )


def _contents(query: Query, now: float) -> Iterator[Finding]:
    version = query("SELECT version_num FROM alembic_version")[0][0]
    if version == HEAD:
        yield fine("version", f"the database has version {version}")
    elif version < HEAD:
        text = f"the database has version {version}, the program {HEAD}"
        yield note("version", text, "memoryd restart")
    else:
        text = f"the database has version {version}, newer than the program ({HEAD})"
        yield broken("version", text, "install the newer memoryd again")
    yield from _jobs(query)
    (latest,) = query("SELECT max(created_at) FROM jobs")[0]
    if latest is not None and latest > now + _FUTURE_S:
        text = "the database knows a job from the future: the clock was set back"
        yield note("clock", text, "see that the time is right: date")
    else:
        yield fine("clock", "nothing is from the future")
    (external,) = query(
        "SELECT count(*) FROM journal WHERE actor = 'external' AND state = 'done'"
        " AND reason <> 'found on disk'"
    )[0]
    if external:
        text = f"{external} changes of memories by you or the client, kept as they are"
        yield note("changes", text, "memoryctl log --all-projects")
    (unsettled,) = query("SELECT count(*) FROM journal WHERE state = 'intent'")[0]
    if unsettled:
        text = f"{unsettled} memory writes were begun and not finished"
        yield note("journal", text, "memoryd restart")


def _jobs(query: Query) -> Iterator[Finding]:
    dead = query("SELECT id, kind, error FROM jobs WHERE state = 'dead' ORDER BY id DESC")
    for number, kind, error in dead[:_SHOWN]:
        text = f"job {number} ({kind}) failed for good: {clean(error or 'no reason')}"
        yield broken("jobs", text, f"memoryctl jobs retry {number}")
    if len(dead) > _SHOWN:
        text = f"{len(dead) - _SHOWN} more failed for good"
        yield broken("jobs", text, "memoryctl jobs list --state dead")
    reasons = query(
        "SELECT error, count(*), min(id) FROM jobs WHERE state = 'queued' AND snoozed"
        " GROUP BY error ORDER BY 3"
    )
    for error, count, number in reasons[:_SHOWN]:
        text = f"{count} put off: {clean(error or 'no reason')}"
        yield note("jobs", text, f"memoryctl jobs why {number}")
    if not dead and not reasons:
        yield fine("jobs", "none failed for good, none is put off")
