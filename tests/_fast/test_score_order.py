"""Scores are sorted group by group however they are spread: as numpy sorts them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from riffler._fast.score_order import sort_in_groups
from riffler.records import FloatArray

N = 3000
rng = np.random.default_rng(0)
SPREADS: dict[str, FloatArray] = {
    "even": rng.random(N),
    "normal": rng.normal(size=N),
    "heavy tails": rng.standard_cauchy(N) ** 3,
    "ties": np.round(rng.normal(size=N), 1),
    "all equal": np.zeros(N),
    "two scales": np.where(rng.random(N) < 0.5, 1e-9, 1e6) * rng.normal(size=N),
    "far from 0": 1e9 + 1e-3 * rng.normal(size=N),
    "huge": 1e308 * np.sign(rng.normal(size=N)) * rng.random(N),
    "tiny": 1e-310 * rng.random(N),
}


@pytest.mark.parametrize("spread", SPREADS)
def test_groups_are_sorted_each_by_itself(spread: str) -> None:
    scores = SPREADS[spread]
    rows = rng.permutation(N)[:2500].astype(np.int32)
    starts = np.array([0, 40, 1000, 2500])
    order, in_order = np.empty(2500, np.int32), np.empty(2500)
    sort_in_groups(scores, rows, starts, np.empty((3, 2500), np.uint32), order, in_order)
    np.testing.assert_array_equal(in_order, scores[order])
    for start, stop in pairwise(starts):
        np.testing.assert_array_equal(in_order[start:stop], np.sort(scores[rows[start:stop]]))
        np.testing.assert_array_equal(np.sort(order[start:stop]), np.sort(rows[start:stop]))


@pytest.mark.parametrize("odd", [[np.nan], [np.inf], [-np.inf, np.nan], [1.7e308, -1.7e308]])
def test_scores_that_cannot_be_spread_evenly_lose_no_row(odd: list[float]) -> None:
    scores = np.random.default_rng(0).normal(size=1000)
    scores[100 : 100 + len(odd)] = odd
    order, in_order = np.empty(1000, np.int64), np.empty(1000)
    sort_in_groups(scores, np.arange(1000), np.array([0, 1000]), np.empty((3, 1000), np.uint32), order, in_order)
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    if np.isfinite(odd).all():
        np.testing.assert_array_equal(in_order, np.sort(scores))
