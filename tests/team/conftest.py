"""What tests of teams share: the people of an empty database."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from riffler.team.people import People
from tests.team.people import cheapen


@pytest.fixture
def people(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> People:
    """Give the people of an empty database, nobody yet; passwords cost little."""
    cheapen(monkeypatch)
    return People(engine)
