"""The active perceptron equals its plain loop under every sampler, balance and reading; with the walk, Perceptron@k."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler import ActivePerceptronAtK, ArrayOracle, InputError, PaperReadings, UnknownName
from riffler._fast import draws
from riffler.learners.active import first_scaling
from riffler.records import FloatArray, IntArray, Matrix
from riffler.scorers.linear import LinearScorer
from tests.naive.active_at_k import NaiveActive
from tests.naive.perceptron_at_k import NaivePerceptron

N, BATCH, K = 480, 80, 8

WEIGHTS: dict[str, Callable[[float], float] | None] = {
    "sequential": None,
    "exponential": lambda gap: math.exp(-gap / 0.3),
    "inverse": lambda gap: 1 / (1 + gap),
    "uniform": lambda gap: 1.0,
}
every_sampler = pytest.mark.parametrize("sampler", WEIGHTS)


def stream(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Rows of a rare class, some of whose labels nobody knows."""
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.25).astype(np.int8)
    X = rng.normal(size=(N, 4)) + 0.8 * y[:, None]
    y[rng.random(N) < 0.05] = -1
    return X, y


def weights_of(ranker: ActivePerceptronAtK) -> FloatArray:
    assert isinstance(ranker.scorer_, LinearScorer)
    return ranker.scorer_.weights


def compare(X: Matrix, y: IntArray, dense: FloatArray, **params: Any) -> None:  # noqa: ANN401 - parameters of the ranker
    """Step through the stream with the ranker and with the plain loop; both must do the same."""
    ranker, oracle = ActivePerceptronAtK(K, random_state=4, **params), ArrayOracle(y)
    slow = NaiveActive(
        np.zeros(dense.shape[1]),
        K,
        WEIGHTS[params.get("sampler", "exponential")],
        params.get("n_queries", "mistakes"),
        params.get("floor", 0.0),
        params.get("balance", "mean"),
        params.get("readings", PaperReadings()),
    )
    for number, start in enumerate(range(0, N, BATCH)):
        part = slice(start, start + BATCH)
        step = ranker.step(X[part], oracle)
        tie, draw = ranker._draws(range(start, start + BATCH), number)
        top, asked = slow.step(dense[part], y[part], tie, draw)
        assert step.predicted.tolist() == top
        assert step.asked.tolist() == list(asked)
        np.testing.assert_allclose(step.probability, list(asked.values()), rtol=2e-6)  # weights are single precision
        np.testing.assert_allclose(weights_of(ranker), slow.w, rtol=1e-5, atol=1e-5)
        told = [y[start + i] for i in top if y[start + i] >= 0]
        assert step.precision == pytest.approx(np.mean(told))


@every_sampler
@pytest.mark.parametrize("balance", ["none", "scale", "mean", "ipw"])
@pytest.mark.parametrize(
    "readings",
    [
        PaperReadings(),
        PaperReadings(growing=True),
        PaperReadings(any_label=True),
        PaperReadings(capped=False),
        PaperReadings(normalised=False),
        PaperReadings(growing=True, any_label=True, capped=False, normalised=False),
    ],
    ids=["sensible", "growing", "any label", "no cap", "unscaled", "all literal"],
)
def test_every_reading_equals_the_plain_loop(sampler: str, balance: str, readings: PaperReadings) -> None:
    X, y = stream()
    compare(X, y, X, sampler=sampler, balance=balance, readings=readings, scaling="none")


@every_sampler
@pytest.mark.parametrize("n_queries", ["mistakes", "k", 5, 2.5])
@pytest.mark.parametrize("floor", [0.0, 0.04])
def test_every_number_of_queries_equals_the_plain_loop(sampler: str, n_queries: Any, floor: float) -> None:  # noqa: ANN401 - name or number
    X, y = stream(1)
    compare(X, y, X, sampler=sampler, n_queries=n_queries, floor=floor, scaling="none")


@pytest.mark.parametrize("storage", ["dense", "csr", "float32"])
@pytest.mark.parametrize("scaling", ["standard", "center"])
def test_scaled_columns_equal_the_plain_loop_on_scaled_rows(storage: str, scaling: str) -> None:
    X, y = stream(2)
    X = np.round(X, 2) * 3 + 1
    X[np.abs(X) < 1] = 0.0
    X = X.astype(np.float32).astype(float)
    given: Matrix = (
        sparse.csr_matrix(X) if storage == "csr" else X.astype(np.float32 if storage == "float32" else float)
    )
    found = first_scaling(given[:BATCH], scaling)
    compare(given, y, (X - (0.0 if found.center is None else found.center)) / found.scale, scaling=scaling)


@pytest.mark.parametrize("scaling", ["standard", "none"])
def test_the_sequential_walk_equals_full_labels(scaling: str) -> None:
    X, y = stream(3)
    y = np.abs(y)
    params: dict[str, Any] = {"sampler": "sequential", "scaling": scaling, "random_state": 0}
    asking, told = (ActivePerceptronAtK(K, **params) for _ in range(2))
    for start in range(0, N, BATCH):
        part = slice(start, start + BATCH)
        step = asking.step(X[part], ArrayOracle(y[part]))
        told.partial_fit(X[part], y[part])
        np.testing.assert_array_equal(asking.decision_function(X), told.decision_function(X))
        assert step.n_asked <= BATCH
    assert asking.mistakes_ == told.mistakes_ > 0
    assert asking.n_updates_ == told.n_updates_ > 0


def test_full_labels_are_the_perceptron_at_k_max() -> None:
    X, y = stream(4)
    y = np.abs(y)
    ranker = ActivePerceptronAtK(K, scaling="none", random_state=0).partial_fit(X[:BATCH], y[:BATCH])
    slow = NaivePerceptron("max", "top", lambda step, row: draws.uniform(0, step, row), weights_of(ranker).copy())
    for start in range(BATCH, N, BATCH):
        part = slice(start, start + BATCH)
        assert y[part].sum() >= K
        ranker.partial_fit(X[part], y[part])
        slow.see(X[part], y[part], np.ones(BATCH), np.arange(BATCH), K)
        np.testing.assert_allclose(weights_of(ranker), slow.w, rtol=1e-5, atol=1e-5)
    assert slow.n_updates > 0


def test_a_sampler_of_ones_own() -> None:
    class Nothing:
        def sample(self, below: Any, ask: Any) -> float:  # noqa: ANN401 - as the protocol has it
            return 0.0

    X, y = stream()
    step = ActivePerceptronAtK(K, sampler=Nothing(), random_state=0).step(X, ArrayOracle(y))
    assert step.asked.tolist() == step.predicted.tolist()


def test_counting_with_and_without_the_top() -> None:
    X, y = stream()
    step = ActivePerceptronAtK(K, random_state=0).step(X, ArrayOracle(y))
    assert PaperReadings().n_counted(step) == step.n_asked
    assert PaperReadings(count_top=False).n_counted(step) == step.n_asked - K


def test_the_floor_is_what_the_step_says() -> None:
    X, y = stream()
    oracle, ranker = ArrayOracle(y), ActivePerceptronAtK(K, floor=0.05, random_state=0)
    steps = [ranker.step(X[start : start + BATCH], oracle) for start in range(0, N, BATCH)]
    assert all(step.floor >= 0.05 for step in steps)
    assert [one.floor for one in oracle.ledger.rounds] == [step.floor for step in steps]


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ({"sampler": "greedy"}, UnknownName, "No sampler called 'greedy'"),
        ({"kernel": "poly"}, UnknownName, "No kernel called 'poly'"),
        ({"balance": "half"}, UnknownName, "No balance called 'half'. Known: ipw, mean, none, scale"),
        ({"scaling": "robust"}, UnknownName, "No scaling called 'robust'"),
        ({"n_queries": "many"}, UnknownName, "No number of queries called 'many'. Known: k, mistakes"),
        ({"n_queries": -1}, InputError, "n_queries must be 'mistakes', 'k' or a number of at least 0, got -1"),
        ({"floor": 1.5}, InputError, "floor must be a probability from 0 to 1, got 1.5"),
        ({"k": 0.5}, InputError, "k must be a whole number of at least 1, got 0.5"),
    ],
)
def test_settings_that_make_no_sense(params: dict[str, Any], kind: type[Exception], said: str) -> None:
    X, y = stream()
    with pytest.raises(kind, match=said):
        ActivePerceptronAtK(**params).step(X, ArrayOracle(y))
    with pytest.raises(kind, match=said):
        ActivePerceptronAtK(**params).partial_fit(X, np.abs(y))
