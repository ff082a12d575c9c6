"""Which workers of a cluster work: on one machine no more threads than it has cores; the others stand by.

Processes beyond the cores would only wait for one another. Who stands by takes over when one that works goes away.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import getnode

from riffler.cores import own_cores

BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker runs: the machine (or container), and the cores of it that the worker may use, none if unknown."""

    machine: str
    cores: frozenset[int]


def place_here() -> Place:
    """Say where this process runs."""
    boot = BOOT.read_text().strip() if BOOT.exists() else f"{getnode():x}"
    return Place(f"{platform.node()} {boot}", own_cores())


def seated(threads: Mapping[str, int], places: Mapping[str, Place], busy: Collection[str] = ()) -> dict[str, int]:
    """Return the workers that shall work and how many threads of each, those that already do (``busy``) before others.

    >>> here = Place("here", frozenset({0, 1}))
    >>> seated({"a": 1, "b": 1, "c": 1}, dict.fromkeys("abc", here), busy=["c"])
    {'a': 1, 'c': 1}
    >>> seated({"a": 4, "b": 4}, {"a": here, "b": Place("there", frozenset(range(8)))})
    {'a': 2, 'b': 4}
    """
    cores: dict[str, frozenset[int]] = {}
    for worker in threads:
        place = places[worker]
        cores[place.machine] = cores.get(place.machine, frozenset()) | place.cores
    n_threads = sum(threads.values())
    free = {machine: len(all_of) or n_threads for machine, all_of in cores.items()}
    taken: dict[str, int] = {}
    for worker in sorted(threads, key=lambda one: (one not in busy, one)):
        machine = places[worker].machine
        taken[worker] = min(threads[worker], free[machine])
        free[machine] -= taken[worker]
    return {worker: taken[worker] for worker in threads if taken[worker]}
