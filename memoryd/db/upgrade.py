"""``python -m memoryd.db.upgrade``: bring the database in ``MEMORYD_DATABASE_URL`` up to date.

A process of its own, so that the service does not carry Alembic for the rest of its life. All
migrations run in one transaction: the database is either of the new version or untouched.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config

from memoryd.db.engine import POSTGRESQL, Database
from memoryd.db.migrate import HEAD, URL_VARIABLE
from memoryd.errors import MemorydError

MIGRATIONS = Path(__file__).parent / "migrations"

_ADVISORY_LOCK = 0x6D656D6F  # "memo": one upgrade at a time on a shared server


def upgrade(url: str) -> None:
    """Run every migration that the database at ``url`` has not seen."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    database = Database.open(url)
    try:
        with database.write() as connection:
            if database.dialect == POSTGRESQL:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            config.attributes["connection"] = connection
            command.upgrade(config, HEAD)
    finally:
        database.dispose()


if __name__ == "__main__":
    try:
        upgrade(os.environ[URL_VARIABLE])
    except MemorydError as error:
        sys.exit(f"{error} {error.hint}".strip())
