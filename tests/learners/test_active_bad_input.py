"""Active rankers say what is wrong, keep their state, and go on with what is right."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from riffler import AnswerError, ArrayOracle, CallableOracle, FeatureMismatch, InputError, KClippedWarning, LabelError
from riffler.learners import ACTIVE_RANKERS
from riffler.ledger import UNKNOWN
from tests.contracts.active_streams import BATCH, K, N, ranker, stream, walked

X, y = stream()

every_ranker = pytest.mark.parametrize("name", ACTIVE_RANKERS)


def stepped(name: str) -> tuple[Any, ArrayOracle]:
    """Give a ranker that has seen one batch, and its oracle."""
    learner, oracle = ranker(name), ArrayOracle(y)
    learner.step(X[:BATCH], oracle)
    return learner, oracle


@every_ranker
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_other_columns(name: str, storage: str) -> None:
    learner, oracle = stepped(name)
    before, n_asked = pickle.dumps(learner), oracle.n_asked
    other = X[BATCH : 2 * BATCH, :3]
    with pytest.raises(FeatureMismatch, match=r"X has 3 features.*4 features"):
        learner.step(other if storage == "dense" else sparse.csr_matrix(other), oracle)
    assert pickle.dumps(learner) == before
    assert oracle.n_asked == n_asked
    assert oracle.n_offered == BATCH


@every_ranker
@pytest.mark.parametrize("n_rows", [1, K - 1])
def test_fewer_rows_than_k_are_all_predicted(name: str, n_rows: int) -> None:
    learner, oracle = stepped(name)
    with pytest.warns(KClippedWarning, match=rf"k=10 asks for more than the {n_rows} rows of this batch"):
        step = learner.step(X[BATCH : BATCH + n_rows], oracle)
    assert sorted(step.predicted.tolist()) == list(range(n_rows))
    fresh = ranker(name)
    with pytest.warns(KClippedWarning):
        fresh.step(X[:n_rows], ArrayOracle(y))
    assert np.isfinite(fresh.decision_function(X)).all()


@every_ranker
@pytest.mark.parametrize("label", [0, 1, UNKNOWN], ids=["all irrelevant", "all relevant", "all unknown"])
def test_one_answer_to_everything(name: str, label: int) -> None:
    learner, oracle = ranker(name), ArrayOracle(np.full(N, label))
    steps = walked(learner, X, oracle)
    assert all(len(step.predicted) == K for step in steps)
    assert set(oracle.ledger.answers().tolist()) == {label}
    scores = learner.decision_function(X)
    assert np.isfinite(scores).all()
    if label == UNKNOWN:  # teaches nothing
        assert np.ptp(scores) == 0


@every_ranker
@pytest.mark.parametrize("strange", [2, "maybe", 0.3])
def test_a_strange_answer_changes_nothing_and_can_be_corrected(name: str, strange: object) -> None:
    learner, expected = ranker(name), ranker(name)
    answers: dict[Any, object] = dict(enumerate(y.tolist()))
    oracle = CallableOracle(answers.__getitem__)
    first = learner.step(X[:BATCH], oracle)
    expected.step(X[:BATCH], ArrayOracle(y))
    before = pickle.dumps(learner)
    for item in range(BATCH, 2 * BATCH):
        answers[item] = strange
    with pytest.raises(AnswerError, match="Correct it and step again"):
        learner.step(X[BATCH : 2 * BATCH], oracle)
    assert pickle.dumps(learner) == before
    answers.update(enumerate(y.tolist()))
    again = learner.step(X[BATCH : 2 * BATCH], oracle)
    assert oracle.n_asked == first.n_asked + again.n_asked
    expected.step(X[BATCH : 2 * BATCH], ArrayOracle(y), items=range(BATCH, 2 * BATCH))
    np.testing.assert_array_equal(learner.decision_function(X), expected.decision_function(X))


@every_ranker
def test_a_budget_of_nothing_predicts_and_asks_nothing(name: str) -> None:
    learner, oracle = ranker(name), ArrayOracle(y, budget=0)
    steps = walked(learner, X, oracle)
    assert oracle.n_asked == len(oracle.ledger) == 0
    assert all(len(step.predicted) == K and step.n_asked == 0 and step.cut for step in steps)
    assert all(np.isnan(step.precision) and step.floor == 0 for step in steps)
    # nothing is known, so nobody is preferred: the tops are random, not the first rows
    assert all(step.predicted.max() > K for step in steps)


@every_ranker
def test_a_stream_that_ends_at_once(name: str) -> None:
    learner, oracle = ranker(name), ArrayOracle(y)
    for method in (learner.decision_function, learner.predict):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        learner.score(X, y)
    for empty in (X[:0], sparse.csr_matrix(X[:0])):
        with pytest.raises(InputError, match=r"0 sample"):
            learner.step(empty, oracle)
    assert oracle.n_asked == oracle.n_offered == 0
    learner.step(X[:BATCH], oracle)
    with pytest.raises(InputError, match=r"0 sample"):
        learner.step(X[:0], oracle)
    assert oracle.ledger.rounds[-1].number == 0


@every_ranker
def test_a_first_batch_that_failed_may_have_other_columns_next_time(name: str) -> None:
    def broken(item: object) -> int:
        raise ConnectionError

    learner = ranker(name)
    with pytest.raises(ConnectionError):
        learner.step(X[:BATCH, :2], CallableOracle(broken))
    with pytest.raises(NotFittedError):
        learner.decision_function(X)
    learner.step(X[:BATCH], ArrayOracle(y))
    assert learner.n_features_in_ == 4


@every_ranker
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite(name: str, bad: float) -> None:
    learner, oracle = stepped(name)
    broken = X[:BATCH].copy()
    broken[17, 2] = bad
    with pytest.raises(InputError, match=rf"X holds {bad} in row 17, column 2"):
        learner.step(broken, oracle)


@every_ranker
@pytest.mark.parametrize("k", [0, -1, 0.5, True, "a", None])
def test_k_is_a_number_of_rows(name: str, k: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match="k must be a whole number of at least 1, got"):
        ranker(name, k=k).step(X, ArrayOracle(y))


@every_ranker
def test_names_that_do_not_fit(name: str) -> None:
    learner, oracle = stepped(name)
    with pytest.raises(InputError, match="got 3 names for 150 rows"):
        learner.step(X[:BATCH], oracle, items=[1, 2, 3])
    with pytest.raises(InputError, match="names a row twice"):
        learner.step(X[:BATCH], oracle, items=[0] * BATCH)
    with pytest.raises(InputError, match="y has 600 labels, numbered from 0"):
        learner.step(X[:BATCH], oracle, items=range(N, N + BATCH))


@every_ranker
@pytest.mark.parametrize("labels", [np.zeros(BATCH), np.arange(BATCH) % 3], ids=["one class", "three classes"])
def test_known_labels_that_are_not_two_classes(name: str, labels: Any) -> None:  # noqa: ANN401 - labels of any kind
    for learn in (ranker(name).fit, ranker(name).partial_fit):
        with pytest.raises(LabelError):
            learn(X[:BATCH], labels)


@every_ranker
def test_batches_may_differ_in_size(name: str) -> None:
    learner, oracle = ranker(name), ArrayOracle(y)
    sizes = [200, 17, 300, 83]
    for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
        learner.step(X[start : start + size], oracle)
    assert [one.n_rows for one in oracle.ledger.rounds] == sizes
