"""Newton's steps on pairs end where a generic solver ends, also when pairs join later and others are gone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.learners.pair_newton import BLOCK, PairNewton
from riffler.learners.pair_solver import PairSolver
from riffler.records import FloatArray, IntArray
from tests.naive import pair_dual as naive

STORAGES: dict[str, Any] = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "csr": sparse.csr_matrix}


def problem(n_pairs: int, seed: int = 0) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.7)).astype(np.float32).astype(np.float64)
    upper, lower = rng.integers(0, 50, (2, n_pairs)).astype(np.int32)
    upper[:5], lower[5:10] = -1, -1  # points
    return X, upper, lower, rng.random(n_pairs) * 2


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n_pairs", [60, BLOCK + 7])
def test_the_optimum_is_that_of_a_generic_solver(storage: str, n_pairs: int) -> None:
    X, upper, lower, weight = problem(n_pairs)
    solver = PairNewton(STORAGES[storage](X), 50.0)
    solver.add(upper[:20], lower[:20], weight[:20])
    solver.descend(0.1, 5)
    solver.add(upper[20:], lower[20:], weight[20:])
    solver.descend(1e-6, 100)
    Z = naive.differences(X, upper, lower)
    best = naive.optimum(Z, 50.0 * weight / weight.sum(), "squared_hinge")
    np.testing.assert_allclose(solver.weights, best, atol=1e-4)


def test_pairs_that_are_gone_weigh_as_in_the_dual() -> None:
    X, upper, lower, weight = problem(60)
    start = np.linspace(-1, 1, 6)
    solvers: list[Any] = [PairNewton(X, 50.0, start, 30.0), PairSolver(X, 50.0, "squared_hinge", 0, start, 30.0)]
    for solver in solvers:
        solver.add(upper, lower, weight)
        solver.descend(1e-8, 10_000)
    np.testing.assert_allclose(solvers[0].weights, solvers[1].weights, atol=1e-5)


def test_one_pass_makes_a_step() -> None:
    X, upper, lower, weight = problem(60)
    solver = PairNewton(X, 50.0)
    solver.add(upper, lower, weight)
    assert not solver.descend(0.1, 1)
    assert solver.weights.any()


def test_pairs_that_cannot_be_told_apart_say_nothing() -> None:
    solver = PairNewton(np.ones((3, 2)), 100.0)
    solver.add(np.array([0], np.int32), np.array([1], np.int32), np.ones(1))
    assert solver.descend(0.1, 50)
    assert not solver.weights.any()
