"""The online perceptrons equal the plain loops of their papers, dense and sparse, and keep their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron

from riffler import ArrayOracle, InputError
from riffler.features.blocks import Scaling
from riffler.learners.active import first_scaling
from riffler.learners.modified_perceptron import ActiveModifiedPerceptron
from riffler.learners.online import OnlineRanker
from riffler.learners.selective_sampling import AdaptiveB, SelectiveSamplingPerceptron
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from tests.naive.online import NaiveModified, NaiveSelective

N, BATCH = 600, 150
storages = pytest.mark.parametrize("storage", ["dense", "csr", "float32"])
scalings = pytest.mark.parametrize("scaling", ["standard", "none"])


def stream(seed: int, storage: str) -> tuple[list[Matrix], IntArray]:
    """Rows of a rare class, a third of the values 0, some labels unknown."""
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.2).astype(np.int8)
    X = (rng.normal(size=(N, 4)) + 1.5 * y[:, None] + 1) * (rng.random((N, 4)) < 0.7)
    y[rng.random(N) < 0.05] = -1
    given: Matrix = (
        sparse.csr_matrix(X) if storage == "csr" else X.astype(np.float32 if storage == "float32" else float)
    )
    return [given[start : start + BATCH] for start in range(0, N, BATCH)], y


def with_constant(X: Matrix, scaling: Scaling) -> FloatArray:
    dense = X.toarray() if is_sparse(X) else X.astype(float)
    scaled = (dense - (0.0 if scaling.center is None else scaling.center)) / scaling.scale
    return np.column_stack([scaled, np.ones(len(dense))])


def draws_of(ranker: OnlineRanker, first: int, n_rows: int, number: int) -> FloatArray:
    draws: FloatArray = ranker._draws(range(first, first + n_rows), number)[1]
    return draws


def weights_of(ranker: OnlineRanker) -> FloatArray:
    return np.append(ranker.weights_.scorer.weights, ranker.weights_.bias)


@storages
@scalings
@pytest.mark.parametrize("b", [0.5, np.inf, AdaptiveB(0.05)], ids=["fixed", "infinite", "adaptive"])
def test_selective_sampling_equals_the_plain_loop(storage: str, scaling: str, b: float | AdaptiveB) -> None:
    batches, y = stream(0, storage)
    oracle, ranker = ArrayOracle(y), SelectiveSamplingPerceptron(5, b=b, scaling=scaling, random_state=3)
    fixed, beta = (None, b.beta) if isinstance(b, AdaptiveB) else (b, 0.0)
    slow, scale = NaiveSelective(np.zeros(5), fixed, beta), first_scaling(batches[0], scaling)
    for number, X in enumerate(batches):
        first = number * BATCH
        step = ranker.step(X, oracle)
        slow.asked = []
        labels = y[first : first + BATCH]
        slow.see(with_constant(X, scale), draws_of(ranker, first, BATCH, number), labels.tolist().__getitem__)
        assert step.asked.tolist() == [row for row, _ in slow.asked]
        np.testing.assert_allclose(step.probability, [chance for _, chance in slow.asked], rtol=1e-9)
        np.testing.assert_allclose(weights_of(ranker), slow.w, atol=1e-9)
        assert ranker.weights_.n_updates == slow.n_updates
    np.testing.assert_allclose(
        ranker.decision_function(batches[0]) - ranker.decision_function(batches[0])[0],
        (with_constant(batches[0], scale) - with_constant(batches[0], scale)[0]) @ slow.w,
        atol=1e-4 if storage == "float32" else 1e-9,
    )


@storages
@scalings
def test_the_modified_perceptron_equals_the_plain_loop(storage: str, scaling: str) -> None:
    batches, y = stream(1, storage)
    oracle, ranker = ArrayOracle(y), ActiveModifiedPerceptron(5, patience=4, scaling=scaling, random_state=3)
    slow = NaiveModified(np.zeros(5), threshold=1 / np.sqrt(5), patience=4)
    scale = first_scaling(batches[0], scaling)
    for number, X in enumerate(batches):
        first = number * BATCH
        step = ranker.step(X, oracle)
        slow.asked = []
        labels = y[first : first + BATCH]
        slow.see(with_constant(X, scale), labels.tolist().__getitem__)
        assert step.asked.tolist() == slow.asked
        np.testing.assert_allclose(weights_of(ranker), slow.w, atol=1e-9)
        assert ranker.weights_.threshold == slow.threshold
        assert step.floor == 0.0
    assert np.linalg.norm(weights_of(ranker)) == pytest.approx(1.0)
    assert slow.threshold < 1 / np.sqrt(5)


@pytest.mark.parametrize("passes", ["step", "partial_fit"])
def test_with_an_infinite_b_it_is_the_perceptron(passes: str) -> None:
    batches, y = stream(2, "dense")
    X, y = np.vstack(batches), np.abs(y)
    ranker = SelectiveSamplingPerceptron(5, b=np.inf, scaling="none", random_state=0)
    if passes == "step":
        assert ranker.step(X, ArrayOracle(y)).n_asked == N
    else:
        ranker.partial_fit(X, y)
    peer = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    np.testing.assert_allclose(weights_of(ranker), np.append(peer.coef_[0], peer.intercept_), atol=1e-9)


def test_known_labels_reflect_the_modified_perceptron_at_every_mistake() -> None:
    batches, y = stream(3, "csr")
    y = np.abs(y)
    ranker = ActiveModifiedPerceptron(5, scaling="standard", random_state=0)
    scale, w = first_scaling(batches[0], "standard"), np.zeros(5)
    for number, X in enumerate(batches):
        labels = y[number * BATCH : (number + 1) * BATCH]
        ranker.partial_fit(X, labels, classes=[0, 1])
        for row, sign in zip(with_constant(X, scale), 2.0 * labels - 1, strict=True):
            x = row / np.linalg.norm(row)
            if sign * (w @ x) <= 0:
                w = w - 2 * (w @ x) * x if w.any() else sign * x
        np.testing.assert_allclose(weights_of(ranker), w, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_an_adaptive_b_keeps_its_least_probability(seed: int) -> None:
    batches, y = stream(seed, "dense")
    oracle, ranker = ArrayOracle(y), SelectiveSamplingPerceptron(5, b=AdaptiveB(0.1), random_state=seed)
    steps = [ranker.step(X, oracle) for X in batches]
    assert {step.floor for step in steps} == {0.1 / 1.1}
    assert all(step.floor <= step.probability.min() for step in steps)


def test_an_adaptive_b_keeps_its_least_probability_after_large_rows_with_known_labels() -> None:
    batches, y = stream(0, "dense")
    ranker = SelectiveSamplingPerceptron(5, b=AdaptiveB(0.1), scaling="none", random_state=0)
    ranker.partial_fit(100 * batches[0], np.abs(y[:BATCH]))
    step = ranker.step(batches[1], ArrayOracle(y), items=range(BATCH, 2 * BATCH))
    assert step.n_asked > 0
    assert step.floor <= step.probability.min()


def test_a_fixed_b_promises_no_least_probability() -> None:
    """How small a chance gets depends on the draws of the same batch; bounds need what is known before them."""
    batches, y = stream(0, "dense")
    floors = {}
    for b in (1.0, np.inf):
        oracle, ranker = ArrayOracle(y), SelectiveSamplingPerceptron(5, b=b, random_state=0)
        floors[b] = [ranker.step(X, oracle).floor for X in batches]
    assert floors == {1.0: [0.0] * 4, np.inf: [1.0] * 4}


def test_the_share_asked_is_the_probability() -> None:
    """With relevant and irrelevant rows at one place and no mistakes to make, every margin is the same."""
    X = np.ones((20_000, 1))
    ranker = SelectiveSamplingPerceptron(5, b=1.0, scaling="none", random_state=0)
    ranker.partial_fit(X[:9], np.ones(9), classes=[0, 1])  # w = (1, 1): every margin is 2
    step = ranker.step(X, ArrayOracle(np.ones(20_000)))
    np.testing.assert_allclose(step.probability, 1 / 3)
    assert step.n_asked / 20_000 == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / 20_000))


def test_the_modified_perceptron_asks_ever_less_where_a_plane_parts_the_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5))
    y = (X @ np.array([1.0, -1.0, 0.5, 0.0, 2.0]) > 1).astype(int)
    oracle, ranker = ArrayOracle(y), ActiveModifiedPerceptron(20, patience=16, random_state=0)
    steps = [ranker.step(X[start : start + 3000], oracle) for start in range(0, 30_000, 3000)]
    assert steps[-1].n_asked < steps[0].n_asked / 4
    assert ranker.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("ranker", "said"),
    [
        (SelectiveSamplingPerceptron(b=0.0), "b must be a number above 0"),
        (SelectiveSamplingPerceptron(b="wide"), "b must be a number above 0"),  # type: ignore[arg-type]
        (SelectiveSamplingPerceptron(scaling="robust"), "No scaling called 'robust'"),
        (SelectiveSamplingPerceptron(k=0), "k must be a whole number"),
        (ActiveModifiedPerceptron(patience=0), "patience must be a whole number of at least 1, got 0"),
        (ActiveModifiedPerceptron(threshold=-1.0), "threshold must be above 0 or None, got -1.0"),
    ],
)
def test_settings_that_make_no_sense(ranker: Any, said: str) -> None:  # noqa: ANN401 - an estimator
    with pytest.raises(InputError, match=said):
        ranker.step(np.ones((9, 2)), ArrayOracle(np.ones(9)))
    with pytest.raises(InputError, match=said):
        ranker.fit(np.eye(4), [0, 1, 0, 1])


def test_beta_must_be_positive() -> None:
    with pytest.raises(InputError, match=r"beta must be above 0, got -0\.5"):
        AdaptiveB(-0.5)
