"""The pool part of a search step, score all and pick 100, beside one pass over the same mapped rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scale_index import collection_of, folder_of
from scale_memory import PeakOfOwn, in_new_process, n_threads, own_megabytes
from scipy import sparse

from riffler import ActiveSearch
from riffler.disk import DiskCollection, open_collection
from riffler.engine import LocalEngine
from riffler.evaluation.charts import save_chart, styled

N_PICKED, N_EXCLUDED, N_LEARNED = 100, 10_000, 500
WANTED_RATIO, WANTED_MB = 2.5, 1_000.0
Pass = Callable[[], object]


def measure_steps(out: Path, sizes: Sequence[int], seed: int, repeats: int) -> dict[str, Any]:
    """Time steps over more and more of the largest collection, fit a line, and look at the memory of a search."""
    collection = collection_of(out, max(sizes), seed)
    rows = [_timed(collection, n, seed, repeats) for n in sorted(sizes)]
    fit = line(rows)
    print(
        f"steps: {fit['seconds_a_million']:.3f} s a million documents and {1000 * fit['start_seconds']:.2f} ms, "
        f"largest relative deviation {100 * fit['largest_deviation']:.0f} %",
        flush=True,
    )
    memory = in_new_process(memory_of_search, (folder_of(out, max(sizes), seed), seed))
    print(
        f"steps: a search in {max(sizes):,} documents holds {memory['own_mb']:,.0f} MB beyond mapped rows, at most "
        f"{memory['peak_own_mb']:,.0f} MB (wanted: {WANTED_MB:,.0f} MB), before it began {memory['before_mb']:,.0f} "
        f"MB; start {memory['start_seconds']:.1f} s, suggest {memory['suggest_seconds']:.3f} s, answer "
        f"{memory['answer_seconds']:.3f} s",
        flush=True,
    )
    _chart(out / f"steps-{max(sizes)}.svg", rows)
    return {"steps": rows, "fit": fit, "memory": memory}


def first_blocks(collection: DiskCollection, n: int) -> list[sparse.csr_matrix]:
    """The first n rows as mapped blocks; the last may be a part of one."""
    blocks, missing = [], n
    for block in collection.blocks:
        if missing > 0:
            blocks.append(_head(block.rows, min(missing, block.n_rows)))
            missing -= block.n_rows
    return blocks


def weights_of(collection: DiskCollection, seed: int) -> NDArray[np.float32]:
    """Weights as a search has them, single precision: they tell some relevant documents from others."""
    rng = np.random.default_rng(seed)
    assert collection.labels is not None
    relevant = np.flatnonzero(collection.labels == 1)
    some = rng.choice(relevant, min(N_LEARNED, len(relevant)), replace=False)
    others = rng.choice(collection.n_items, N_LEARNED, replace=False)
    found = collection.rows(some).mean(axis=0) - collection.rows(others).mean(axis=0)
    return np.asarray(found, dtype=np.float32).ravel()


def alternated(passes: Sequence[Pass], repeats: int) -> list[NDArray[np.float64]]:
    """Seconds of each pass, one after the other so often; the first round is not counted."""
    took = np.zeros((repeats + 1, len(passes)))
    for turn in range(repeats + 1):
        for at, one in enumerate(passes):
            start = time.perf_counter()
            one()
            took[turn, at] = time.perf_counter() - start
    return list(took[1:].T)


def _timed(collection: DiskCollection, n: int, seed: int, repeats: int) -> dict[str, Any]:
    blocks, weights, threads = first_blocks(collection, n), weights_of(collection, seed), n_threads()
    rng = np.random.default_rng(seed)
    excluded = np.sort(rng.choice(n, min(N_EXCLUDED, n // 10), replace=False))
    ties = rng.permutation(n)
    engine = LocalEngine(blocks, threads=threads)
    pieces = _pieces(blocks, threads)
    with ThreadPoolExecutor(threads) as pool:
        one_pass, best = alternated(
            [
                lambda: list(pool.map(lambda piece: piece @ weights, pieces)),
                lambda: engine.best(weights, N_PICKED, excluded, ties=ties),
            ],
            max(repeats, min(50, 5_000_000 // n)),
        )
    found: dict[str, Any] = {
        "documents": n, "pass": float(np.median(one_pass)), "best": float(np.median(best)), "threads": threads,
        "ratio": float(np.median(best) / np.median(one_pass)),
    }  # fmt: skip
    print(
        f"steps: {n:,} documents, {threads} threads: one pass {1000 * found['pass']:.2f} ms, score all and pick "
        f"{N_PICKED} {1000 * found['best']:.2f} ms, ratio {found['ratio']:.2f} (wanted: {WANTED_RATIO:g})",
        flush=True,
    )
    return found


def _pieces(blocks: list[sparse.csr_matrix], threads: int) -> list[sparse.csr_matrix]:
    """The blocks; where there are fewer than threads each of them is cut into as many parts."""
    if len(blocks) >= threads:
        return blocks
    return [
        _cut(block, int(start), int(stop))
        for block in blocks
        for start, stop in pairwise(np.linspace(0, block.shape[0], threads + 1).astype(int))
    ]


def _head(rows: sparse.csr_matrix, n: int) -> sparse.csr_matrix:
    return rows if n == rows.shape[0] else _cut(rows, 0, n)


def _cut(rows: sparse.csr_matrix, start: int, stop: int) -> sparse.csr_matrix:
    """Some neighbouring rows without a copy of what they hold."""
    part = sparse.csr_matrix((stop - start, rows.shape[1]), dtype=rows.dtype)
    first, end = int(rows.indptr[start]), int(rows.indptr[stop])
    part.data, part.indices = rows.data[first:end], rows.indices[first:end]
    part.indptr = rows.indptr[start : stop + 1] - rows.indptr[start]
    return part


def line(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Fit seconds = start + slope n, by relative deviations, so that small sizes count as much as large ones."""
    n = np.array([row["documents"] for row in rows], dtype=float)
    seconds = np.array([row["best"] for row in rows])
    start, slope = np.linalg.lstsq(np.column_stack([1 / seconds, n / seconds]), np.ones(len(n)), rcond=None)[0]
    deviation = np.abs((start + slope * n) / seconds - 1).max()
    return {
        "start_seconds": float(start), "seconds_a_million": float(1e6 * slope), "largest_deviation": float(deviation)
    }  # fmt: skip


def memory_of_search(folder: Path, seed: int, n_turns: int = 6) -> dict[str, float]:
    """Search for a few turns, answered truly, and say what the process held by itself.

    Control documents are drawn, not scored: a search that asks for some shows what it holds, another one without them
    how long a step takes. Its first suggestions rest on the pass that it began with, and are not counted.
    """
    collection = open_collection(folder)
    assert collection.labels is not None
    relevant = collection.ids.take(np.flatnonzero(collection.labels == 1)[:3])
    before = own_megabytes()
    with PeakOfOwn() as peak:
        start = time.perf_counter()
        search = ActiveSearch(collection, stopping="control", relevant=relevant, seed=seed)
        search.suggest(1)
        first = time.perf_counter() - start
        _turns(search, collection, n_turns)
        held = own_megabytes()
        search.close()
    search = ActiveSearch(collection, relevant=relevant, seed=seed)
    suggest, answer = _turns(search, collection, n_turns)
    search.close()
    return {
        "before_mb": before, "own_mb": held, "peak_own_mb": peak.megabytes, "start_seconds": first,
        "suggest_seconds": float(np.median(suggest[1:])), "answer_seconds": float(np.median(answer[1:])),
    }  # fmt: skip


def _turns(search: ActiveSearch, collection: DiskCollection, n_turns: int) -> tuple[list[float], list[float]]:
    """Seconds of each suggestion, and of each answer to it."""
    labels = collection.labels
    assert labels is not None
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(n_turns):
        start = time.perf_counter()
        asked = search.suggest(N_PICKED)
        middle = time.perf_counter()
        search.answer(asked, labels[collection.ids.rows_of(asked)].tolist())
        took[0].append(middle - start)
        took[1].append(time.perf_counter() - middle)
    return took


def _chart(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    import altair as alt

    names = {"pass": "one pass, X @ w", "best": f"score all and pick {N_PICKED}"}
    points = [
        {"documents": row["documents"], "seconds": row[key], "what": what}
        for row in rows
        for key, what in names.items()
    ]
    chart = (
        alt.Chart(pl.DataFrame(points))
        .mark_line(point=True)
        .encode(
            x=alt.X("documents:Q").scale(type="log"),
            y=alt.Y("seconds:Q").scale(type="log"),
            color=alt.Color("what:N").title(None),
        )
    )
    save_chart(styled(chart, "Time of a step, rows in the page cache"), path)
