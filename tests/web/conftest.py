"""Servers that the tests of this folder share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

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
