"""One writer, readers with a snapshot, and a file that is private."""

import os
import sqlite3
import stat
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from memoryd.db.engine import Database, parse_url, sqlite_url
from memoryd.db.schema import meta, project_paths
from memoryd.errors import ConfigError, DatabaseBusy
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError


def put(connection: Connection, key: str) -> None:
    connection.execute(meta.insert().values(key=key, value=1))


def keys(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.scalars(select(meta.c.key)))


def put_and_fail(database: Database, key: str) -> None:
    with database.write() as connection:
        put(connection, key)
        database.after_commit(lambda: pytest.fail("nothing was committed"))
        raise ZeroDivisionError


def test_a_write_is_committed_at_its_end_or_not_at_all(database: Database) -> None:
    with database.write() as connection:
        put(connection, "kept")
    with pytest.raises(ZeroDivisionError):
        put_and_fail(database, "lost")
    assert keys(database) == {"kept"}


def test_a_reader_keeps_its_snapshot_and_never_waits(database: Database) -> None:
    with database.read() as reader:
        assert reader.scalars(select(meta.c.key)).all() == []
        with database.write() as connection:
            put(connection, "new")
            assert keys(database) == set()
        assert reader.scalars(select(meta.c.key)).all() == []
    assert keys(database) == {"new"}


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DBAPIError), database.read() as connection:
        put(connection, "x")
    assert keys(database) == set()


def test_foreign_keys_hold(database: Database) -> None:
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(project_paths.insert().values(path="/x", project_id=9, seen_at=0.0))


def test_errors_do_not_repeat_the_values_of_a_statement(database: Database) -> None:
    twice = [{"key": "k", "value": "what the person said"}] * 2
    with pytest.raises(IntegrityError) as failed, database.write() as connection:
        connection.execute(meta.insert(), twice)
    assert "what the person said" not in str(failed.value)


def test_a_write_inside_a_write_is_refused_rather_than_waited_for(database: Database) -> None:
    with database.write() as connection:
        put(connection, "outer")
        with pytest.raises(RuntimeError, match="wait for itself"), database.write():
            pass
    assert keys(database) == {"outer"}


def test_callbacks_come_after_the_commit_and_not_after_a_rollback(database: Database) -> None:
    seen: list[set[str]] = []
    with database.write() as connection:
        put(connection, "a")
        database.after_commit(lambda: seen.append(keys(database)))
    with pytest.raises(ZeroDivisionError):
        put_and_fail(database, "b")
    with database.write():
        pass
    assert seen == [{"a"}]
    with pytest.raises(RuntimeError):
        database.after_commit(lambda: None)


def test_threads_take_turns(database: Database) -> None:
    def write(name: str) -> None:
        for number in range(20):
            with database.write() as connection:
                put(connection, f"{name}{number}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys(database)) == 80


def test_a_sound_database_has_nothing_to_report(database: Database) -> None:
    database.checkpoint()
    assert database.integrity_check() == []


def test_the_file_and_its_companions_are_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "a b%20?#é.db"
    before = os.umask(0)
    try:
        database = Database.open(sqlite_url(path))
        with database.write() as connection:
            connection.execute(text("CREATE TABLE t (x)"))
    finally:
        os.umask(before)
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    database.dispose()
    assert modes == dict.fromkeys([path.name, f"{path.name}-wal", f"{path.name}-shm"], 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch(mode=0o644)
    Database.open(sqlite_url(path)).dispose()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_sqlite_is_set_up_to_survive_a_power_cut(sqlite_database: Database) -> None:
    with sqlite_database.write() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "temp_store")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "temp_store": 2}


def test_a_checkpoint_empties_the_log(sqlite_database: Database) -> None:
    assert sqlite_database.path is not None
    log = sqlite_database.path.with_name(sqlite_database.path.name + "-wal")
    with sqlite_database.write() as connection:
        put(connection, "x")
    assert log.stat().st_size > 0
    sqlite_database.checkpoint()
    assert log.stat().st_size == 0


def test_damage_is_reported_in_sentences(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        raw.execute("CREATE TABLE child (parent_id REFERENCES parent(id))")
        raw.execute("INSERT INTO child VALUES (7)")
        raw.commit()
    database = Database.open(sqlite_url(path))
    assert database.integrity_check() == [
        "row 1 of child refers to a row of parent that does not exist"
    ]
    database.dispose()
    path.write_bytes(b"no database at all" * 100)
    database = Database.open(sqlite_url(path))
    assert database.integrity_check() == ["file is not a database"]
    database.dispose()


def test_a_database_locked_by_another_program_is_waited_for(
    sqlite_database: Database,
) -> None:
    assert sqlite_database.path is not None
    other = sqlite3.connect(sqlite_database.path, isolation_level=None, check_same_thread=False)
    waits: list[float] = []

    def on_wait(waited_s: float) -> None:
        waits.append(waited_s)
        if len(waits) == 3:
            other.execute("COMMIT")

    patient = Database.open(sqlite_database.url, on_wait=on_wait, busy_s=0.01, give_up_s=60)
    other.execute("BEGIN IMMEDIATE")
    with patient.write() as connection:
        put(connection, "not dropped")
    assert waits == pytest.approx([0.01, 0.02, 0.03])
    assert patient.waits == 3
    assert keys(patient) == {"not dropped"}
    patient.dispose()
    other.close()


def test_after_the_bound_the_write_gives_up_and_can_be_tried_again(
    sqlite_database: Database,
) -> None:
    assert sqlite_database.path is not None
    impatient = Database.open(sqlite_database.url, busy_s=0.01, give_up_s=0.03)
    with closing(sqlite3.connect(sqlite_database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusy), impatient.write():
            pytest.fail("the write began")
        other.execute("ROLLBACK")
    with impatient.write() as connection:
        put(connection, "second try")
    assert keys(impatient) == {"second try"}
    impatient.dispose()


@pytest.mark.parametrize(
    "url", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://u:geheim@h/d"]
)
def test_what_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Database.open(url)
    assert "sqlite:////" in refused.value.hint
    assert "geheim" not in f"{refused.value} {refused.value.hint}"


def test_the_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError) as refused:
        Database.open("postgresql://u@h/d")
    assert refused.value.hint == "pip install 'memoryd[postgres]'"


def test_the_url_for_messages_has_no_password() -> None:
    assert parse_url("postgres" + "ql://u:geheim@h/d").render_as_string().count("geheim") == 0
