"""Ascent over the cuts of each example reaches what a generic solver finds, for vectors and for inner products."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from riffler._fast.cut_dual import ascend_cuts, squares_of
from riffler._fast.rows import SimilarRows, as_rows
from riffler.records import FloatArray, IntArray
from tests.naive import cut_dual as naive

N_EXAMPLES = 4


def ascend(
    slopes: FloatArray, offsets: FloatArray, owners: IntArray, mass: float, held: str, n_passes: int
) -> tuple[FloatArray, FloatArray]:
    """Shares and scores of the cuts after some passes."""
    gram = slopes @ slopes.T
    rows = SimilarRows(gram, np.arange(len(gram))) if held == "gram" else as_rows(sparse.csr_matrix(slopes))
    w = np.zeros(gram.shape[1] if held == "gram" else slopes.shape[1])
    squares, alpha = np.empty(len(offsets)), np.zeros(len(offsets))
    squares_of(rows, squares)
    np.testing.assert_allclose(squares, gram.diagonal())
    members = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[members], np.arange(N_EXAMPLES + 1))
    order = np.arange(N_EXAMPLES)
    ascend_cuts(
        rows, offsets, squares, members, starts, order, mass, alpha, w, np.zeros(slopes.shape[1]), 1e-12, n_passes
    )
    return alpha, w if held == "gram" else slopes @ w


def dual(slopes: FloatArray, offsets: FloatArray, alpha: FloatArray) -> float:
    w = slopes.T @ alpha
    return float(offsets @ alpha - w @ w / 2)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 30.0]))
def test_both_ways_of_holding_cuts_reach_the_generic_optimum(seed: int, mass: float) -> None:
    rng = np.random.default_rng(seed)
    n_cuts = int(rng.integers(1, 13))
    slopes, offsets = rng.normal(size=(n_cuts, 8)), rng.normal(size=n_cuts) + 0.5
    slopes[rng.random(n_cuts) < 0.2] = 0.0  # where features of the output and of the truth are equal
    owners = rng.integers(0, N_EXAMPLES, n_cuts)
    best = dual(slopes, offsets, naive.best_shares(slopes @ slopes.T, offsets, owners, mass))
    for held in ("vectors", "gram"):
        alpha, scores = ascend(slopes, offsets, owners, mass, held, 20_000)
        assert (alpha >= 0).all()
        assert np.bincount(owners, weights=alpha).max() <= mass * (1 + 1e-12)
        assert dual(slopes, offsets, alpha) == pytest.approx(best, rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(scores, slopes @ slopes.T @ alpha, atol=1e-9 * (1 + np.abs(scores).max()))


def test_the_dual_rises_with_every_pass() -> None:
    rng = np.random.default_rng(3)
    slopes, offsets, owners = rng.normal(size=(20, 6)), rng.random(20), rng.integers(0, N_EXAMPLES, 20)
    values = [dual(slopes, offsets, ascend(slopes, offsets, owners, 1.0, "vectors", n)[0]) for n in range(6)]
    assert values[1] > values[0]
    assert (np.diff(values) >= -1e-12).all()
