"""The database connection: one writer at a time, readers that never wait for it."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from memoryd.db.filesystem import refuse_network_file_system
from memoryd.errors import ConfigError, DatabaseBusy, DatabaseGone

SQLITE = "sqlite"
POSTGRESQL = "postgresql"

_PAGE_CACHE_KIB = 512
_IDLE_READERS = 2
_READERS_AT_MOST = 64
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def sqlite_url(path: Path) -> str:
    """Return the URL of the SQLite file at ``path``, whatever characters the path holds."""
    return URL.create(SQLITE, database=str(path)).render_as_string(hide_password=False)


def parse_url(url: str) -> URL:
    """Return ``url`` as the URL of a database that memoryd can use.

    Raises:
        ConfigError: it is no URL, an in-memory SQLite, or a database of another make.
    """
    hint = "Use sqlite:////absolute/path or postgresql://user@host/database."
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        # The text is not repeated: it may hold a password.
        raise ConfigError("The database URL cannot be read.", hint=hint) from error
    match parsed.get_backend_name():
        case "sqlite":
            if not parsed.database or parsed.database == ":memory:":
                raise ConfigError("The SQLite database must be a file.", hint=hint)
            return parsed.set(drivername=SQLITE)
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigError(f"memoryd cannot use a database of type {other!r}.", hint=hint)


def make_engine(url: URL, **options: Any) -> Engine:
    """Create a synchronous engine whose errors do not repeat the values of a statement.

    Raises:
        ConfigError: the driver for PostgreSQL is not installed.
    """
    try:
        return create_engine(url, hide_parameters=True, **options)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise ConfigError(
            "PostgreSQL needs a driver that is not installed.",
            hint="pip install 'memoryd[postgres]'",
        ) from error


class Database:
    """One SQLite file or one PostgreSQL database, with its pools of connections.

    All writes of the process go through one lock: more writers bring no throughput to SQLite,
    only long waits. A reader sees one snapshot, which no writer changes or holds up.

    Attributes:
        url: without password, for messages.
        dialect: ``"sqlite"`` or ``"postgresql"``.
        path: the SQLite file, else ``None``.
        waits: how often a write found the database locked by another program.
    """

    def __init__(
        self,
        url: URL,
        *,
        on_wait: Callable[[float], None] | None,
        busy_s: float,
        give_up_s: float,
    ) -> None:
        self.url = url.render_as_string(hide_password=True)
        self.dialect = url.get_backend_name()
        self.path = Path(url.database or "") if self.dialect == SQLITE else None
        self.waits = 0
        self._on_wait = on_wait
        self._busy_s = busy_s
        self._tries = max(1, round(give_up_s / busy_s))
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._after_commit: list[Callable[[], None]] = []
        if self.path is None:
            self._writer = make_engine(url, pool_size=1, max_overflow=0, pool_pre_ping=True)
            self._readers = make_engine(
                url,
                pool_size=_IDLE_READERS,
                max_overflow=_READERS_AT_MOST - _IDLE_READERS,
                pool_pre_ping=True,
                isolation_level="REPEATABLE READ",
                execution_options={"postgresql_readonly": True},
            )
        else:
            self._identity = _create_private(self.path)
            self._writer = make_engine(url, pool_size=1, max_overflow=0)
            self._readers = make_engine(
                url, pool_size=_IDLE_READERS, max_overflow=_READERS_AT_MOST - _IDLE_READERS
            )
            event.listen(self._writer, "connect", self._prepare_writer)
            event.listen(self._readers, "connect", self._prepare_reader)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        on_wait: Callable[[float], None] | None = None,
        busy_s: float = 5.0,
        give_up_s: float = 60.0,
    ) -> Database:
        """Open the database at ``url``; a missing SQLite file is created, readable by its owner.

        Args:
            url: ``sqlite:////path`` or ``postgresql://…``; see `parse_url`.
            on_wait: called with the seconds waited so far whenever another program holds the
                lock for ``busy_s``.
            busy_s: how long one attempt to write waits.
            give_up_s: how long a write waits in all before it raises `DatabaseBusy`.

        Raises:
            ConfigError: the URL, the driver or the file system cannot be used.
        """
        return cls(parse_url(url), on_wait=on_wait, busy_s=busy_s, give_up_s=give_up_s)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Look at one snapshot of the database; writing is refused by the database itself.

        Raises:
            DatabaseGone: the SQLite file is not the one that was opened.
        """
        self._check_identity()
        with self._readers.connect() as connection:
            if self.dialect == SQLITE:
                _dbapi(connection).execute("BEGIN")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Change the database: committed at the end, rolled back if an exception leaves.

        Raises:
            DatabaseBusy: another program held the lock for ``give_up_s``; nothing was done.
            DatabaseGone: the SQLite file is not the one that was opened; nothing was done.
            RuntimeError: this thread is inside a write already.
        """
        if self._owner == threading.get_ident():
            raise RuntimeError("a write inside a write would wait for itself")
        self._check_identity()
        with self._lock:
            self._owner = threading.get_ident()
            self._after_commit = []
            try:
                with self._writer.connect() as connection:
                    if self.dialect == SQLITE:
                        self._begin_immediate(_dbapi(connection))
                    with connection.begin():
                        yield connection
                committed = self._after_commit
            finally:
                self._owner = None
        for callback in committed:
            callback()

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once the write that this thread is in was committed.

        It is called outside the lock, and never if the write is rolled back.
        """
        if self._owner != threading.get_ident():
            raise RuntimeError("there is no write in this thread")
        self._after_commit.append(callback)

    def integrity_check(self) -> list[str]:
        """Return what is wrong with the SQLite file, one sentence each; empty when sound.

        PostgreSQL looks after its own files: the list is always empty.
        """
        if self.path is None:
            return []
        try:
            with self.read() as connection:
                verdicts = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        except DBAPIError as error:
            return [str(error.orig)]
        return [str(verdict) for verdict in verdicts if verdict != "ok"] + [
            f"row {orphan[1]} of {orphan[0]} refers to a row of {orphan[2]} that does not exist"
            for orphan in orphans
        ]

    def checkpoint(self) -> None:
        """Fold SQLite's write-ahead log into the file and empty it; readers may delay a part."""
        if self.path is None:
            return
        with self._lock, self._writer.connect() as connection:
            raw = _dbapi(connection)
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            raw.execute("PRAGMA optimize").fetchall()

    def dispose(self) -> None:
        """Close all connections that are not in use; the object can be used again."""
        with self._lock:
            self._readers.dispose()
            self._writer.dispose()

    def _check_identity(self) -> None:
        """Refuse to go on with a file that has no name any more: what it takes would be lost."""
        if self.path is None:
            return
        try:
            found = self.path.stat()
        except FileNotFoundError:
            said = "was removed"
        else:
            if (found.st_dev, found.st_ino) == self._identity:
                return
            said = "was replaced"
        raise DatabaseGone(
            f"The database {self.path} {said} while memoryd was running.",
            hint="Put it where it should be, then: memoryd restart",
        )

    def _begin_immediate(self, raw: sqlite3.Connection) -> None:
        for attempt in range(1, self._tries + 1):
            try:
                raw.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _BUSY:
                    raise
                self.waits += 1
                if self._on_wait is not None:
                    self._on_wait(attempt * self._busy_s)
            else:
                return
        raise DatabaseBusy(
            f"Another program has held the database {self.path} locked for "
            f"{self._tries * self._busy_s:.0f} seconds.",
            hint="Close the program that has the file open; the work is tried again.",
        )

    def _prepare_writer(self, raw: sqlite3.Connection, _record: object) -> None:
        self._prepare(raw)
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA foreign_keys = ON")

    def _prepare_reader(self, raw: sqlite3.Connection, _record: object) -> None:
        self._prepare(raw)
        raw.execute("PRAGMA query_only = ON")

    def _prepare(self, raw: sqlite3.Connection) -> None:
        # Transactions begin where this module says so, not where the driver guesses.
        raw.isolation_level = None
        raw.execute(f"PRAGMA busy_timeout = {round(self._busy_s * 1000)}")
        raw.execute("PRAGMA temp_store = MEMORY")
        raw.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")


def _dbapi(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _create_private(path: Path) -> tuple[int, int]:
    """Make sure that the file exists and is its owner's alone before SQLite opens it.

    SQLite gives the same mode to the files that it puts beside it. Returns device and inode.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    refuse_network_file_system(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return found.st_dev, found.st_ino
