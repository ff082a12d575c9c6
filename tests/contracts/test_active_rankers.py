"""What every active ranker keeps: scikit-learn's checks with known labels, and the same manners of a step."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from riffler import ArrayOracle, CallableOracle
from riffler.learners import ACTIVE_RANKERS, active_ranker_from_name
from riffler.records import Matrix
from tests.contracts.active_streams import BATCH, K, batches, ranker, stream, walked

EXPECTED_FAILURES = {
    "ActivePerceptronAtK": {
        "check_parameters_default_constructible": (
            "readings is a frozen record; scikit-learn allows only plain values as defaults, lest they be changed"
        ),
    }
}


def every_ranker() -> list[Any]:
    return [active_ranker_from_name(name, k=5) for name in ACTIVE_RANKERS]


def expected_failures(ranker: Any) -> dict[str, str]:  # noqa: ANN401 - an estimator
    return EXPECTED_FAILURES.get(type(ranker).__name__, {})


@parametrize_with_checks(every_ranker(), expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:  # noqa: ANN401 - an estimator
    check(estimator)


every_name = pytest.mark.parametrize("name", ACTIVE_RANKERS)
INDEPENDENT_OF_ORDER = [
    name for name in ACTIVE_RANKERS if name not in ("selective-sampling", "active-modified-perceptron")
]
"""The online perceptrons learn row by row: to them the order of rows is part of the data."""

SINGLE = ("active-top-k",)
"""These compute features in single precision, where sums in another order differ sooner."""


@every_name
def test_a_step_says_what_happened(name: str) -> None:
    X, y = stream()
    oracle, learner = ArrayOracle(y), ranker(name)
    for number, batch in enumerate(batches(X)):
        scores = learner.decision_function(batch) if number else np.zeros(len(batch))
        step = learner.step(batch, oracle)
        labels = y[number * BATCH : (number + 1) * BATCH]
        assert step.round == number
        assert len(set(step.predicted.tolist())) == K
        assert scores[step.predicted].min() >= np.sort(scores)[-K]
        assert (np.diff(scores[step.predicted]) <= 0).all()
        assert len(set(step.asked.tolist())) == step.n_asked
        np.testing.assert_array_equal(step.answers, labels[step.asked])
        assert ((step.probability > 0) & (step.probability <= 1)).all()
        assert 0 <= step.floor <= min([1.0, *step.probability])
        in_top = np.isin(step.asked, step.predicted)
        assert step.precision == pytest.approx(step.answers[in_top].mean(), nan_ok=True) if in_top.any() else True
    assert [one.n_rows for one in oracle.ledger.rounds] == [BATCH] * len(batches(X))
    assert learner.n_rounds_ == len(batches(X))


@every_name
def test_most_of_the_top_is_relevant_after_some_batches(name: str) -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(6000) < 0.1).astype(int)
    X = rng.normal(size=(6000, 5)) + 2 * y[:, None]  # well apart: the modified perceptron is made for that
    oracle, learner = ArrayOracle(y), ranker(name)
    for start in range(0, 5000, 1000):
        learner.step(X[start : start + 1000], oracle)
    assert learner.score(X[5000:], y[5000:]) >= 0.8
    assert oracle.n_asked < 4000


@every_name
@pytest.mark.parametrize("storage", ["csr", "float32"])
def test_storage_is_nothing(name: str, storage: str) -> None:
    X, y = stream()
    X = X.astype(np.float32).astype(float)
    given: Matrix = sparse.csr_matrix(X) if storage == "csr" else X.astype(np.float32)
    dense, other = ranker(name, scaling="none"), ranker(name, scaling="none")
    one, two = walked(dense, X, ArrayOracle(y)), walked(other, given, ArrayOracle(y))
    # solvers of single precision may stop a little elsewhere: the labels bought must nearly be the same
    bought = [{(step.round, row) for step in steps for row in step.asked.tolist()} for steps in (one, two)]
    assert len(bought[0] & bought[1]) >= 0.9 * len(bought[0] | bought[1])
    scores = other.decision_function(given)
    assert scores.dtype == given.dtype
    assert np.corrcoef(scores, dense.decision_function(X))[0, 1] > 0.99


@pytest.mark.parametrize("name", INDEPENDENT_OF_ORDER)
@pytest.mark.parametrize("sampler", ["exponential", "inverse", "sequential", "uniform"])
def test_the_order_of_rows_in_a_batch_is_nothing(name: str, sampler: str) -> None:
    X, y = stream()
    answers = {f"item {row}": int(label) for row, label in enumerate(y)}
    plain, mixed = ranker(name, sampler=sampler), ranker(name, sampler=sampler)
    oracles = CallableOracle(answers.__getitem__), CallableOracle(answers.__getitem__)  # type: ignore[arg-type]
    rng = np.random.default_rng(5)
    for start in range(0, len(y), BATCH):
        rows = np.arange(start, start + BATCH)
        one = plain.step(X[rows], oracles[0], items=[f"item {row}" for row in rows])
        moved = rng.permutation(rows)
        two = mixed.step(X[moved], oracles[1], items=[f"item {row}" for row in moved])
        assert rows[one.predicted].tolist() == moved[two.predicted].tolist()
        assert set(rows[one.asked].tolist()) == set(moved[two.asked].tolist())
    scores = plain.decision_function(X)
    tolerance = 1e-6 if name in SINGLE else 1e-9
    np.testing.assert_allclose(mixed.decision_function(X), scores, atol=tolerance * np.abs(scores).max())


@every_name
def test_pickled_between_batches_it_goes_on_the_same(name: str) -> None:
    X, y = stream()
    straight, broken = ranker(name), ranker(name)
    walked(straight, X, ArrayOracle(y))
    oracle = ArrayOracle(y)
    for batch in batches(X):
        broken = pickle.loads(pickle.dumps(broken))
        broken.step(batch, oracle)
    np.testing.assert_array_equal(broken.decision_function(X), straight.decision_function(X))


@every_name
def test_the_array_of_a_batch_may_be_used_again(name: str) -> None:
    X, y = stream()
    fresh, reused = ranker(name), ranker(name)
    walked(fresh, X, ArrayOracle(y))
    oracle, buffer = ArrayOracle(y), np.empty((BATCH, X.shape[1]))
    for batch in batches(X):
        buffer[:] = batch
        reused.step(buffer, oracle)
        buffer[:] = -7.0
    np.testing.assert_array_equal(reused.decision_function(X), fresh.decision_function(X))


@every_name
def test_a_stream_may_go_on_with_known_labels_and_back(name: str) -> None:
    X, y = stream()
    learner, oracle = ranker(name), ArrayOracle(y)
    learner.partial_fit(X[:BATCH], y[:BATCH])
    learner.step(X[BATCH : 2 * BATCH], oracle, items=range(BATCH, 2 * BATCH))
    learner.partial_fit(X[2 * BATCH :], y[2 * BATCH :])
    assert learner.n_rounds_ == 3
    assert np.ptp(learner.decision_function(X)) > 0
