"""Precision along the ranking is precision at k, for every k."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler.evaluation.precision_curve import drawn_depths, precision_curve
from riffler.metrics import bootstrap_interval, precision_at_k


@given(items=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=40))
def test_every_point_is_precision_at_that_depth_with_ties(items: list[tuple[int, int]]) -> None:
    labels, scores = (list(column) for column in zip(*items, strict=True))
    curve = precision_curve("any", labels, scores)
    expected = [precision_at_k(labels, scores, k=int(depth)) for depth in curve.depth]
    np.testing.assert_allclose(curve.precision, expected, rtol=1e-12)
    assert curve.positive_share == np.mean(labels)
    np.testing.assert_allclose(curve.precision[-1], curve.positive_share)


@given(n_items=st.integers(1, 10**6))
def test_depths_rise_from_the_first_to_the_last_item(n_items: int) -> None:
    depth = drawn_depths(n_items)
    assert depth[0] == 1
    assert depth[-1] == n_items
    assert (np.diff(depth) > 0).all()


def test_the_band_is_the_bootstrap_interval_at_each_depth() -> None:
    rng = np.random.default_rng(7)
    labels = (rng.random(300) < 0.3).astype(int)
    scores = labels + rng.normal(size=300)
    curve = precision_curve("any", labels, scores, n_resamples=2000, seed=1)
    assert curve.low is not None
    assert curve.high is not None
    at = int(np.flatnonzero(curve.depth >= 40)[0])
    interval = bootstrap_interval(precision_at_k, labels, scores, k=int(curve.depth[at]), n_resamples=2000, seed=2)
    np.testing.assert_allclose([curve.low[at], curve.high[at]], [interval.low, interval.high], atol=0.03)
    assert (curve.low <= curve.precision).all()
    assert (curve.precision <= curve.high).all()


def test_neither_line_nor_band_depends_on_the_order_of_the_items() -> None:
    rng = np.random.default_rng(8)
    labels = rng.random(120) < 0.3
    scores = np.round(labels + rng.normal(size=120), 1)
    other = rng.permutation(120)
    first = precision_curve("any", labels, scores, n_resamples=20)
    second = precision_curve("any", labels[other], scores[other], n_resamples=20)
    np.testing.assert_array_equal(first.frame().to_numpy(), second.frame().to_numpy())


def test_a_frame_without_band_has_nulls() -> None:
    frame = precision_curve("any", [1, 0], [2.0, 1.0]).frame()
    assert frame.columns == ["method", "depth", "precision", "low", "high"]
    assert frame["low"].null_count() == frame.height == 2
