"""Fits stay within their memory: half of the input beside it, and never all kernel features at once."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.learners import PAIR_RANKERS, RANKERS, ranker_from_name
from riffler.records import FloatArray, IntArray, Matrix, n_bytes


def peak_of_fit(ranker: Any, X: Matrix, y: IntArray) -> int:  # noqa: ANN401 - an estimator
    """Return the most bytes that a fit holds at once beside its input; NumPy reports its arrays to tracemalloc."""
    type(ranker)(**ranker.get_params()).fit(X[:300], y[:300])  # what numba and imports take does not count
    tracemalloc.start()
    try:
        ranker.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def problem(kind: str) -> tuple[Matrix, IntArray]:
    """About 40 MB of rows."""
    rng = np.random.default_rng(0)
    X: Matrix
    if kind == "csr":
        n_rows, n_entries = 30_000, 110
        columns: IntArray = rng.integers(0, 1000, n_rows * n_entries).astype(np.int32)
        values: FloatArray = rng.random(n_rows * n_entries)
        X = sparse.csr_matrix(
            (values, columns, n_entries * np.arange(n_rows + 1, dtype=np.int32)), shape=(n_rows, 1000)
        )
        X.sum_duplicates()  # what stands in parts is put together in a copy
        signal = X @ rng.normal(size=1000)
    else:
        X = rng.normal(size=(12_500, 400) if kind == "float64" else (25_000, 400)).astype(kind)
        signal = X[:, 0] + rng.normal(size=len(X))
    return X, (signal > np.quantile(signal, 0.9)).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a few steps show the memory of all
@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_linear_fits_take_at_most_half_of_the_input(kind: str) -> None:
    X, y = problem(kind)
    assert 35e6 < n_bytes(X) < 45e6
    # sparse columns are many, so what L-BFGS remembers (up to 8 moves) shows: let it fill. Dense fits peak before it.
    quick = {"max_iter": 10 if kind == "csr" else 3, "n_epochs": 1, "n_pairs": 2000, "n_steps": 5000}
    for name in (*RANKERS, *PAIR_RANKERS):
        peak = peak_of_fit(ranker_from_name(name, k=0.25, random_state=0, **quick), X, y)
        assert peak <= 0.5 * n_bytes(X), f"{name} took {peak / n_bytes(X):.0%} of its input"


def test_kernel_features_are_never_all_there() -> None:
    rng = np.random.default_rng(0)
    n_rows, n_components = 30_000, 500
    X = rng.normal(size=(n_rows, 5))
    y = (np.hypot(X[:, 0], X[:, 1]) + 0.3 * rng.normal(size=n_rows) > 2.5).astype(int)
    ranker = ranker_from_name(
        "top-k", kernel="rbf", gamma=0.2, n_components=n_components, order_weight=1.0, max_iter=2, random_state=0
    )
    peak = peak_of_fit(ranker, X, y)
    assert peak < 0.6 * n_rows * n_components * 8
