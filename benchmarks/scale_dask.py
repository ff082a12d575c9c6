"""Worker processes of Dask beside threads: what a step costs more, and what killed workers change."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scale_index import collection_of
from scale_memory import n_threads
from scale_steps import N_PICKED, alternated, weights_of

from riffler.disk import DiskCollection
from riffler.engine import DaskEngine, LocalEngine, rows_on_disk
from riffler.engine.cluster import own_cluster

N_KILLS, WANTED_SHARE = 50, 0.15


def measure_dask(out: Path, n: int, seed: int, workers: Sequence[int], kills: int, repeats: int) -> dict[str, Any]:
    """Time steps on workers and on threads in turn, then kill a worker in every step of a search."""
    collection = collection_of(out, n, seed)
    overhead = [_overhead(collection, count, seed, repeats) for count in workers]
    return {"overhead": overhead, "kills": _kills(collection, max(workers), seed, kills) if kills else None}


def _overhead(collection: DiskCollection, n_workers: int, seed: int, repeats: int) -> dict[str, Any]:
    weights, ties = weights_of(collection, seed), np.random.default_rng(seed).permutation(collection.n_items)
    excluded = np.arange(0, collection.n_items, 1000)
    rows = rows_on_disk(collection)
    with LocalEngine(rows, threads=n_threads()) as local, DaskEngine(rows, n_workers=n_workers) as cluster:
        start = time.perf_counter()
        cluster.best(weights, N_PICKED, excluded, ties=ties)
        first = time.perf_counter() - start
        steps = [partial(engine.best, weights, N_PICKED, excluded, ties=ties) for engine in (local, cluster)]
        here, there = alternated(steps, repeats)
    found = {
        "documents": collection.n_items, "workers": n_workers, "local": float(np.median(here)),
        "dask": float(np.median(there)), "first": first, "overhead": float(np.median(there) / np.median(here) - 1),
    }  # fmt: skip
    print(
        f"dask: {collection.n_items:,} documents, {n_workers} workers: {1000 * found['dask']:.1f} ms a step, "
        f"{n_threads()} threads {1000 * found['local']:.1f} ms, overhead {100 * found['overhead']:.1f} % (wanted: "
        f"{100 * WANTED_SHARE:.0f} %); the first step, with opening and checksums, {first:.1f} s",
        flush=True,
    )
    return found


def _kills(collection: DiskCollection, n_workers: int, seed: int, n_steps: int) -> dict[str, Any]:
    """Search by weights that change from step to step, on both engines, a worker being killed in each."""
    rng = np.random.default_rng(seed)
    weights, ties = weights_of(collection, seed), rng.permutation(collection.n_items)
    excluded = np.zeros(collection.n_items, dtype=bool)
    rows, n_different, n_again = rows_on_disk(collection), 0, 0
    killed: list[int] = []
    took: list[float] = []
    with own_cluster(n_workers) as workers, LocalEngine(rows) as local, DaskEngine(rows, workers) as cluster:
        usual = max(0.05, _seconds(local, weights, ties))
        for _ in range(n_steps):
            weights = weights * rng.lognormal(0.0, 0.3, size=weights.size)
            killer = threading.Timer(float(rng.random()) * usual, _kill_one, (workers, rng, killed))
            killer.start()
            start = time.perf_counter()
            found = cluster.best(weights, N_PICKED, excluded, ties=ties)
            took.append(time.perf_counter() - start)
            killer.join()
            wanted = local.best(weights, N_PICKED, excluded, ties=ties)
            n_different += not (np.array_equal(found.rows, wanted.rows) and np.array_equal(found.scores, wanted.scores))
            n_again += int(excluded[found.rows].sum()) + abs(N_PICKED - len(set(found.rows.tolist())))
            excluded[found.rows] = True
    print(
        f"dask: {len(killed)} times one of {n_workers} workers was killed in {n_steps} steps: {n_different} steps "
        f"with other suggestions, {n_again} documents suggested twice or not at all; median step "
        f"{np.median(took):.2f} s, longest {max(took):.1f} s",
        flush=True,
    )
    return {"killed": len(killed), "different": n_different, "again": n_again, "seconds": took, "workers": n_workers}


def _seconds(engine: LocalEngine, weights: Any, ties: Any) -> float:  # noqa: ANN401 - arrays
    engine.best(weights, N_PICKED, ties=ties)  # opens the blocks
    start = time.perf_counter()
    engine.best(weights, N_PICKED, ties=ties)
    return time.perf_counter() - start


def _kill_one(cluster: Any, rng: np.random.Generator, killed: list[int]) -> None:  # noqa: ANN401 - Dask's own
    """Kill one of the workers that are there, and note it; their nannies start others."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pids = [worker.pid for worker in cluster.workers.values() if getattr(worker, "pid", None)]
        if pids:
            pid = int(rng.choice(pids))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
        time.sleep(0.05)
