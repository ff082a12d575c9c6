"""Support sets score as a double loop does, dense and sparse, and keep to their size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.features.blocks import Scaling, identity_scaling
from riffler.records import FloatArray
from riffler.scorers import Rbf, RbfRemoval
from riffler.scorers.rbf import row_keys
from tests.naive import kernel_perceptron as naive

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4)) * [1, 5, 0.2, 1] + 3
AMOUNTS = rng.normal(size=90)
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))
SCALED = (X - X.mean(axis=0)) / X.std(axis=0)


@given(n_support=st.integers(1, 40), n_rows=st.integers(1, 12), gamma=st.floats(0.01, 3), seed=st.integers(0, 99))
def test_scores_are_those_of_a_double_loop(n_support: int, n_rows: int, gamma: float, seed: int) -> None:
    draws = np.random.default_rng(seed)
    support, rows, amounts = (
        draws.normal(size=(n_support, 3)),
        draws.normal(size=(n_rows, 3)),
        draws.normal(size=n_support),
    )
    scorer = Rbf(gamma).start(support, identity_scaling(3), seed=0)
    scorer.add(support, amounts)
    scores = scorer.scores(rows)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, naive.rbf_scores(rows, support, amounts, gamma), atol=2e-5)


def test_no_rows_no_scores_and_no_support_scores_nothing() -> None:
    scorer = Rbf().start(X, SCALING, seed=0)
    assert scorer.scores(X[:0]).shape == (0,)
    np.testing.assert_array_equal(scorer.scores(X), 0.0)


def test_default_width_is_one_over_the_number_of_standardised_columns() -> None:
    assert Rbf().start(X, SCALING, seed=0).support.gamma == pytest.approx(1 / 4)
    same = Rbf().start(np.ones((5, 4)), identity_scaling(4), seed=0)
    assert same.support.gamma == 1.0  # rows that do not differ say nothing about a width


def test_default_width_is_the_same_for_sparse_rows() -> None:
    unshifted = Scaling(None, X.std(axis=0))
    dense, csr = (Rbf().start(rows, unshifted, seed=0).support.gamma for rows in (X, sparse.csr_matrix(X)))
    assert dense == pytest.approx(1 / 4)
    assert csr == pytest.approx(dense)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_score_as_dense_ones(dtype: type) -> None:
    rows: FloatArray = np.where(rng.random((700, 30)) < 0.2, rng.normal(size=(700, 30)), 0).astype(dtype)
    amounts = rng.normal(size=600)
    scaling = Scaling(None, rng.uniform(0.5, 2, size=30))
    dense, csr = (Rbf(0.1).start(kind, scaling, seed=0) for kind in (rows, sparse.csr_matrix(rows)))
    dense.add(rows[:600], amounts)
    csr.add(sparse.csr_matrix(rows[:600]), amounts)
    np.testing.assert_allclose(csr.scores(sparse.csr_matrix(rows)), dense.scores(rows), atol=2e-5)


def test_a_stream_may_change_between_dense_and_sparse() -> None:
    for first, second in ((X, sparse.csr_matrix(X)), (sparse.csr_matrix(X), X)):
        scaling = SCALING if isinstance(first, np.ndarray) else Scaling(None, SCALING.scale)
        one, mixed = (Rbf(0.25).start(first, scaling, seed=0) for _ in range(2))
        one.add(first, AMOUNTS)
        mixed.add(first[:50], AMOUNTS[:50])
        mixed.add(second[50:], AMOUNTS[50:])
        np.testing.assert_allclose(mixed.scores(first), one.scores(first), atol=1e-5)
        np.testing.assert_allclose(mixed.scores(second), one.scores(first), atol=1e-5)


def test_scores_do_not_depend_on_the_blocks_they_are_made_in() -> None:
    rows = rng.normal(size=(600, 4))
    scorer = Rbf().start(rows, identity_scaling(4), seed=0)
    scorer.add(rows, rng.normal(size=600))
    scores = scorer.scores(rows)
    np.testing.assert_array_equal(scorer.scores(rows), scores)
    in_parts = np.concatenate([scorer.scores(part) for part in np.array_split(rows, 7)])
    np.testing.assert_allclose(in_parts, scores, atol=1e-5)
    order = rng.permutation(600)
    np.testing.assert_allclose(scorer.scores(rows[order]), scores[order], atol=1e-5)


@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_a_shift_of_the_columns_costs_no_digits(shift: float) -> None:
    scorer = Rbf(0.25).start(SCALED + shift, identity_scaling(4), seed=0)
    scorer.add(SCALED + shift, AMOUNTS)
    expected = naive.rbf_scores(SCALED[:5], SCALED, AMOUNTS, 0.25)
    np.testing.assert_allclose(scorer.scores(SCALED[:5] + shift), expected, atol=2e-5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_row_that_comes_again_adds_to_its_coefficient(make: type) -> None:
    scaling = Scaling(None, np.ones(4))
    scorer = Rbf(0.25).start(make(X), scaling, seed=0)
    scorer.add(make(X[[0, 1, 0]]), np.array([1.0, 2.0, 3.0]))
    scorer.add(make(X[[2, 1]]), np.array([5.0, -1.0]))
    assert scorer.n_support == 3
    np.testing.assert_allclose(scorer.support.coefs, [4.0, 1.0, 5.0])
    assert len(set(row_keys(scorer.support.warp(make(X))))) == 90


def test_removal_keeps_the_largest_coefficients_and_of_equal_ones_the_newest() -> None:
    scorer = RbfRemoval(gamma=0.25, max_size=3).start(X, SCALING, seed=0)
    scorer.add(X[:5], np.array([1.0, -4.0, 2.0, 1.0, -1.0]))
    assert scorer.support.coefs.tolist() == [-4.0, 2.0, -1.0]
    scorer.add(X[[2, 7, 8]], np.array([-1.5, 1.0, 3.0]))  # row 2 is held, and is now the smallest
    assert scorer.support.coefs.tolist() == [-4.0, 1.0, 3.0]
    expected = naive.rbf_scores(SCALED, SCALED[[1, 7, 8]], np.array([-4.0, 1.0, 3.0]), 0.25)
    np.testing.assert_allclose(scorer.scores(X), expected, atol=2e-5)
    scorer.add(X[[8]], np.array([1.0]))  # its place moved
    assert scorer.support.coefs.tolist() == [-4.0, 1.0, 4.0]


@given(sizes=st.lists(st.integers(1, 30), max_size=6), max_size=st.integers(1, 25))
def test_removal_never_exceeds_its_size(sizes: list[int], max_size: int) -> None:
    scorer = RbfRemoval(max_size=max_size).start(X, SCALING, seed=0)
    for start, size in enumerate(sizes):
        scorer.add(X[start : start + size], np.ones(size))
        assert scorer.n_support <= max_size


def test_removal_with_room_for_all_is_exact() -> None:
    exact, roomy = Rbf().start(X, SCALING, seed=0), RbfRemoval(max_size=90).start(X, SCALING, seed=0)
    for some in np.array_split(np.arange(90), 4):
        exact.add(X[some], AMOUNTS[some])
        roomy.add(X[some], AMOUNTS[some])
    np.testing.assert_array_equal(roomy.scores(X), exact.scores(X))


def test_outliers_beyond_float32_precision_stay_bounded() -> None:
    far: FloatArray = np.vstack([X, np.full((1, 4), 1e9)])
    scorer = Rbf(1.0).start(X, SCALING, seed=0)
    scorer.add(far, np.ones(91))
    assert np.all((scorer.scores(far) >= 0) & (scorer.scores(far) <= 91))
