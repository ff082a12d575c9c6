"""The door to the database: how a file is opened, when a change is on the disk, and what its faults are in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from riffler.errors import DiskFull, InputError, ReviewFileError, StorageError

WAIT_SECONDS = 30
APPLICATION = 0x52494646  # "RIFF": marks a SQLite file as a review
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # an answer is on the disk before it is acknowledged
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={WAIT_SECONDS * 1000}",
)


def connect(path: Path) -> Engine:
    """Return an engine for a SQLite file, which must be there."""
    address = URL.create("sqlite+pysqlite", database=f"file:{_as_uri(path)}", query={"mode": "rw", "uri": "true"})
    engine = create_engine(address, connect_args={"timeout": WAIT_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Give a session that sees one moment of the review."""
    with in_words(), Session(engine) as session:
        yield session


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """Give a session whose changes are all on the disk when the block ends, or none of them."""
    writer = engine.execution_options(riffler_begin="BEGIN IMMEDIATE")
    with in_words(), Session(writer, expire_on_commit=False) as session, session.begin():
        yield session


@contextmanager
def in_words() -> Iterator[None]:
    """Turn faults of the database into errors that say what happened and what to do."""
    try:
        yield
    except (OperationalError, sqlite3.OperationalError) as error:
        said = str(error.orig if isinstance(error, OperationalError) else error)
        kind = DiskFull if "full" in said else StorageError
        raise kind(f"{_cause(said)} Nothing of this change was written, what was there is kept.") from error
    except UnicodeEncodeError as error:
        raise InputError(f"A text has half a character, {error.object[error.start]!r}. Remove it.") from error
    except OverflowError as error:
        raise InputError("A number is too large to be one of this review. Use the numbers that it gave.") from error
    except DatabaseError as error:
        if _is_damage(error):
            raise ReviewFileError(f"The file is no review, or it is damaged ({error.orig}). Use a backup.") from error
        raise


def now() -> str:
    """Return this moment: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def is_older(moment: str | None, seconds: float) -> bool:
    """Tell whether a moment that :func:`now` gave is longer ago; one that never was is."""
    return moment is None or (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds() > seconds


def _cause(said: str) -> str:
    if "full" in said:
        return "The disk is full. Free some space, then try again."
    if "locked" in said or "busy" in said:
        return f"The review was busy for {WAIT_SECONDS} seconds. Try again."
    if "readonly" in said or "read-only" in said:
        return "The review cannot be written. Allow writing to the file and its folder."
    if "unable to open" in said:
        return "The review cannot be opened. See that the file is there and that its folder can be written."
    return f"The database refused it: {said}."


def _is_damage(error: DatabaseError) -> bool:
    return type(error) is DatabaseError and isinstance(error.orig, sqlite3.DatabaseError)


def _as_uri(path: Path) -> str:
    return path.resolve().as_uri().removeprefix("file:")


def _prepare(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where _begin says so
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: Connection) -> None:
    # A writer takes its lock at once: one that reads first and writes later could find that it must start again.
    connection.exec_driver_sql(connection.get_execution_options().get("riffler_begin", "BEGIN"))
