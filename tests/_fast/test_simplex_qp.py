"""The small quadratic is solved whatever planes make it up: to the best by enumeration, and to a gap of rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.simplex_qp import climb_simplex
from riffler.records import FloatArray
from riffler.structured.cutting_plane import solve_dual
from tests.naive import simplex_qp as naive

Planes = tuple[FloatArray, FloatArray, float]


@st.composite
def planes(draw: st.DrawFn, max_planes: int) -> Planes:
    """Slopes, offsets and C: few or many dimensions, copies, planes of slope 0, any scale of planes and of C."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_planes))
    slopes, offsets = rng.normal(size=(n, draw(st.integers(1, 2 * n)))), rng.normal(size=n) + 0.5
    kind = draw(st.sampled_from(["plain", "copies", "zeros", "nearly equal", "of all sizes"]))
    if kind == "copies":
        slopes, offsets = slopes[rng.integers(0, n, n)], offsets[rng.integers(0, n, n)]
    elif kind == "zeros":
        slopes[rng.random(n) < 0.5] = 0.0
    elif kind == "nearly equal":
        slopes = slopes[0] + 1e-4 * slopes
    elif kind == "of all sizes":
        sizes = 10.0 ** rng.uniform(-5, 5, n)
        slopes, offsets = slopes * sizes[:, None], offsets * sizes
    return slopes @ slopes.T, offsets, 10.0 ** draw(st.integers(-3, 9))


def rounding(gram: FloatArray, offsets: FloatArray, total: float, a: FloatArray) -> float:
    """What the gap cannot be told apart from: the slope is a difference of such sums, each right to 16 digits."""
    return 1e-13 * total * float(np.abs(offsets).max() + (np.abs(gram) @ a).max())


@given(planes(max_planes=5))
def test_the_value_is_the_best_of_all_sets_of_entries(problem: Planes) -> None:
    gram, offsets, total = problem
    a = solve_dual(gram, offsets, total, np.zeros(len(offsets)), 0.0)
    best = naive.best_value(gram, offsets, total)
    assert naive.value(gram, offsets, a) >= best - 1e-7 * abs(best) - rounding(gram, offsets, total, a)


@given(planes(max_planes=40))
def test_the_gap_is_rounding_however_the_planes_are(problem: Planes) -> None:
    gram, offsets, total = problem
    a = solve_dual(gram, offsets, total, np.zeros(len(offsets)), 0.0)
    assert (a >= 0).all()
    assert a.sum() <= total * (1 + 1e-12)
    assert naive.gap(gram, offsets, a, total) <= rounding(gram, offsets, total, a)


@given(planes(max_planes=20), st.floats(1e-6, 1.0))
def test_the_gap_returned_is_the_gap_and_at_most_tol(problem: Planes, tol: float) -> None:
    gram, offsets, _ = problem
    total = 3.0
    a = np.zeros(len(offsets))
    a[0] = total
    tol *= float(np.abs(offsets).max()) + float(gram.diagonal().max())
    gap = climb_simplex(gram, offsets, a, tol, 10_000)
    slope = offsets - gram @ a
    assert gap == pytest.approx(total * slope.max() - slope @ a, abs=1e-12 * float(np.abs(gram).max() + 1))
    assert gap <= tol
    assert a.sum() == pytest.approx(total)


def test_a_warm_start_at_the_optimum_is_kept() -> None:
    rng = np.random.default_rng(2)
    slopes, offsets = rng.normal(size=(30, 50)), rng.random(30)
    first = solve_dual(slopes @ slopes.T, offsets, 5.0, np.zeros(30), 1e-9)
    again = solve_dual(slopes @ slopes.T, offsets, 5.0, first, 1e-9)
    np.testing.assert_array_equal(first, again)
