"""Alembic's entry: run the migrations inside the transaction that `memoryd.db.upgrade` opened."""

from alembic import context
from memoryd.db.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
