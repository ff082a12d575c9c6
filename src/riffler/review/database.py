"""The door to the database: how it is opened, when a change is on the disk, and what its faults are in words.

A review is in a SQLite file, or among others in a database of a server: SQLite for a small office, PostgreSQL for more.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DatabaseError, DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.pool import ConnectionPoolEntry

from riffler.errors import ConnectionLost, DiskFull, InputError, ReviewFileError, StorageError
from riffler.review.clock import CLOCK

Address = str | os.PathLike[str]
"""Where a database is: the path of a SQLite file, or an address such as ``postgresql+psycopg://user@host/name``."""

WAIT_SECONDS = 30
APPLICATION = 0x52494646  # "RIFF": marks a SQLite file as a review
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # an answer is on the disk before it is acknowledged
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={WAIT_SECONDS * 1000}",
)
LOCK_SECONDS = 8  # of PostgreSQL: who waits longer, such as while a review moves, keeps a connection from others
POSTGRES, SQLITE = "postgresql", "sqlite"
POOL, OVERFLOW = 10, 10  # connections of a server that stay, and more of them when many come at once
POSTGRES_ARGUMENTS = {
    "connect_timeout": 10,
    "application_name": "riffler",
    # a database whose host has gone is noticed within half a minute, not after the two hours of TCP
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "options": f"-c lock_timeout={LOCK_SECONDS}s -c timezone=UTC",
}
ONE_MOMENT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
FULL, BUSY = ("53100",), ("55P03", "40P01", "40001", "57014", "53300")
"""SQLSTATEs of PostgreSQL: no room on the disk; and those that are gone when it is tried again."""


def is_postgres(address: Address) -> bool:
    """Tell whether an address is one of PostgreSQL.

    >>> is_postgres("postgresql://anna@localhost/reviews"), is_postgres("papers.riffler")
    (True, False)
    """
    return str(address).startswith((f"{POSTGRES}:", f"{POSTGRES}+", "postgres:"))


def file_of(address: Address) -> Path:
    """Return the file that an address of SQLite names.

    >>> str(file_of("sqlite:///papers.riffler"))
    'papers.riffler'
    """
    return Path(str(address).removeprefix("sqlite:///") if isinstance(address, str) else address)


def shown_address(address: Address) -> str:
    """Return an address as it may be shown: without its password.

    >>> shown_address("postgresql+psycopg://anna:secret@localhost/reviews")
    'postgresql+psycopg://anna:***@localhost/reviews'
    """
    return _url_of(str(address)).render_as_string(hide_password=True) if is_postgres(address) else str(address)


def connect(address: Address) -> Engine:
    """Return an engine for a database; a SQLite file must be there."""
    if is_postgres(address):
        return _connect_postgres(str(address))
    uri = file_of(address).resolve().as_uri().removeprefix("file:")
    url = URL.create("sqlite+pysqlite", database=f"file:{uri}", query={"mode": "rw", "uri": "true"})
    engine = create_engine(url, connect_args={"timeout": WAIT_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Give a session that sees one moment of the database."""
    reader = engine.execution_options(**ONE_MOMENT) if engine.dialect.name == POSTGRES else engine
    with in_words(), Session(reader) as session:
        yield session


@contextmanager
def glancing(engine: Engine) -> Iterator[Session]:
    """Give a session for one question, without the words that begin and end a transaction."""
    reader = engine.execution_options(isolation_level="AUTOCOMMIT") if engine.dialect.name == POSTGRES else engine
    with in_words(), Session(reader) as session:
        yield session


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """Give a session whose changes are all on the disk when the block ends, or none of them."""
    writer = engine.execution_options(riffler_begin="BEGIN IMMEDIATE")
    with in_words(), Session(writer, expire_on_commit=False) as session, session.begin():
        yield session


@contextmanager
def writing_review(engine: Engine, review_id: int) -> Iterator[Session]:
    """Give a session for one change of a review, whose answers nobody else changes meanwhile.

    So the rows of its ledger are numbered in the order in which they are committed.
    """
    with writing(engine) as session:
        lock_review(session, review_id)
        yield session


def lock_review(session: Session, review_id: int) -> None:
    """Wait until nobody else changes a review, until the transaction ends; SQLite has one writer at a time anyway."""
    if session.get_bind().dialect.name == POSTGRES:
        session.execute(text(f"SELECT pg_advisory_xact_lock({APPLICATION}, :review)"), {"review": review_id})


def insert_new(session: Session, table: type[DeclarativeBase], rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Insert rows but those whose keys are taken, and return the first parts of the keys that were not."""
    if not rows:
        return set()
    insert = postgresql.insert if session.get_bind().dialect.name == POSTGRES else sqlite.insert
    key = next(iter(inspect(table).primary_key))
    return set(session.connection().execute(insert(table).on_conflict_do_nothing().returning(key), rows).scalars())


def clock(session: Session) -> float:
    """Return the seconds since 1970 by the clock of the database, which all servers share."""
    return session.execute(select(CLOCK)).scalar_one()


@contextmanager
def in_words() -> Iterator[None]:
    """Turn faults of the database into errors that say what happened and what to do."""
    try:
        yield
    except (OperationalError, InterfaceError, sqlite3.OperationalError) as error:
        raise _in_words(error) from error
    except PoolTimeout as error:
        raise StorageError(
            "More people ask than the database can answer at once. Try again. Nothing was written."
        ) from error
    except UnicodeEncodeError as error:
        raise InputError(f"A text has half a character, {error.object[error.start]!r}. Remove it.") from error
    except OverflowError as error:
        raise InputError("A number is too large to be one of this review. Use the numbers that it gave.") from error
    except DataError as error:
        raise InputError(f"The database cannot hold a value that was given: {_first_line(error)}.") from error
    except DatabaseError as error:
        if error.connection_invalidated:
            raise _in_words(error) from error
        if _is_damage(error):
            raise ReviewFileError(f"The file is no review, or it is damaged ({error.orig}). Use a backup.") from error
        raise


def now() -> str:
    """Return this moment: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def is_older(moment: str | None, seconds: float) -> bool:
    """Tell whether a moment that :func:`now` gave is longer ago; one that never was is."""
    return moment is None or (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds() > seconds


def _in_words(error: DBAPIError | sqlite3.OperationalError) -> StorageError:
    original = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(original, sqlite3.Error):
        return _of_postgres(error, str(getattr(original, "sqlstate", None) or ""))
    said = str(original)
    kind = DiskFull if "full" in said else StorageError
    return kind(f"{_cause(said)} Nothing of this change was written, what was there is kept.")


def _of_postgres(error: DBAPIError | sqlite3.OperationalError, state: str) -> StorageError:
    kept = "Nothing of this change was written, what was there is kept."
    if state in FULL:
        return DiskFull(f"The disk of the database is full. Free some space there, then try again. {kept}")
    if state in BUSY:
        return StorageError(f"The database was busy for too long. Try again. {kept}")
    # it may have gone after it wrote and before it said so
    return ConnectionLost(
        f"The database does not answer ({_first_line(error)}). Try again when it is back; a request that is sent again "
        "with the same key is recorded once."
    )


def _first_line(error: BaseException) -> str:
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__


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


def _connect_postgres(address: str) -> Engine:
    url = _url_of(address)
    arguments = {name: value for name, value in POSTGRES_ARGUMENTS.items() if name not in url.query}
    return create_engine(url, connect_args=arguments, pool_size=POOL, max_overflow=OVERFLOW, pool_pre_ping=True)


def _url_of(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            "The address of the database cannot be read. Write it as postgresql+psycopg://user@host:port/name."
        ) from error
    return url.set(drivername="postgresql+psycopg")


def _prepare(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where _begin says so
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: Connection) -> None:
    # A writer takes its lock at once: one that reads first and writes later could find that it must start again.
    connection.exec_driver_sql(connection.get_execution_options().get("riffler_begin", "BEGIN"))
