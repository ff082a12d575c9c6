"""Servers that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.visits import Visit, made_review, visiting


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return made_review(tmp_path)


@pytest.fixture
def visit(file: Path) -> Iterator[Visit]:
    with visiting(file) as one:
        yield one
