"""The compiled epochs equal loops that keep the weights and the sum of the iterates plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast import draws, epochs
from riffler._fast.rows import as_rows
from riffler.losses import SURROGATES, surrogate_from
from riffler.records import FloatArray
from tests.naive.perceptron_at_k import NaivePerceptron
from tests.naive.sgd_at_k import NaiveSGD
from tests.strategies import Problem, small_problems

STORAGES = ["dense", "csr"]


def rows_of(problem: Problem, storage: str) -> Any:  # noqa: ANN401 - a compiled named tuple
    return as_rows(problem.X if storage == "dense" else problem.csr)


class CompiledSGD:
    """The compiled epoch with its memory."""

    def __init__(self, name: str, first: float, decay: float, radius: float, n_columns: int) -> None:
        self.rule = epochs.SgdRule(surrogate_from(name).code, first, decay, radius)  # type: ignore[attr-defined]
        self.state = epochs.new_state()
        self.v, self.z, self.total = (np.zeros(n_columns) for _ in range(3))

    def epoch(self, problem: Problem, k: float, storage: str = "dense") -> None:
        share, amount = (k, 0.0) if isinstance(k, float) else (0.0, float(k))
        batches = problem.order, problem.starts, problem.stops
        memory = self.v, self.z, self.total, self.state
        rows = rows_of(problem, storage)
        epochs.sgd_epoch(rows, problem.labels, problem.weight, *batches, amount, share, self.rule, *memory)

    @property
    def w(self) -> FloatArray:
        scaled: FloatArray = self.state[epochs.SCALE] * self.v
        return scaled

    @property
    def sum(self) -> FloatArray:
        summed: FloatArray = self.total + self.state[epochs.SCALE_SUM] * self.v - self.z
        return summed


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", SURROGATES)
@given(
    problem=small_problems(),
    k=st.one_of(st.integers(1, 4), st.floats(0.1, 1.0)),
    decay=st.sampled_from([0.0, 0.3]),
    radius=st.sampled_from([np.inf, 0.4]),
    n_epochs=st.integers(1, 3),
)
def test_sgd_epoch_equals_the_plain_loop(
    name: str, storage: str, problem: Problem, k: float, decay: float, radius: float, n_epochs: int
) -> None:
    fast = CompiledSGD(name, 0.5, decay, radius, problem.X.shape[1])
    slow = NaiveSGD(name, 0.5, decay, radius, np.zeros(problem.X.shape[1]))
    for _ in range(n_epochs):
        fast.epoch(problem, k, storage)
        slow.see_all(problem.X, problem.labels, problem.weight, problem.batches, k)
    assert fast.state[epochs.N_STEPS] == len(slow.iterates)
    np.testing.assert_allclose(fast.w, slow.w, atol=1e-9)
    np.testing.assert_allclose(fast.sum, np.sum(slow.iterates, axis=0) + 0 * slow.w, atol=1e-9)
    assert fast.state[epochs.LOSS_SUM] == pytest.approx(sum(slow.losses), abs=1e-8)


def test_strong_decay_leaves_the_ball_and_the_average_right() -> None:
    """The scale falls below its floor and is folded into the weights several times on the way."""
    rng = np.random.default_rng(0)
    n = 400
    X, labels = rng.normal(size=(n, 3)), (np.arange(n) % 2).astype(np.int8)
    cuts = np.arange(0, n, 4)
    problem = Problem(X, labels, np.ones(n), np.arange(n, dtype=np.int32), cuts, cuts + 4)
    fast, slow = CompiledSGD("avg", 1.0, 0.9, 0.3, 3), NaiveSGD("avg", 1.0, 0.9, 0.3, np.zeros(3))
    for _ in range(5):
        fast.epoch(problem, 2)
        slow.see_all(X, labels, problem.weight, problem.batches, 2)
    assert fast.total.any(), "the scale was never folded in: the test shows nothing"
    np.testing.assert_allclose(fast.w, slow.w, atol=1e-9)
    np.testing.assert_allclose(
        fast.sum, np.sum(slow.iterates, axis=0), rtol=1e-6
    )  # rounding in the large unscaled weights
    assert fast.state[epochs.SQUARE] == pytest.approx(fast.v @ fast.v)


PICKS = {"top": epochs.TOP, "bottom": epochs.BOTTOM, "random": epochs.RANDOM}


def perceptrons(problem: Problem, surrogate: str, pick: str, k: float, start: FloatArray, storage: str) -> None:
    """Run two epochs of both and compare everything they report."""
    seed = 12345
    state, v, z = epochs.new_state(), start.copy(), np.zeros(len(start))
    slow = NaivePerceptron(surrogate, pick, lambda step, row: float(draws.uniform(seed, step, row)), start.copy())
    share, amount = (k, 0.0) if isinstance(k, float) else (0.0, float(k))
    rows, batches = rows_of(problem, storage), (problem.order, problem.starts, problem.stops)
    avg = surrogate == "avg"
    for _ in range(2):
        epochs.perceptron_epoch(
            rows, problem.labels, problem.weight, *batches, amount, share, avg, PICKS[pick], seed, v, z, state
        )
        for batch in problem.batches:
            slow.see(problem.X, problem.labels, problem.weight, batch, k)
    assert state[epochs.N_STEPS] == len(slow.iterates)
    assert state[epochs.MISTAKES] == slow.mistakes
    assert state[epochs.UPDATES] == slow.n_updates
    np.testing.assert_allclose(v, slow.w, atol=1e-10)
    if slow.iterates:
        np.testing.assert_allclose(v - z / state[epochs.SCALE_SUM], slow.average, atol=1e-10)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(("surrogate", "pick"), [("avg", "top"), ("max", "top"), ("max", "bottom"), ("max", "random")])
@given(problem=small_problems(), k=st.one_of(st.integers(1, 4), st.floats(0.1, 1.0)), seed=st.integers(0, 99))
def test_perceptron_epoch_equals_the_plain_loop(
    storage: str, surrogate: str, pick: str, problem: Problem, k: float, seed: int
) -> None:
    start = np.random.default_rng(seed).normal(size=(problem.X.shape[1],))
    perceptrons(problem, surrogate, pick, k, start, storage)


@pytest.mark.parametrize(("surrogate", "pick"), [("avg", "top"), ("max", "random")])
@given(problem=small_problems(), k=st.integers(1, 4))
def test_ties_at_the_cut_fall_by_their_keys(surrogate: str, pick: str, problem: Problem, k: int) -> None:
    """At w = 0 every row ties."""
    perceptrons(problem, surrogate, pick, k, np.zeros(problem.X.shape[1]), "dense")


def test_keys_are_spread_evenly_and_depend_on_all_they_are_given() -> None:
    cases = [(seed, step, row) for seed in (0, 7) for step in (-2, -1, 1, 2) for row in range(50)]
    keys = np.array([draws.uniform(seed, float(step), row) for seed, step, row in cases])
    assert len(np.unique(keys)) == len(cases)
    assert keys.min() >= 0
    assert keys.max() < 1
    assert abs(keys.mean() - 0.5) < 0.05
    assert np.histogram(keys, bins=4, range=(0, 1))[0].min() > 70
