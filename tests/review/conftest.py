"""What tests of a server's database share: an empty one, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from riffler.review.database import connect
from riffler.review.people import People
from riffler.review.upgrade import make_tables, prepare_server
from tests.postgres import PostgresServer
from tests.review.people import cheapen


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
def postgres_template(postgres: PostgresServer) -> str:
    """Give the address of a database with empty tables, made once."""
    address = postgres.new_database()
    engine = connect(address)
    prepare_server(engine, "template")
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
def postgres_engine(postgres: PostgresServer, postgres_template: str) -> Iterator[Engine]:
    """Give an empty database of PostgreSQL, which goes when the test ends."""
    address = postgres.new_database(postgres_template)
    engine = connect(address)
    yield engine
    engine.dispose()
    postgres.drop_database(address)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Give an empty database, once on SQLite and once on PostgreSQL."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


@pytest.fixture
def people(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> People:
    """Give the people of an empty database, nobody yet; passwords cost little."""
    cheapen(monkeypatch)
    return People(engine)
