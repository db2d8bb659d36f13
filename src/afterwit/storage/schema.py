"""The schema's version: made at once in a new database, brought up to date in an old one."""

from pathlib import Path

from sqlalchemy import Connection

from afterwit.errors import StorageError
from afterwit.storage.tables import metadata

#: Version of the schema that this code reads and writes; versions sort as text.
HEAD = "0004"
_VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def create(connection: Connection, more: tuple[str, ...]) -> None:
    """Make the tables of the newest version, without loading Alembic.

    Args:
        connection: inside a write transaction on an empty database.
        more: SQL that only this engine needs.
    """
    metadata.create_all(connection)
    for statement in more:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(_VERSION_TABLE)
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{HEAD}')")  # noqa: S608  a constant


def upgrade(connection: Connection, version: str = "head") -> None:
    """Run the migrations that are missing.

    Args:
        connection: inside a write transaction.
        version: the last one to run.
    """
    from alembic import command  # noqa: PLC0415  slow to import, seldom needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def check_version(version: str) -> bool:
    """Whether the schema is the newest.

    Raises:
        StorageError: it is newer than this code.
    """
    if version > HEAD:
        raise StorageError(
            f"The database was written by a newer Afterwit (schema {version}, this one knows {HEAD}).",
            next_step="Upgrade Afterwit; nothing was changed.",
        )
    return version == HEAD
