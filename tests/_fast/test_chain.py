"""Viterbi and the row functions of chains against plain NumPy."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from riffler._fast import chain
from riffler._fast.rows import as_rows
from riffler.records import FloatArray


def score(labels: list[int], scores: FloatArray, ends: FloatArray, steps: FloatArray) -> float:
    total = ends[0, labels[0]] + ends[1, labels[-1]] + sum(scores[t, label] for t, label in enumerate(labels))
    return float(total + sum(steps[a, b] for a, b in pairwise(labels)))


@pytest.mark.parametrize("barred", [False, True])
def test_the_best_path_is_that_of_all_paths(barred: bool) -> None:
    rng = np.random.default_rng(0)
    for length in (1, 2, 5):
        for _ in range(20):
            scores, steps, ends = rng.normal(size=(length, 3)), rng.normal(size=(3, 3)), np.zeros((2, 3))
            if barred:
                ends[:, rng.integers(3)] = -np.inf
                steps[rng.random((3, 3)) < 0.2] = -np.inf
                steps[2] = 0.0  # so that there is a way
                ends[:, 2] = 0.0
            path = np.empty(length, np.int64)
            back, best = np.zeros((length, 3), np.int64), np.empty((2, 3))
            value = chain.best_path(scores, ends, steps, length, back, best, path)

            tried = [score(list(one), scores, ends, steps) for one in product(range(3), repeat=length)]
            assert value == pytest.approx(max(tried))
            assert score(path.tolist(), scores, ends, steps) == pytest.approx(value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_matrix", [np.asarray, csr_matrix])
def test_rows_are_scored_added_and_squared(dtype: type, as_matrix: type) -> None:
    rng = np.random.default_rng(1)
    X: FloatArray = np.where(rng.random((4, 6)) < 0.5, rng.integers(-3, 4, size=(4, 6)), 0).astype(dtype)
    rows, unary = as_rows(as_matrix(X)), rng.normal(size=(6, 3))
    scores = np.empty((4, 3))
    chain.write_scores(rows, 1, 4, unary, scores)
    np.testing.assert_allclose(scores[:3], X[1:] @ unary, rtol=1e-6)

    change, active = rng.normal(size=(2, 3)), np.array([[0, 2, 0], [1, 0, 0]])
    n_active, pair_change = np.array([2, 1]), rng.normal(size=(3, 3))
    direction = np.zeros((6, 3))
    direction[:, [0, 2]] += np.outer(X[2], change[0, [0, 2]])
    direction[:, 1] += X[3] * change[1, 1]
    work = np.zeros((6, 3))
    square = chain.square_of_direction(rows, 2, change, active, n_active, pair_change, work)
    assert square == pytest.approx((direction**2).sum() + (pair_change**2).sum())
    assert not work.any()
    moved, moved_pairs = unary.copy(), np.zeros((3, 3))
    chain.move(rows, 2, change, active, n_active, pair_change, 0.5, moved, moved_pairs)
    np.testing.assert_allclose(moved, unary + 0.5 * direction)
    np.testing.assert_allclose(moved_pairs, 0.5 * pair_change)
