"""Alembic's entry point: runs over the connection that the store hands in."""

from alembic import context

from afterwit.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
