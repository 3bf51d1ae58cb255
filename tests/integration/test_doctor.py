"""The doctor's look into a database of either make, and at limits it cannot break itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from memoryd.db.engine import Database
from memoryd.db.migrate import HEAD
from memoryd.db.schema import jobs
from memoryd.doctor import databases, machine
from memoryd.doctor.finding import Level
from memoryd.paths import Paths
from sqlalchemy import insert, text

NOW = 1_800_000_000.0


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.from_environment({"HOME": str(tmp_path)})


def put(database: Database, **columns: object) -> None:
    row = {
        "kind": "extract",
        "key": "extract:1",
        "payload": {},
        "priority": 10,
        "run_at": NOW,
        "max_attempts": 5,
        "created_at": NOW,
    }
    with database.write() as connection:
        connection.execute(insert(jobs).values({**row, **columns}))


def versioned(database: Database, version: str) -> None:
    with database.write() as connection:
        connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text(f"INSERT INTO alembic_version VALUES ('{version}')"))


def found(paths: Paths, url: str, level: Level) -> list[tuple[str, str]]:
    return [
        (one.subject, one.mend) for one in databases.database(paths, url, NOW) if one.level is level
    ]


def test_jobs_of_either_make_of_database(
    paths: Paths, database: Database, database_url: str
) -> None:
    versioned(database, HEAD)
    assert found(paths, database_url, Level.BROKEN) == []
    assert found(paths, database_url, Level.NOTE) == []
    put(database, state="dead", error="it failed", finished_at=NOW)
    put(database, state="queued", snoozed=True, error="the disk is full", key="extract:2")
    put(database, state="queued", created_at=NOW + 9999, key="extract:3")
    assert found(paths, database_url, Level.BROKEN) == [("jobs", "memoryctl jobs retry 1")]
    assert found(paths, database_url, Level.NOTE) == [
        ("jobs", "memoryctl jobs why 2"),
        ("clock", "see that the time is right: date"),
    ]


def test_versions(paths: Paths, database: Database, database_url: str) -> None:
    versioned(database, "0000")
    assert found(paths, database_url, Level.NOTE) == [("version", "memoryd restart")]
    versioned(database, "9999")
    ((subject, mend),) = found(paths, database_url, Level.BROKEN)
    assert (subject, "newer" in mend) == ("version", True)


def test_a_server_that_does_not_answer_shows_no_password(paths: Paths) -> None:
    url = "postgresql://me:planted@127.0.0.1:1/none"
    (finding,) = databases.database(paths, url, NOW)
    assert finding.level is Level.BROKEN
    assert "planted" not in finding.text


def test_inotify_limits_are_compared_with_the_directories(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "max_user_watches").write_text("3\n")
    (tmp_path / "max_user_instances").write_text("128\n")
    monkeypatch.setattr(machine, "_INOTIFY", tmp_path)
    for name in ("a", "b"):
        (paths.projects / name).mkdir(parents=True)
    levels = {one.subject: one.level for one in machine.limits(paths)}
    assert levels["file events"] is Level.FINE
    (paths.projects / "c").mkdir()
    (finding,) = (one for one in machine.limits(paths) if one.subject == "file events")
    assert finding.level is Level.NOTE
    assert finding.mend.startswith("sudo sysctl fs.inotify.max_user_watches=")


def test_directories_that_are_not_the_persons_alone(paths: Paths, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    paths.state.parent.mkdir(parents=True)
    paths.state.symlink_to(elsewhere)
    (finding, *_) = machine.directories(paths)
    assert (finding.subject, finding.level) == ("state", Level.BROKEN)
    assert "symbolic link" in finding.text
