"""Dual coordinate descent on implicit pairs reaches the optimum of a generic solver on difference vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from riffler._fast import pair_dual
from riffler._fast.rows import as_rows
from riffler.learners.pair_solver import LOSSES
from riffler.records import FloatArray, IntArray
from tests.naive import pair_dual as naive


def problem(seed: int, n_pairs: int = 60) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.6)
    scores = X @ rng.normal(size=8) + 0.8 * rng.normal(size=30)
    pairs = rng.integers(0, 30, (n_pairs, 2))
    better = scores[pairs[:, 0]] > scores[pairs[:, 1]]
    upper = np.where(better, pairs[:, 0], pairs[:, 1]).astype(np.int32)
    lower = np.where(better, pairs[:, 1], pairs[:, 0]).astype(np.int32)
    upper[:5], lower[5:10] = -1, -1  # points
    return X, upper, lower, rng.random(n_pairs) * 2


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_optimum_is_that_of_a_generic_solver(loss: str, storage: str) -> None:
    X, upper, lower, cost = problem(0)
    Z = naive.differences(X, upper, lower)
    rows = as_rows(sparse.csr_matrix(X) if storage == "csr" else X)
    squares, alpha, w = np.empty(60), np.zeros(60), np.zeros(8)
    pair_dual.pair_squares(rows, upper, lower, np.zeros(8), squares)
    np.testing.assert_allclose(squares, (Z**2).sum(axis=1), atol=1e-12)
    order = np.arange(60)
    pair_dual.descend_pairs(rows, upper, lower, cost, squares, order, alpha, w, LOSSES[loss], 5000, 1e-9, 0)
    best = naive.objective(naive.optimum(Z, cost, loss), Z, cost, loss)
    assert naive.objective(w, Z, cost, loss) == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(w, Z.T @ alpha, atol=1e-9)
    assert sorted(order) == list(range(60))


def test_pairs_left_out_for_a_while_come_back() -> None:
    """With a tight tolerance the end is the same whether or not pairs that seem right by far are passed over."""
    X, upper, lower, cost = problem(1)
    rows, squares = as_rows(X), np.empty(60)
    pair_dual.pair_squares(rows, upper, lower, np.zeros(8), squares)
    Z = naive.differences(X, upper, lower)
    alpha, w = np.full(60, 3.0), 3.0 * Z.sum(axis=0)  # far off
    pair_dual.descend_pairs(rows, upper, lower, cost, squares, np.arange(60), alpha, w, 1, 5000, 1e-10, 0)
    np.testing.assert_allclose(w, naive.optimum(Z, cost, "squared_hinge"), atol=1e-4)


def test_pairs_of_equal_rows_say_nothing() -> None:
    X = np.ones((3, 2))
    rows, squares, w, alpha = as_rows(X), np.empty(1), np.zeros(2), np.zeros(1)
    upper, lower = np.array([0], np.int32), np.array([1], np.int32)
    pair_dual.pair_squares(rows, upper, lower, np.zeros(2), squares)
    for loss in LOSSES.values():
        assert pair_dual.descend_pairs(rows, upper, lower, np.ones(1), squares, np.arange(1), alpha, w, loss, 9, 0.1, 0)
    assert not w.any()
