"""Waiting for what comes by itself, on a machine that may be busy."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 90.0  # seconds; a busy machine starts a process slowly


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
