"""A step of a search: its pool part as a ratio to ``X @ w`` over the same matrix, and training apart.

    python -m benchmarks.search speed

The pool part scores every item and selects 100 for each policy that needs scores alone. Training is shown for the same
labels in collections of different size: it depends on the labels only.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from riffler.engine import LocalEngine
from riffler.records import Matrix
from riffler.search import POLICIES
from riffler.search.classifier import WarmClassifier
from riffler.search.ranking import Scores
from riffler.search.row_store import RowStore
from riffler.search.view import SearchView

N_TERMS, N_COLUMNS, N_SELECTED, REPEATS = 80, 100_000, 100, 15
POLICIES_SHOWN = ("greedy", "uncertainty", "thompson", "default")
N_CLUSTERS, N_MEMBERSHIPS = 200, 5


def main() -> None:
    with threadpool_limits(limits=1):
        X = documents(500_000)
        for name in POLICIES_SHOWN:
            _pool_part(name, X)
        for n_items in (50_000, 500_000):
            _training(X[:n_items])


def documents(n_items: int) -> Matrix:
    """Rows of 80 terms, frequent ones more often, as in texts."""
    rng = np.random.default_rng(0)
    terms = (N_COLUMNS ** rng.random((n_items, N_TERMS))).astype(np.int32) - 1
    terms.sort(axis=1)
    bounds = np.arange(0, n_items * N_TERMS + 1, N_TERMS, dtype=np.int64)
    values = rng.random(n_items * N_TERMS, dtype=np.float32)
    return sparse.csr_matrix((values, terms.ravel(), bounds), shape=(n_items, N_COLUMNS))


def _pool_part(name: str, X: Matrix) -> None:
    """Score all and select, against one product of the matrix with a vector; the two in turn."""
    engine, rng = LocalEngine([X]), np.random.default_rng(1)
    weights = rng.normal(size=N_COLUMNS)
    reviewed = rng.random(X.shape[0]) < 0.01
    items = np.flatnonzero(reviewed)
    answers = (rng.random(items.size) < 0.2).astype(np.int8)
    memberships, ties = _memberships(X.shape[0]), rng.permutation(X.shape[0])
    policy = POLICIES[name]()

    def step() -> None:
        scores = engine.scores(weights, 0.1)
        view = SearchView(
            engine, Scores(scores), reviewed, items, answers, np.zeros(items.size, int), 1, np.random.default_rng(2),
            ties=ties, memberships=memberships,
        )  # fmt: skip
        policy.propose(view, N_SELECTED)

    narrow = weights.astype(np.float32)
    product, whole = in_turn(lambda: X @ narrow, step)
    print(
        f"{name}: score {X.shape[0]:,} x {N_TERMS} terms and select {N_SELECTED}: {whole * 1e3:.0f} ms, "
        f"{whole / product:.2f} x X @ w ({product * 1e3:.0f} ms)",
        flush=True,
    )


def _memberships(n_items: int) -> sparse.csr_matrix:
    rng = np.random.default_rng(3)
    columns = np.sort(rng.integers(N_CLUSTERS, size=(n_items, N_MEMBERSHIPS)), axis=1).astype(np.int32)
    bounds = np.arange(0, n_items * N_MEMBERSHIPS + 1, N_MEMBERSHIPS, dtype=np.int64)
    shares = np.full(n_items * N_MEMBERSHIPS, 1 / N_MEMBERSHIPS, dtype=np.float32)
    return sparse.csr_matrix((shares, columns.ravel(), bounds), shape=(n_items, N_CLUSTERS))


def _training(X: Matrix) -> None:
    """Refit after 100 more labels, from where 2,000 left it."""
    engine, rng = LocalEngine([X]), np.random.default_rng(4)
    order = rng.permutation(50_000)
    labels = (rng.random(order.size) < 0.1).astype(np.int8)
    seconds = []
    for _ in range(REPEATS):
        model = WarmClassifier(engine, store=RowStore(engine))
        model.fit(order[:2000], labels[:2000], order[-500:])
        start = time.perf_counter()
        model.learn(order[:2100], labels[:2100], order[-500:])
        seconds.append(time.perf_counter() - start)
    print(f"training on 2,100 labels, 100 of them new, of {X.shape[0]:,} items: {np.median(seconds) * 1e3:.1f} ms")


def in_turn(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Median seconds of two pieces of work done in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    second()  # compiles
    for _ in range(REPEATS):
        for work, kept in zip((first, second), times, strict=True):
            start = time.perf_counter()
            work()
            kept.append(time.perf_counter() - start)
    return float(np.median(times[0])), float(np.median(times[1]))


if __name__ == "__main__":
    main()
