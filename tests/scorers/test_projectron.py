"""The Projectron in blocks is the Projectron a row at a time, and with tolerance 0 the exact kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.features.blocks import Scaling, identity_scaling
from riffler.scorers import Rbf, RbfProjectron
from riffler.scorers.projectron import ProjectronScorer
from tests.naive.kernel_perceptron import NaiveProjectron

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)).astype(np.float32)
AMOUNTS = rng.normal(size=120)
PLAIN = Scaling(np.zeros(3), np.ones(3))


def grown(kernel: RbfProjectron, n_parts: int = 1) -> ProjectronScorer:
    scorer = kernel.start(X, PLAIN, seed=0)
    for some in np.array_split(np.arange(120), n_parts):
        scorer.add(X[some], AMOUNTS[some])
    return scorer


@given(eta=st.floats(0.05, 0.9), gamma=st.floats(0.1, 2), max_size=st.none() | st.integers(1, 30), n=st.integers(1, 30))
def test_blocks_of_rows_give_what_single_rows_give(eta: float, gamma: float, max_size: int | None, n: int) -> None:
    naive = NaiveProjectron(gamma, eta, max_size)
    for x, amount in zip(X[:n], AMOUNTS[:n].tolist(), strict=True):
        naive.add(x, amount)
    scorer = RbfProjectron(gamma, max_size, eta).start(X, PLAIN, seed=0)
    for some in np.array_split(np.arange(n), 3):
        scorer.add(X[some], AMOUNTS[some])
    assert scorer.n_support == len(naive.support)
    np.testing.assert_allclose(scorer.support.coefs, naive.coefs, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scorer.scores(X[:40]), naive.scores(X[:40]), atol=1e-4)


@pytest.mark.parametrize("n_parts", [1, 5])
def test_tolerance_0_without_limit_is_exact(n_parts: int) -> None:
    scorer = grown(RbfProjectron(gamma=2.0, max_size=None, tolerance=0.0), n_parts)
    exact = Rbf(2.0).start(X, PLAIN, seed=0)
    exact.add(X, AMOUNTS)
    assert scorer.n_support > 110
    np.testing.assert_allclose(scorer.scores(X), exact.scores(X), atol=1e-3)


def test_more_rows_than_fit_at_once() -> None:
    rows, amounts = rng.normal(size=(600, 3)), rng.normal(size=600)
    together, apart = (RbfProjectron(1.0, 200, 0.1).start(rows, identity_scaling(3), seed=0) for _ in range(2))
    together.add(rows, amounts)
    for some in np.array_split(np.arange(600), 11):
        apart.add(rows[some], amounts[some])
    assert together.n_support == apart.n_support == 200
    np.testing.assert_allclose(together.scores(rows), apart.scores(rows), atol=1e-3)


@pytest.mark.parametrize("max_size", [1, 10, 40])
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_the_size_is_never_exceeded(max_size: int, tolerance: float) -> None:
    assert grown(RbfProjectron(gamma=1.0, max_size=max_size, tolerance=tolerance), 4).n_support <= max_size


def test_a_row_that_comes_again_is_projected_on_itself() -> None:
    scorer = RbfProjectron(1.0, None, 0.0).start(X, PLAIN, seed=0)
    scorer.add(X[[0, 1, 0]], np.array([1.0, 2.0, 3.0]))
    scorer.add(X[[1]], np.array([-1.0]))
    np.testing.assert_allclose(scorer.support.coefs, [4.0, 1.0], atol=1e-9)


def test_a_full_set_projects_what_it_can() -> None:
    full = grown(RbfProjectron(gamma=0.3, max_size=60, tolerance=0.0))
    exact = Rbf(0.3).start(X, PLAIN, seed=0)
    exact.add(X, AMOUNTS)
    ignoring = Rbf(0.3).start(X, PLAIN, seed=0)
    ignoring.add(X[:60], AMOUNTS[:60])
    error, without = (np.abs(other.scores(X) - exact.scores(X)).mean() for other in (full, ignoring))
    assert error < 0.05 * without


def test_close_rows_do_not_break_the_factor() -> None:
    close = np.concatenate([X + 1e-4 * shift for shift in range(3)])
    scorer = RbfProjectron(1.0, None, 0.0).start(close, PLAIN, seed=0)
    exact = Rbf(1.0).start(close, PLAIN, seed=0)
    amounts = np.tile(AMOUNTS, 3)
    scorer.add(close, amounts)
    exact.add(close, amounts)
    assert scorer.n_support <= 150  # neighbours share a support vector
    np.testing.assert_allclose(scorer.scores(close), exact.scores(close), atol=5e-3)


def test_sparse_rows_are_projected_as_dense_ones() -> None:
    rows = np.where(rng.random((60, 10)) < 0.3, rng.normal(size=(60, 10)), 0)
    dense, csr = (
        RbfProjectron(0.2, 20, 0.2).start(kind, identity_scaling(10), seed=0)
        for kind in (rows, sparse.csr_matrix(rows))
    )
    dense.add(rows, AMOUNTS[:60])
    csr.add(sparse.csr_matrix(rows), AMOUNTS[:60])
    assert dense.n_support == csr.n_support
    np.testing.assert_allclose(csr.scores(sparse.csr_matrix(rows)), dense.scores(rows), atol=1e-4)
