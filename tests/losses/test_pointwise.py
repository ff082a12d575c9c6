"""The pointwise loss is that of the best intercept, and its slope and curvature are those of differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from riffler.losses.pointwise import PointwiseSquaredHinge


@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0.1, 1.0, 20.0]))
def test_value_slope_and_curvature(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    scores, move = spread * rng.normal(size=12), rng.normal(size=12)
    signs, share = np.where(rng.random(12) < 0.4, 1.0, -1.0), rng.random(12)
    signs[:2] = [1, -1]
    share /= share.sum()
    loss = PointwiseSquaredHinge(signs, share)

    def at_intercept(b: float) -> float:
        return float(share @ np.maximum(0, 1 - signs * (scores + b)) ** 2)

    found = loss.at(scores)
    best = minimize_scalar(at_intercept, bounds=(-100, 100), method="bounded", options={"xatol": 1e-12}).fun
    assert found.value <= best + 1e-9
    assert found.value == pytest.approx(at_intercept(found.intercept), abs=1e-12)
    step = 1e-5
    ahead, behind = loss.at(scores + step * move), loss.at(scores - step * move)
    assert (ahead.value - behind.value) / (2 * step) == pytest.approx(float(found.slope @ move), rel=1e-3, abs=1e-6)
    bent = np.zeros(12)
    found.bend(move, bent)
    if ((1 - signs * (scores + found.intercept) > 0) == (ahead.slope != 0)).all() and np.all(
        (ahead.slope != 0) == (behind.slope != 0)
    ):  # no row came or went
        np.testing.assert_allclose((ahead.slope - behind.slope) / (2 * step), bent, rtol=1e-3, atol=1e-4)
