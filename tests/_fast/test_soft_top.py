"""The slopes of TopKRanker's objective are the derivatives of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.soft_top import mixed_slopes
from tests.naive import soft_top as naive


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0])
@given(
    seed=st.integers(0, 10**6),
    width=st.sampled_from([1.5, 0.5, 0.15]),
    share=st.floats(0.05, 0.9),
    weighted=st.booleans(),
    masked=st.booleans(),
    bias=st.floats(-2, 2),
)
def test_value_and_slopes_against_finite_differences(
    order: float, seed: int, width: float, share: float, weighted: bool, masked: bool, bias: float
) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    scores = 3 * rng.normal(size=n)
    labels = (np.arange(n) % 3 == 0).astype(np.int8)
    weight = rng.integers(0, 4, n) + 0.5 if weighted else np.ones(n)
    rows_in = rng.random(n) < 0.7 if masked else np.ones(n, dtype=bool)
    rows_in[:2] = True
    k = share * float(weight[rows_in].sum())
    fixed = labels, weight, rows_in, k, width, order, 0.6

    slopes = scores.copy()
    value, bias_slope, threshold = mixed_slopes(slopes, *fixed, bias, 0.3)
    assert value == pytest.approx(naive.value(scores, *fixed, bias), abs=1e-7)
    assert not slopes[~rows_in].any()
    step = 1e-5
    for i in range(n):
        ahead, behind = scores.copy(), scores.copy()
        ahead[i] += step
        behind[i] -= step
        measured = (naive.value(ahead, *fixed, bias) - naive.value(behind, *fixed, bias)) / (2 * step)
        assert slopes[i] == pytest.approx(measured, abs=2e-6), i
    measured = (naive.value(scores, *fixed, bias + step) - naive.value(scores, *fixed, bias - step)) / (2 * step)
    assert bias_slope == pytest.approx(measured, abs=1e-6)
    if order < 1:  # exactly k units of weight are let in
        s, mass = scores[rows_in], weight[rows_in]
        mean = np.average(s, weights=mass)
        z = (s - mean) / np.sqrt(np.average((s - mean) ** 2, weights=mass))
        assert mass @ naive.soft_step((z - threshold) / width) == pytest.approx(k, rel=2e-8)


def test_the_top_does_not_change_with_the_length_of_the_scores() -> None:
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=50), (np.arange(50) % 5 == 0).astype(np.int8)
    everything = np.ones(50, dtype=bool)
    one, ten = (
        mixed_slopes(length * scores, labels, np.ones(50), everything, 10.0, 0.5, 0.0, 1.0, 0.0, 0.0)[0]
        for length in (1, 10)
    )
    assert one == pytest.approx(ten, abs=1e-9)


def test_equal_scores_have_no_top_and_no_slope_of_it() -> None:
    scores, labels = np.full(6, 2.0), np.array([1, 0, 1, 0, 0, 0], dtype=np.int8)
    value, bias_slope, _ = mixed_slopes(
        scores, labels, np.ones(6), np.ones(6, dtype=bool), 2.0, 0.5, 0.0, 1.0, 0.0, 0.0
    )
    assert value == 1.0
    assert bias_slope == 0.0
    assert not scores.any()
