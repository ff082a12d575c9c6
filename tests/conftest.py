"""What all tests share: the settings of hypothesis, the folder of public data sets, and databases."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.databases import (  # noqa: F401 - fixtures
    engine,
    postgres_engine,
    postgres_tables,
    sqlite_engine,
    sqlite_template,
)
from tests.postgres import PostgresServer, server_programs

# A deadline measures the machine (and numba's first compilation), not the code; without random seeds a failure repeats.
settings.register_profile(
    "quick", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("quick"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("RIFFLER_HYPOTHESIS", "quick"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Give the folder of public data sets; a test that needs it skips where RIFFLER_DATA names none."""
    named = os.environ.get("RIFFLER_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("needs the public data sets: set RIFFLER_DATA to their folder")
    return Path(named)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server of this test process's own, once a test asks for it."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL: install Debian's package postgresql, or name its bin folder in RIFFLER_POSTGRES")
    with PostgresServer(programs) as server:
        yield server


@pytest.fixture
def postgres_address(postgres: PostgresServer) -> Iterator[str]:
    """Give the address of an empty database, which goes when the test ends."""
    address = postgres.new_database()
    yield address
    postgres.drop_database(address)


SOURCE = Path(__file__).parents[1] / "src"
LONGEST = (
    "test_wheel.py", "test_kill.py", "test_schema.py", "test_learner.py", "test_live.py", "test_examples.py",
    "test_reproduce.py", "test_team.py", "test_team_faults.py", "test_looks.py", "test_access.py", "test_team_gate.py",
    "test_team_api.py", "test_moving_faults.py", "test_moving.py",
)  # fmt: skip


def pytest_collection_finish() -> None:
    """Leave what was imported, some millions of objects, out of every later search for garbage."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the doctests of the package, then the longest files: others would have nothing to do beside them.

    Doctests compile nearly every kernel, once. Servers that are killed and started again would each do that anew. Tests
    of the browser, which give up waiting, come when linters and documentation are through.
    """
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: -1 if item.path.is_relative_to(SOURCE) else places.get(item.path.name, len(LONGEST)))
