"""A Dask cluster of two processes on this machine, started once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.clusters import new_cluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """Two workers, each a process that is started again when it is killed."""
    pytest.importorskip("distributed")
    with new_cluster() as one:
        yield one
