"""The cores that this process may use, which may be fewer than the machine has."""

from __future__ import annotations

import os


def own_cores() -> frozenset[int]:
    """Numbers of the cores that this process may use."""
    return frozenset(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def n_cores() -> int:
    """Cores that this process may use."""
    return len(own_cores())
