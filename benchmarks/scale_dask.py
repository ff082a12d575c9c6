"""Worker processes of Dask beside threads: what a step costs more, and what killed workers change."""

from __future__ import annotations

import multiprocessing
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
from numpy.typing import NDArray
from scale_index import collection_of
from scale_memory import n_threads, own_megabytes
from scale_steps import N_PICKED, Pass, alternated, weights_of

from riffler.disk import DiskCollection, open_collection
from riffler.engine import DaskEngine, LocalEngine, rows_on_disk

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
        steps: list[Pass] = [
            partial(engine.best, weights, N_PICKED, excluded, ties=ties) for engine in (local, cluster)
        ]
        n_seated = min(len(cluster._threads), rows.n_blocks)  # of more workers than cores some stand by
        with BareProcesses(collection.folder, n_seated, weights, excluded, ties) as bare:
            here, there, alone = map(np.median, alternated([*steps, bare.step], repeats))
        memory = max(own_megabytes(one.pid) for one in cluster._cluster._own.workers.values())
    found = {
        "documents": collection.n_items, "workers": n_workers, "local": float(here), "dask": float(there),
        "processes": float(alone), "n_processes": n_seated, "first": first, "overhead": float(there / here - 1),
        "worker_mb": memory,
    }  # fmt: skip
    print(
        f"dask: {collection.n_items:,} documents, {n_workers} workers: {1000 * there:.1f} ms a step, {n_threads()} "
        f"threads {1000 * here:.1f} ms, overhead {100 * found['overhead']:.1f} % (wanted: {100 * WANTED_SHARE:.0f} %); "
        f"{n_seated} processes without Dask, on the same blocks, {1000 * alone:.1f} ms; the first step, with opening "
        f"and checksums, {first:.1f} s; the largest worker holds {memory:.0f} MB beyond mapped files",
        flush=True,
    )
    return found


class BareProcesses:
    """Processes that do a step on their blocks when they are told to, by a pipe: what is left without Dask."""

    def __init__(
        self,
        folder: Path,
        n: int,
        weights: NDArray[np.float32],
        excluded: NDArray[np.int64],
        ties: NDArray[np.int64],
    ) -> None:
        made = multiprocessing.get_context("spawn")
        self._ends, self._processes = [], []
        for number in range(n):
            here, there = made.Pipe()
            told = there, folder, number, n, weights, excluded, ties
            process = made.Process(target=_step_when_told, args=told, daemon=True)
            process.start()
            self._ends.append(here)
            self._processes.append(process)
        for end in self._ends:
            end.recv()  # it is ready

    def step(self) -> None:
        """Let all of them score at once, and wait for the last."""
        for end in self._ends:
            end.send(True)
        for end in self._ends:
            end.recv()

    def __enter__(self) -> BareProcesses:
        return self

    def __exit__(self, *raised: object) -> None:
        for end, process in zip(self._ends, self._processes, strict=True):
            end.send(False)
            process.join(10)


def _step_when_told(
    end: Any,  # noqa: ANN401
    folder: Path,
    number: int,
    n: int,
    weights: NDArray[np.float32],
    excluded: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> None:
    rows = rows_on_disk(open_collection(folder))
    first, stop = np.linspace(0, rows.n_blocks, n + 1).astype(int)[number : number + 2]
    first_row, end_row = int(rows.starts[first]), int(rows.starts[stop])
    its_excluded = excluded[(excluded >= first_row) & (excluded < end_row)] - first_row
    step = partial(
        LocalEngine(rows.sources[first:stop], threads=1).best,
        weights, N_PICKED, its_excluded, ties=ties[first_row:end_row],
    )  # fmt: skip
    step()  # opens the blocks
    end.send(True)
    while end.recv():
        step()
        end.send(True)


def _kills(collection: DiskCollection, n_workers: int, seed: int, n_steps: int) -> dict[str, Any]:
    """Search by weights that change from step to step, on both engines, a worker being killed in each."""
    rng = np.random.default_rng(seed)
    weights, ties = weights_of(collection, seed), rng.permutation(collection.n_items)
    excluded = np.zeros(collection.n_items, dtype=bool)
    rows, n_different, n_again = rows_on_disk(collection), 0, 0
    killed: list[int] = []
    took: list[float] = []
    with LocalEngine(rows) as local, DaskEngine(rows, n_workers=n_workers) as cluster:
        usual = max(0.05, _seconds(local, weights, ties))
        for _ in range(n_steps):
            weights = (weights * rng.lognormal(0.0, 0.3, size=weights.size)).astype(np.float32)
            killer = threading.Timer(float(rng.random()) * usual, _kill_one, (cluster, rng, killed))
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


def _kill_one(engine: DaskEngine, rng: np.random.Generator, killed: list[int]) -> None:
    """Kill one of the workers that are there, and note it; their nannies start others.

    One that is only starting is left alone: its nanny would take that for a fault of the machine and give up.
    """
    end = time.monotonic() + 20
    while time.monotonic() < end:
        cluster = engine._cluster._own  # another one, should it have been made anew
        known = cluster.scheduler.workers
        nannies = [one for one in cluster.workers.values() if one.process is not None]
        running = [one for one in nannies if one.process.status.name == "running" and one.worker_address in known]
        pids = [one.pid for one in running if one.pid]
        if pids:
            pid = int(rng.choice(pids))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
        time.sleep(0.05)
