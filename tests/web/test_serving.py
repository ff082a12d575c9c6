"""A server that runs is not held up by its own memory."""

from __future__ import annotations

import gc
from pathlib import Path

from tests.web.visits import serving


def test_what_is_loaded_is_not_looked_at_by_the_garbage_collector_while_a_server_runs(file: Path) -> None:
    loaded = [[]]  # type: list[list[object]]
    with serving(file):
        n_frozen = gc.get_freeze_count()
        assert not any(one is loaded for one in gc.get_objects())
        assert n_frozen > len(gc.get_objects())
    assert gc.get_freeze_count() < n_frozen
    assert any(one is loaded for one in gc.get_objects())
