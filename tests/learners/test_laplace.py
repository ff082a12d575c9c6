"""The posterior of a logistic regression: mode, width and draws; penalties are found, and few labels do no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression

from riffler.learners.laplace import (
    INTERCEPT_PRECISION,
    LEAST_PRECISION,
    MOST_PRECISION,
    LaplaceLogistic,
    Posterior,
    probability_of,
)
from riffler.records import FloatArray, IntArray
from tests.naive.laplace import hessian, loss

GROUPS = np.array([0, 0, 0, 1, 1])


def problem(n: int = 300, seed: int = 0) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, len(GROUPS)))
    labels = (rng.random(n) < special.expit(Z @ [1.5, -1.0, 0.5, 0.0, 0.2] - 1.0)).astype(np.int8)
    return Z, labels


def settled(Z: FloatArray, labels: IntArray, groups: IntArray = GROUPS) -> tuple[Posterior, FloatArray]:
    """Refit until the penalties stand still; return the posterior, and the penalties of all weights."""
    model = LaplaceLogistic(groups)
    for _ in range(60):
        posterior = model.fit(Z, labels)
    return posterior, np.append(posterior.precisions[groups], INTERCEPT_PRECISION)


@pytest.mark.parametrize("n", [20, 300, 3000])
def test_the_mode_is_that_of_scikit_learn(n: int) -> None:
    Z, labels = problem(n)
    posterior, penalty = settled(Z, labels)
    # scikit-learn has one penalty: columns over the root of their own stand for weights times it
    root = np.sqrt(penalty)
    rows = np.column_stack([Z, np.ones(n)]) / root
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(rows, labels)
    found, theirs = posterior.mean, peer.coef_.ravel() / root
    assert loss(found, Z, labels, penalty) <= loss(theirs, Z, labels, penalty) * (1 + 1e-6)
    in_spreads = np.linalg.norm(np.linalg.solve(posterior.spread, found - theirs))
    assert in_spreads <= 1.1e-3 * np.sqrt(loss(found, Z, labels, penalty))  # a small part of what is not known anyway
    np.testing.assert_allclose(found, theirs, atol=5e-3)


def test_the_spread_is_the_inverse_of_the_second_derivatives() -> None:
    Z, labels = problem(200)
    posterior, penalty = settled(Z, labels)
    covariance = np.linalg.inv(hessian(posterior.mean, Z, labels, penalty))
    np.testing.assert_allclose(posterior.spread @ posterior.spread.T, covariance, rtol=1e-3, atol=1e-5)
    assert np.array_equal(posterior.spread, np.triu(posterior.spread))
    rows = np.column_stack([Z, np.ones(len(Z))])
    np.testing.assert_allclose(posterior.variances(Z), np.diag(rows @ covariance @ rows.T), rtol=1e-3)
    np.testing.assert_allclose(posterior.scores(Z), rows @ posterior.mean, rtol=1e-10)


def test_draws_have_the_mean_and_the_covariance_of_the_posterior() -> None:
    Z, labels = problem(100)
    posterior = LaplaceLogistic(GROUPS).fit(Z, labels)
    n_draws = 40_000
    draws = posterior.draws(Z[:6], n_draws, np.random.default_rng(0))
    assert draws.shape == (6, n_draws)
    rows = np.column_stack([Z[:6], np.ones(6)]) @ posterior.spread
    covariance = rows @ rows.T
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((draws.mean(axis=1) - posterior.scores(Z[:6])) / sd, 0.0, atol=4 / np.sqrt(n_draws))
    np.testing.assert_allclose(np.cov(draws) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.03)


def test_the_moderated_logit_is_that_of_the_mean_chance() -> None:
    Z, labels = problem(25)  # few labels: the posterior is wide
    posterior = LaplaceLogistic(GROUPS).fit(Z, labels)
    means, widths = posterior.scores(Z), np.sqrt(posterior.variances(Z))
    assert widths.max() > 1
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    chances = probability_of(means[:, None] + widths[:, None] * points) @ weights / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(probability_of(posterior.moderated(Z)), chances, atol=0.02)
    single = posterior.moderated(Z.astype(np.float32))
    np.testing.assert_allclose(single, posterior.moderated(Z), atol=1e-4)
    assert single.dtype == np.float64


def test_a_group_that_does_not_help_is_switched_off_and_one_that_helps_is_kept() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], [5, 60])
    Z = rng.normal(size=(600, 65))
    labels = (rng.random(600) < special.expit(Z[:, :5] @ [2, -2, 1.5, 1, -1.5])).astype(np.int8)
    posterior, _ = settled(Z, labels, groups)
    assert posterior.precisions[0] < 1.5
    assert posterior.precisions[1] > 20 * posterior.precisions[0]
    assert np.abs(posterior.mean[:5]).min() > 3 * np.abs(posterior.mean[5:-1]).max()
    together, _ = settled(Z, labels, np.zeros(65, dtype=int))
    fresh = rng.normal(size=(2000, 65))
    truth = fresh[:, :5] @ [2, -2, 1.5, 1, -1.5]
    right = [np.corrcoef(each.scores(fresh), truth)[0, 1] for each in (posterior, together)]
    assert right[0] > right[1]


def test_a_second_fit_on_the_same_labels_goes_on_from_the_first() -> None:
    Z, labels = problem()
    model = LaplaceLogistic(GROUPS)
    first = model.fit(Z, labels)
    kept = first.mean.copy(), first.precisions.copy()
    second, third = model.fit(Z, labels), settled(Z, labels)[0]
    assert np.abs(second.precisions - third.precisions).max() < np.abs(kept[1] - third.precisions).max()
    np.testing.assert_array_equal(first.mean, kept[0])  # what was handed out does not change
    np.testing.assert_array_equal(first.precisions, kept[1])


HARD: dict[str, tuple[Any, Any]] = {
    "one of each": ([[1.0, 0], [-1, 0]], [1, 0]),
    "one of each, alike": ([[1.0, 1], [1, 1]], [1, 0]),
    "separable": ([[0.1 * i, 1e-3 * i] for i in range(-50, 50)], [int(i > 0) for i in range(-50, 50)]),
    "separable, far apart": ([[1e4 * i, i] for i in range(-5, 5)], [int(i > 0) for i in range(-5, 5)]),
    "one among many": ([[0.01 * i, np.sin(i)] for i in range(3000)], [int(i == 1234) for i in range(3000)]),
    "nothing in the columns": ([[0.0, 0]] * 10, [1, 0] * 5),
    "only one class": ([[1.0, 0], [2, 0]], [1, 1]),
    "columns that are one": ([[0.1 * i, 0.1 * i] for i in range(-50, 50)], [int(i % 3 == 0) for i in range(-50, 50)]),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hard_cases_stay_finite(name: str, dtype: type) -> None:
    Z: FloatArray = np.array(HARD[name][0], dtype=dtype)
    labels = np.array(HARD[name][1], dtype=np.int8)
    model = LaplaceLogistic(np.array([0, 1]))
    for _ in range(20):
        posterior = model.fit(Z, labels)
    for values in (posterior.mean, posterior.spread, posterior.draws(Z, 8, np.random.default_rng(0))):
        assert np.isfinite(values).all()
    assert (posterior.variances(Z) > 0).all()
    assert ((posterior.precisions >= LEAST_PRECISION) & (posterior.precisions <= MOST_PRECISION)).all()
    if name.startswith("separable"):
        assert np.mean((posterior.scores(Z) > 0) == labels) >= 0.9


def test_a_row_that_counts_thrice_is_a_row_three_times() -> None:
    Z, labels = problem(80)
    times = np.arange(80) % 4
    weighted = LaplaceLogistic(GROUPS).fit(Z, labels, times.astype(float))
    repeated = LaplaceLogistic(GROUPS).fit(np.repeat(Z, times, axis=0), np.repeat(labels, times))
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-8)
    np.testing.assert_allclose(weighted.spread, repeated.spread, atol=1e-8)
    np.testing.assert_allclose(weighted.precisions, repeated.precisions, rtol=1e-8)


def test_single_precision_gives_nearly_the_same() -> None:
    Z, labels = problem()
    one = LaplaceLogistic(GROUPS).fit(Z.astype(np.float32).astype(float), labels)
    two = LaplaceLogistic(GROUPS).fit(Z.astype(np.float32), labels)
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-5)
    np.testing.assert_allclose(two.spread, one.spread, atol=1e-5)
    assert two.mean.dtype == two.spread.dtype == np.float64


def test_probabilities_of_any_logit() -> None:
    logits = np.array([-1e300, -800, -3, 0, 0.5, 30, 800, np.inf, -np.inf])
    np.testing.assert_allclose(probability_of(logits), special.expit(logits), atol=1e-15)
