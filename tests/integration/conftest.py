"""Databases to test against: an empty one, and one with all tables, of both makes."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from memoryd.db.engine import Database, make_engine, parse_url, sqlite_url
from memoryd.db.schema import metadata
from sqlalchemy import make_url, text

from support.postgres import throwaway_server


def create_tables(url: str) -> None:
    database = Database.open(url)
    with database.write() as connection:
        metadata.create_all(connection)
    database.dispose()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL database in which tests may make schemas."""
    given = os.environ.get("MEMORYD_TEST_POSTGRES")
    if given:
        yield given
        return
    with throwaway_server() as url:
        if url is None:
            pytest.skip("no PostgreSQL server on this machine and no MEMORYD_TEST_POSTGRES")
        yield url


@pytest.fixture
def postgres_url(postgres_server: str, worker_id: str) -> Iterator[str]:
    """The URL of an empty schema that is this test's alone."""
    schema = f"memoryd_{worker_id}"
    engine = make_engine(parse_url(postgres_server))
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    url = make_url(postgres_server).update_query_dict({"options": f"-csearch_path={schema}"})
    yield url.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each make."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "memoryd.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def database_url(empty_url: str) -> str:
    """The URL of a database with all tables and no rows, once of each make."""
    create_tables(empty_url)
    return empty_url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A database with all tables and no rows, once of each make."""
    database = Database.open(database_url)
    yield database
    database.dispose()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """A SQLite database with all tables and no rows."""
    url = sqlite_url(tmp_path / "memoryd.db")
    create_tables(url)
    database = Database.open(url)
    yield database
    database.dispose()
