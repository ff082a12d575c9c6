"""What tests of reviews share: the same tests for reviews in files and on PostgreSQL."""

from __future__ import annotations

import pytest

from tests.review.reviews import ServerReview


@pytest.fixture(params=["sqlite", "postgres"])
def each_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reviews of a test be in files, and once more on PostgreSQL; tests of files as such are not."""
    if request.param == "postgres":
        if request.node.get_closest_marker("of_files"):
            pytest.skip("about files")
        monkeypatch.setattr(ServerReview, "engine", request.getfixturevalue("postgres_engine"))
