"""Importance-weighted active learning: its weights are unbiased, its committee asks where it disagrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from riffler import ArrayOracle, InputError
from riffler.learners.importance_weighted import ImportanceWeightedActive

N, BATCH = 3000, 1000


def data(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.15).astype(int)
    X = (rng.normal(size=(N, 3)) + y[:, None]) * (rng.random((N, 3)) < 0.7)
    return X, y


def stepped(X: Any, y: Any, **params: Any) -> tuple[ImportanceWeightedActive, ArrayOracle, list[Any]]:  # noqa: ANN401 - dense or CSR
    ranker, oracle = ImportanceWeightedActive(10, n_initial=100, random_state=1, **params), ArrayOracle(y)
    return ranker, oracle, [ranker.step(X[start : start + BATCH], oracle) for start in range(0, N, BATCH)]


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_the_ranking_is_the_weighted_logistic_regression_of_the_ledger(storage: str) -> None:
    X, y = data()
    given = X if storage == "dense" else sparse.csr_matrix(X)
    ranker, oracle, _ = stepped(given, y, scaling="none")
    items = [entry.item for entry in oracle.ledger]
    weight = 1 / oracle.ledger.probabilities()
    peer = LogisticRegression(max_iter=1000).fit(
        X[items], oracle.ledger.answers(), sample_weight=weight * len(items) / weight.sum()
    )
    np.testing.assert_allclose(np.diff(ranker.decision_function(given)), np.diff(peer.decision_function(X)), atol=1e-3)
    assert ranker.n_bought_ == len(items)


def test_probabilities_are_the_range_of_the_committee_above_the_floor() -> None:
    X, y = data()
    ranker, oracle = ImportanceWeightedActive(10, p_min=0.05, n_initial=100, random_state=1), ArrayOracle(y)
    start = ranker.step(X[:BATCH], oracle)
    assert set(start.probability) == {0.1}
    assert start.floor == 0.1
    committee = ranker._committee
    assert committee is not None
    scale = ranker._scaling
    members = expit(((X[BATCH:] - scale.center) / scale.scale) @ committee.weights[:, 1:] + committee.intercepts[1:])
    expected = 0.05 + 0.95 * np.ptp(members, axis=1)
    step = ranker.step(X[BATCH:], oracle)
    np.testing.assert_allclose(step.probability, expected[step.asked], atol=1e-12)
    assert step.floor == pytest.approx(expected.min())
    draws = ranker._draws(range(BATCH, N), 1)[1]
    assert step.asked.tolist() == np.flatnonzero(draws < expected).tolist()


def test_over_many_draws_the_weighted_number_of_positives_is_the_true_one() -> None:
    X, y = data()
    totals = []
    for seed in range(60):
        ranker, oracle = ImportanceWeightedActive(10, n_initial=100, n_members=3, random_state=seed), ArrayOracle(y)
        for start in range(0, N, BATCH):
            ranker.step(X[start : start + BATCH], oracle)
        totals.append(float(np.sum(oracle.ledger.answers() / oracle.ledger.probabilities())))
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - y.sum()) < 3 * error


def test_it_keeps_sampling_at_random_until_both_classes_are_known() -> None:
    X, y = data()
    y[:BATCH] = 0
    ranker, oracle, steps = stepped(X, y)
    assert steps[1].floor == steps[0].floor == 0.1
    assert steps[2].floor < 0.1
    assert oracle.n_asked == ranker.n_bought_


def test_known_labels_weigh_one() -> None:
    X, y = data()
    whole = ImportanceWeightedActive(10, scaling="none", random_state=0).fit(X, y)
    parts = ImportanceWeightedActive(10, scaling="none", random_state=0)
    for start in range(0, N, BATCH):
        parts.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    peer = LogisticRegression(max_iter=1000).fit(X, y).decision_function(X)
    for fitted in (whole, parts):
        np.testing.assert_allclose(np.diff(fitted.decision_function(X)), np.diff(peer), atol=1e-6)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"p_min": 0.0}, r"p_min must be a probability above 0, got 0\.0"),
        ({"n_members": 1}, "n_members must be at least 2, got 1"),
        ({"n_initial": 0}, "n_initial must be at least 1, got 0"),
        ({"C": -1.0}, r"C must be above 0, got -1\.0"),
        ({"scaling": "robust"}, "No scaling called 'robust'"),
    ],
)
def test_settings_that_make_no_sense(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ImportanceWeightedActive(10, **params).step(np.ones((20, 2)), ArrayOracle(np.ones(20)))


@pytest.mark.parametrize("first", ["dense", "csr"])
def test_batches_may_be_stored_otherwise_than_the_first(first: str) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 3)) + 2 * y[:, None] + 5
    kinds: dict[str, Any] = {"dense": np.asarray, "csr": sparse.csr_matrix}
    scores = []
    for second in kinds:
        learner, oracle = ImportanceWeightedActive(k=10, n_initial=50, random_state=0), ArrayOracle(y)
        learner.step(kinds[first](X[:200]), oracle)
        learner.step(kinds[second](X[200:]), oracle)
        scores.append(learner.decision_function(X))
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-3)
