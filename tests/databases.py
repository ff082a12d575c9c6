"""What tests of a server's database share: an empty one, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine

from riffler.review.database import connect
from riffler.review.upgrade import make_tables, prepare_server
from tests.postgres import PostgresServer

EMPTIED = """DO $$
DECLARE found record;
BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL session_replication_role = replica;  -- without foreign keys, and without triggers that forbid it
    FOR found IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
        IF found.name <> 'alembic_version' THEN EXECUTE format('DELETE FROM %I', found.name); END IF;
    END LOOP;
    FOR found IN SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public' LOOP
        PERFORM setval(quote_ident(found.name)::regclass, 1, false);
    END LOOP;
END $$"""


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with empty tables, made once."""
    path = tmp_path_factory.mktemp("template") / "empty.riffler"
    path.touch()
    engine = connect(path)
    make_tables(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgres_tables(postgres: PostgresServer) -> str:
    """Give the address of a database with empty tables, made once: a copy for each test takes half a second."""
    address = postgres.new_database()
    engine = connect(address)
    prepare_server(engine, "tables")
    engine.dispose()
    return address


@pytest.fixture
def sqlite_engine(sqlite_template: Path, tmp_path: Path) -> Iterator[Engine]:
    """Give an empty database in a file of its own."""
    path = tmp_path / "office.riffler"
    shutil.copy(sqlite_template, path)
    engine = connect(path)
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_engine(postgres_tables: str) -> Iterator[Engine]:
    """Give an empty database of PostgreSQL, which is emptied when the test ends."""
    engine = connect(postgres_tables)
    yield engine
    engine.dispose()
    with closing(psycopg.connect(postgres_tables.replace("+psycopg", ""), autocommit=True)) as connection:
        connection.execute(EMPTIED)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Give an empty database, once on SQLite and once on PostgreSQL."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


def is_free(path: str | Path) -> bool:
    """Tell whether nobody is writing to a SQLite file: a process that was stopped while it did keeps all others out."""
    with closing(sqlite3.connect(path, timeout=0.2)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True
