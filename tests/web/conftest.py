"""Servers that the tests of this folder share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.team.people import cheapen
from tests.web.teams import TeamServer, team_server
from tests.web.visits import Visit, made_review, visiting


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one review; the tests work on copies, as a closed file alone is complete."""
    return made_review(tmp_path_factory.mktemp("template"))


@pytest.fixture
def file(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(template, tmp_path))


@pytest.fixture
def visit(file: Path) -> Iterator[Visit]:
    with visiting(file) as one:
        yield one


@pytest.fixture
def database(engine: Engine) -> str:
    """Give the address of an empty database, once on SQLite and once on PostgreSQL."""
    return address_of(engine)


@pytest.fixture
def server(engine: Engine, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamServer]:
    """Run the server of a team; passwords cost little."""
    cheapen(monkeypatch)
    with team_server(engine, database) as one:
        yield one


def address_of(engine: Engine) -> str:
    """Return the address of a database."""
    if engine.dialect.name == "postgresql":
        return engine.url.render_as_string(hide_password=False)
    return (engine.url.database or "").removeprefix("file:")
