"""Which version a database has, and how it becomes the newest one: migrations, after a backup beside a file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from riffler.data.atomic import atomic_write
from riffler.errors import InputError, ReviewFileError
from riffler.review.database import APPLICATION, connect, in_words
from riffler.review.drafts import remove_beside
from riffler.review.schema import NEWEST

MIGRATIONS = Path(__file__).parent / "migrations"


def make_tables(engine: Engine) -> None:
    """Make the tables of an empty database."""
    _migrate(engine, None)


def bring_up_to_date(engine: Engine, path: Path) -> None:
    """Refuse what is no review or a newer one; upgrade an older one."""
    if _known_version(engine, str(path)) == NEWEST:
        return
    migrating = connect(path)
    event.listen(migrating, "connect", _without_foreign_keys)
    try:
        _migrate(migrating, path)
    finally:
        migrating.dispose()


def prepare_server(engine: Engine, name: str) -> None:
    """Make the tables of an empty PostgreSQL database, upgrade older ones, and refuse newer ones.

    Several servers may start at once: the first does it, the others wait.
    """
    with in_words(), engine.begin() as connection:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({APPLICATION})"))
        if inspect(connection).has_table("alembic_version"):
            if _known(_recorded_version(connection), name) == NEWEST:
                return
        elif inspect(connection).get_table_names():
            raise InputError(f"{name}: the database has tables of another program. Name an empty one.")
        _run_migrations(connection, "head")


def foreign_parts(engine: Engine, path: Path) -> list[str]:
    """Name what a file from anybody has otherwise than the tables of its version: what is more, less or changed.

    A trigger of its own could change answers while they are written, a view show others than were given.
    """
    ours = create_engine("sqlite://")
    try:
        _migrate(ours, None, _known_version(engine, str(path)))
        return sorted({name for _, name, _ in _parts(engine) ^ _parts(ours)})
    finally:
        ours.dispose()


def copy_file(source: Path, target: Path) -> None:
    """Copy a live SQLite file, as it is at one moment, through SQLite's backup; the copy is whole or not there."""
    with in_words(), atomic_write(target) as draft, closing(sqlite3.connect(draft)) as copy:
        with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as live:
            live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # the copy is one file, with nothing beside it
        remove_beside(target)  # of a file that was there: SQLite would take it for a part of the copy


def _parts(engine: Engine) -> set[tuple[str, str, str]]:
    """Return kind, name and statement of tables, indexes, triggers and views."""
    with in_words(), engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
        return {(kind, name, " ".join(statement.split())) for kind, name, statement in rows}


def _known_version(engine: Engine, name: str) -> str:
    """Return the version of the tables of a file; a newer one is refused."""
    return _known(_version(engine, name), name)


def _known(version: str, name: str) -> str:
    if version.isdecimal() and int(version) <= int(NEWEST):
        return version
    raise ReviewFileError(
        f"{name}: written by a newer Riffler (tables of version {version}, this one knows {NEWEST}). "
        "Update Riffler to open it; the file was not changed."
    )


def _version(engine: Engine, path: str) -> str:
    """Return the version of the tables."""
    with in_words(), engine.connect() as connection:
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar()
        if mark != APPLICATION:
            raise ReviewFileError(f"{path}: not a review of Riffler. Open a file that Riffler made.")
        if not inspect(connection).has_table("alembic_version"):
            raise ReviewFileError(f"{path}: the review has no version; it is damaged. Use a backup.")
        return _recorded_version(connection)


def _recorded_version(connection: Connection) -> str:
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar())


def _migrate(engine: Engine, older: Path | None, version: str = "head") -> None:
    """Run the migrations of SQLite in one transaction; an older file is copied first."""
    writer = engine.execution_options(riffler_begin="BEGIN IMMEDIATE")
    with in_words(), writer.begin() as connection:
        if older is not None and (before := _recorded_version(connection)) != NEWEST:
            # now that nobody else writes: another process may have upgraded the file a moment ago
            copy_file(older, older.with_name(f"{older.name}.version-{before}"))
        _run_migrations(connection, version)
        if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
            raise ReviewFileError("The review has rows that refer to nothing; it is damaged. Use a backup.")
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION}")


def _run_migrations(connection: Connection, version: str) -> None:
    from alembic import command  # here, because a database that is up to date does not need it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def _without_foreign_keys(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    """Let a table be replaced by a new one that others refer to; whether all still fits is looked at in the end."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=OFF")
    cursor.close()
