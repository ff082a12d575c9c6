"""The sort of each query is the best of all its orders, and the other queries are left alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from riffler._fast.assignment import sorted_orders
from tests.naive import assignment as naive


@pytest.mark.parametrize("seed", range(10))
def test_sorted_orders_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *rng.integers(1, 6, 4)])
    n_rows, worth = int(starts[-1]), np.sort(rng.random(6))[::-1].copy()
    scores, gains, truth = rng.integers(-2, 3, n_rows) / 2.0, rng.random(n_rows), rng.normal(size=n_rows)
    order, moves = np.full(n_rows, -1), np.full(n_rows, np.nan)
    losses = sorted_orders(scores, gains, worth, starts, truth, order, moves)
    assert len(losses) == 4
    for query, (first, last) in enumerate(pairwise(starts)):
        rows, weights = order[first:last], worth[: last - first]
        assert sorted(rows.tolist()) == list(range(first, last))
        best = naive.best_height(scores[first:last], gains[first:last], weights)
        assert weights @ (scores[rows] - gains[rows]) == pytest.approx(best)
        assert losses[query] == pytest.approx(1.0 - float(weights @ gains[rows]))
        np.testing.assert_allclose(moves[rows], truth[rows] - weights)
