"""Migrations build exactly the tables of db/schema.py, in a process of their own."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from memoryd.clock import ManualClock
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.migrate import (
    HEAD,
    backup_sqlite,
    ensure_current,
    schema_version,
)
from memoryd.db.schema import metadata
from memoryd.db.upgrade import MIGRATIONS
from memoryd.errors import ConfigError, MemorydError
from sqlalchemy import Inspector, inspect, text


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def described(inspector: Inspector) -> dict[str, Any]:
    """All that reflection gives about the tables, as plain values in a fixed order."""

    def ordered(found: list[Any]) -> list[str]:
        return sorted(json.dumps(one, default=str, sort_keys=True) for one in found)

    return {
        table: {
            "columns": [
                {**column, "type": repr(column["type"])} for column in inspector.get_columns(table)
            ],
            "key": inspector.get_pk_constraint(table),
            "checks": ordered(inspector.get_check_constraints(table)),
            "unique": ordered(inspector.get_unique_constraints(table)),
            "foreign": ordered(inspector.get_foreign_keys(table)),
            "indexes": ordered(inspector.get_indexes(table)),
        }
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def description(url: str) -> dict[str, Any]:
    database = Database.open(url)
    with database.read() as connection:
        found = described(inspect(connection))
        if database.dialect == "sqlite":
            # Reflection does not tell WITHOUT ROWID.
            found["rowless"] = connection.scalars(
                text("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'")
            ).all()
    database.dispose()
    return found


def test_migrations_from_an_empty_database_build_the_schema(
    empty_url: str, tmp_path: Path, clock: ManualClock
) -> None:
    assert schema_version(empty_url) is None
    assert ensure_current(empty_url, backups=tmp_path / "backups", clock=clock)
    assert schema_version(empty_url) == HEAD
    migrated = description(empty_url)
    database = Database.open(empty_url)
    with database.write() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
    database.dispose()
    assert migrated == description(empty_url)
    assert set(metadata.tables) <= set(migrated)


def test_a_current_database_is_left_alone(
    empty_url: str, tmp_path: Path, clock: ManualClock
) -> None:
    ensure_current(empty_url, backups=tmp_path / "backups", clock=clock)
    assert not ensure_current(empty_url, backups=tmp_path / "backups", clock=clock)
    assert not (tmp_path / "backups").exists()


def set_version(url: str, version: str) -> None:
    database = Database.open(url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})
    database.dispose()


def test_a_newer_database_is_refused_and_untouched(
    empty_url: str, tmp_path: Path, clock: ManualClock
) -> None:
    ensure_current(empty_url, backups=tmp_path / "backups", clock=clock)
    set_version(empty_url, "9999")
    with pytest.raises(ConfigError, match="version 9999") as refused:
        ensure_current(empty_url, backups=tmp_path / "backups", clock=clock)
    assert "newer memoryd" in refused.value.hint
    assert schema_version(empty_url) == "9999"


def test_a_failing_upgrade_changes_nothing_and_leaves_a_copy(
    tmp_path: Path, clock: ManualClock
) -> None:
    url = sqlite_url(tmp_path / "memoryd.db")
    ensure_current(url, backups=tmp_path / "backups", clock=clock)
    set_version(url, "0000")
    with pytest.raises(MemorydError, match="upgrade of the database") as failed:
        ensure_current(url, backups=tmp_path / "backups", clock=clock)
    (copy,) = (tmp_path / "backups").iterdir()
    assert str(copy) in failed.value.hint
    assert schema_version(sqlite_url(copy)) == "0000"
    assert schema_version(url) == "0000"


def test_the_copy_holds_what_only_the_log_has_and_is_private(tmp_path: Path) -> None:
    database = Database.open(sqlite_url(tmp_path / "memoryd.db"))
    with database.write() as connection:
        connection.execute(text("CREATE TABLE t (x)"))
        connection.execute(text("INSERT INTO t VALUES (7)"))
    copy = backup_sqlite(tmp_path / "memoryd.db", tmp_path / "b", version="0001", now=12.5)
    database.dispose()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(7,)]
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["memoryd-0001-12.db"]


def test_a_file_that_is_no_database_is_refused_with_advice(
    tmp_path: Path, clock: ManualClock
) -> None:
    (tmp_path / "memoryd.db").write_bytes(b"this is not a database" * 100)
    url = sqlite_url(tmp_path / "memoryd.db")
    with pytest.raises(ConfigError, match="cannot be read") as refused:
        ensure_current(url, backups=tmp_path / "backups", clock=clock)
    assert "move it away" in refused.value.hint


def test_the_known_head_is_alembics() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [HEAD]


@pytest.fixture
def parent_program(tmp_path: Path) -> Path:
    program = tmp_path / "parent.py"
    program.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from memoryd.clock import SystemClock\n"
        "from memoryd.db.engine import Database\n"
        "from memoryd.db.migrate import ensure_current\n"
        "url, backups = sys.argv[1:]\n"
        "assert ensure_current(url, backups=Path(backups), clock=SystemClock())\n"
        "Database.open(url).integrity_check()\n"
        "print([name for name in ('alembic', 'mako', 'sqlalchemy.orm') if name in sys.modules])\n"
    )
    return program


def test_the_parent_never_imports_alembic(parent_program: Path, tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, parent_program, sqlite_url(tmp_path / "x.db"), tmp_path / "backups"],
        env={**os.environ, "MEMORYD_DATABASE_URL": "sqlite:///elsewhere.db"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == "[]"
    assert not Path("elsewhere.db").exists()
