"""Warps bring columns to one scale and keep their order."""

from __future__ import annotations

import numpy as np

from riffler.features.blocks import standard_scaling
from riffler.features.warp import FARTHEST, RankWarp, StandardWarp

rng = np.random.default_rng(0)
X = np.column_stack(
    [np.exp(3 * rng.normal(size=500)), rng.normal(size=500), rng.integers(0, 2, size=500), np.ones(500)]
)


def test_standard_scores_have_mean_0_and_spread_1() -> None:
    warped = StandardWarp(standard_scaling(X, np.ones(500)))(X)
    assert warped.dtype == np.float32
    np.testing.assert_allclose(warped[:, :3].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(warped[:, :3].std(axis=0), 1, atol=1e-5)
    np.testing.assert_array_equal(warped[:, 3], 0)


def test_rank_scores_keep_the_order_and_cut_the_tail() -> None:
    warp = RankWarp(X)
    warped = warp(X)
    assert warped.dtype == np.float32
    assert (np.diff(warped[np.argsort(X[:, 0]), 0]) >= 0).all()
    assert np.abs(warped[:, :2]).max() < FARTHEST + 0.5  # a tail of hundreds of spreads is gone
    assert np.isfinite(warped).all()
    assert len(np.unique(warped[:, 2])) == 2
    np.testing.assert_allclose(warp(X[:7]), warped[:7])  # a row does not depend on its block


def test_rank_scores_do_not_change_under_monotone_maps() -> None:
    few = X[:150, :1]  # every row is a knot
    np.testing.assert_allclose(RankWarp(np.log(few))(np.log(few)), RankWarp(few)(few), atol=1e-3)
