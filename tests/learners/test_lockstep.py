"""Several problems at once end where SciPy ends with each alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from riffler.features.blocks import RowBlocks, identity_scaling
from riffler.learners.curvature import Curvature
from riffler.learners.lockstep import Evaluate, minimise
from riffler.records import FloatArray, IntArray
from tests.naive import logistic

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 6)) @ np.diag([1, 3, 0.2, 1, 1, 10])
LABELS = (X @ [1, -0.5, 2, 0, 1, 0.1] + rng.normal(size=120) > 0).astype(np.int8)
WEIGHTS = [np.ones(120), rng.integers(0, 3, 120).astype(float), (np.arange(120) < 60).astype(float)]
PENALTY = 1e-2


def several(asked: list[list[int]]) -> Evaluate:
    """The same regression under three weightings; notes which problems are asked for in each round."""

    def evaluate(points: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        asked.append(which.tolist())
        pairs = [
            logistic.value_and_slope(point, X, LABELS, WEIGHTS[problem], PENALTY)
            for point, problem in zip(points.T, which, strict=True)
        ]
        return np.array([value for value, _ in pairs]), np.stack([slope for _, slope in pairs], axis=1)

    return evaluate


def best_values() -> list[float]:
    found = [
        minimize(logistic.value_and_slope, np.zeros(7), (X, LABELS, weight, PENALTY), jac=True, tol=1e-12)
        for weight in WEIGHTS
    ]
    return [float(one.fun) for one in found]


@pytest.mark.parametrize("guess", ["none", "curvature"])
def test_reaches_the_minimum_of_every_problem(guess: str) -> None:
    curvature = Curvature(RowBlocks(X, identity_scaling(6)), np.ones(120))
    metric = curvature.inverse(PENALTY) if guess == "curvature" else np.copy
    asked: list[list[int]] = []
    points, values = minimise(several(asked), np.zeros((7, 3)), metric, tol=1e-6, max_iter=300)
    np.testing.assert_allclose(values, best_values(), atol=1e-6)
    for point, value, weight in zip(points.T, values, WEIGHTS, strict=True):
        assert logistic.value_and_slope(point, X, LABELS, weight, PENALTY)[0] == value
    assert asked[0] == [0, 1, 2]
    for before, after in pairwise(asked):
        assert set(after) <= set(before)  # who has finished does not come back


def test_a_good_guess_of_the_curvature_saves_rounds() -> None:
    curvature = Curvature(RowBlocks(X, identity_scaling(6)), np.ones(120))
    rounds = []
    for metric in (np.copy, curvature.inverse(PENALTY)):
        asked: list[list[int]] = []
        minimise(several(asked), np.zeros((7, 3)), metric, tol=1e-4, max_iter=300)
        rounds.append(len(asked))
    assert rounds[1] < rounds[0]


def test_values_never_rise_and_the_number_of_steps_is_kept() -> None:
    asked: list[list[int]] = []
    start = np.zeros((7, 3))
    before, _ = several([])(start, np.arange(3))
    values = [minimise(several(asked), start, np.copy, tol=1e-9, max_iter=n)[1] for n in (1, 2, 5, 20)]
    assert np.all(np.diff([before, *values], axis=0) <= 0)


def test_a_problem_that_starts_at_its_minimum_stays() -> None:
    def bowl(points: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        return (points**2).sum(axis=0), 2 * points

    points, values = minimise(bowl, np.array([[0.0, 3.0], [0.0, -4.0]]), np.copy, tol=1e-6, max_iter=50)
    np.testing.assert_allclose(points, 0, atol=1e-4)
    np.testing.assert_allclose(values, 0, atol=1e-6)


@pytest.mark.parametrize("penalty", [1e-4, 1.0])
def test_curvature_is_the_inverse_of_a_quarter_of_the_moments(penalty: float) -> None:
    weight = WEIGHTS[1]
    curvature = Curvature(RowBlocks(X, identity_scaling(6)), weight)
    moments = (X * weight[:, None]).T @ X / weight.sum()
    assert curvature.mean_square == pytest.approx(np.trace(moments))
    slope = rng.normal(size=7)
    # a share of the mean keeps directions without data from exploding
    floor = penalty + 1e-6 * np.trace(moments) / 6
    expected = np.linalg.solve(moments / 4 + floor * np.eye(6), slope[:-1])
    np.testing.assert_allclose(curvature.inverse(penalty)(slope), np.append(expected, 4 * slope[-1]), rtol=1e-6)
