"""Which version a database has, and bringing it up to date before the service uses it.

Alembic itself runs in a child process (`memoryd.db.upgrade`), and only when there is work.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, NullPool, inspect, text
from sqlalchemy.exc import DatabaseError

from memoryd.clock import Clock
from memoryd.db.engine import SQLITE, make_engine, parse_url
from memoryd.errors import ConfigError, MemorydError

HEAD = "0001"
"""The version that this code works with; versions are numbers of four digits."""

URL_VARIABLE = "MEMORYD_DATABASE_URL"

_UPGRADE_S = 600.0


def schema_version(url: str) -> str | None:
    """Return the version of the database at ``url``; ``None`` if it is missing or empty.

    Raises:
        ConfigError: the database cannot be opened or read.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == SQLITE and not _sqlite_file(parsed).exists():
        return None
    engine = make_engine(parsed, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
            return version
    except DatabaseError as error:
        raise ConfigError(
            f"The database {parsed.render_as_string()} cannot be read: {error.orig}",
            hint="If the file is damaged, move it away and restore a copy from the state "
            "directory's backups; without one, memoryd starts anew and keeps all memories.",
        ) from error


def ensure_current(url: str, *, backups: Path, clock: Clock) -> bool:
    """Bring the database at ``url`` up to date; return whether there was anything to do.

    An existing SQLite file is first copied to ``backups``.

    Args:
        url: of the database; it reaches the child by its environment, never its arguments.
        backups: directory for the copy; created when needed.
        clock: dates the copy.

    Raises:
        ConfigError: the database is of a newer version, or cannot be opened.
        MemorydError: the upgrade failed; the database is as it was.
    """
    version = schema_version(url)
    if version == HEAD:
        return False
    parsed = parse_url(url)
    copy: Path | None = None
    if version is not None:
        if not version.isdecimal() or int(version) > int(HEAD):
            raise ConfigError(
                f"The database {parsed.render_as_string()} has version {version}; this memoryd "
                f"knows versions up to {HEAD}.",
                hint="Install the newer memoryd again, or point MEMORYD_STATE_DIR "
                "(or MEMORYD_DATABASE_URL) at another database.",
            )
        if parsed.get_backend_name() == SQLITE:
            copy = backup_sqlite(_sqlite_file(parsed), backups, version=version, now=clock.now())
    child = subprocess.run(
        # -P: nothing in the working directory may stand in for a module.
        [sys.executable, "-P", "-m", "memoryd.db.upgrade"],
        env={**os.environ, URL_VARIABLE: url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=_UPGRADE_S,
    )
    if child.returncode != 0:
        lines = child.stderr.decode(errors="replace").strip().splitlines()
        raise MemorydError(
            f"The upgrade of the database {parsed.render_as_string()} failed: "
            f"{lines[-1] if lines else f'exit status {child.returncode}'}",
            hint=f"Nothing was changed; a copy is in {copy}." if copy else "Nothing was changed.",
        )
    return True


def backup_sqlite(path: Path, backups: Path, *, version: str, now: float) -> Path:
    """Copy the SQLite file at ``path``, its write-ahead log included; return the copy's path."""
    backups.mkdir(parents=True, exist_ok=True, mode=0o700)
    copy = backups / f"{path.stem}-{version}-{int(now)}.db"
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        # One self-contained file: a copy in WAL mode would need its log beside it.
        target.execute("PRAGMA journal_mode = DELETE")
    return copy


def _sqlite_file(url: URL) -> Path:
    return Path(url.database or "")
