"""The cutting plane reaches the optimum of a generic solver, and its bound is never above it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from riffler.errors import InputError
from riffler.records import FloatArray
from riffler.structured import cutting_plane
from riffler.structured.cutting_plane import CuttingPlaneSolution, Plane, minimise_by_planes, solve_dual


def hinge_oracle(Z: FloatArray) -> tuple[object, object]:
    def oracle(w: FloatArray) -> Plane:
        active = Z @ w < 1
        return Plane(Z[active].sum(axis=0) / len(Z), float(active.mean()))

    def risk(w: FloatArray) -> float:
        return float(np.maximum(0, 1 - Z @ w).mean())

    return oracle, risk


@pytest.mark.parametrize("C", [0.5, 20.0, 500.0])
def test_error_rate_svm_is_that_of_the_dual_solver(C: float) -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 5)) + 0.4
    oracle, risk = hinge_oracle(Z)
    found = minimise_by_planes(oracle, 5, C, tol=1e-5)  # type: ignore[arg-type]
    gram = Z @ Z.T
    exact = minimize(  # type: ignore[call-overload] # the stubs know no such function with its slope
        lambda a: (a @ gram @ a / 2 - a.sum(), gram @ a - 1), np.zeros(80), jac=True, bounds=[(0, C / 80)] * 80,
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20_000, "maxfun": 100_000},
    )  # fmt: skip
    best = -float(exact.fun)
    assert found.value == pytest.approx(best, rel=1e-4)
    assert found.bound <= best * (1 + 1e-6) + 1e-12
    assert found.value == pytest.approx(found.weights @ found.weights / 2 + C * risk(found.weights))  # type: ignore[operator]
    assert found.gap <= 1e-5 * found.value


def test_the_small_dual_is_solved_in_its_simplex() -> None:
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 4)), rng.random(6)
    a = solve_dual(A @ A.T, b, 2.0, np.zeros(6), 1e-10)
    assert (a >= 0).all()
    assert a.sum() <= 2.0 + 1e-9
    slope = b - A @ A.T @ a
    # no plane with weight is worse than another, nor than resting
    assert slope.max() - slope[a > 1e-9].min() < 1e-6 if (a > 1e-9).any() else slope.max() <= 1e-9


def test_settings_must_be_above_zero() -> None:
    with pytest.raises(InputError, match=r"C, tol and max_iter must be above 0, got 0, 0\.1 and 1000"):
        minimise_by_planes(lambda w: Plane(w, 0.0), 1, 0, tol=0.1)


def test_each_plane_is_told_with_its_bound() -> None:
    oracle, _ = hinge_oracle(np.random.default_rng(4).normal(size=(60, 4)) + 0.3)
    told: list[CuttingPlaneSolution] = []
    found = minimise_by_planes(oracle, 4, 50.0, tol=1e-4, tell=told.append)  # type: ignore[arg-type]
    assert [one.n_planes for one in told] == list(range(1, found.n_planes + 1))
    assert np.diff([one.bound for one in told]).min() >= 0
    assert np.diff([one.value for one in told]).max() <= 0
    assert told[-1] is found


def test_planes_that_cost_nothing_spare_questions() -> None:
    Z = np.random.default_rng(5).normal(size=(100, 6)) + 0.3
    oracle, _ = hinge_oracle(Z)
    alone = minimise_by_planes(oracle, 6, 200.0, tol=1e-4)  # type: ignore[arg-type]
    most, _ = hinge_oracle(Z[:99])

    def remembered(w: FloatArray) -> Plane:  # the hinges of most rows sum to less than those of all
        plane: Plane = most(w)  # type: ignore[operator]
        return Plane(0.99 * plane.slopes, 0.99 * plane.offset)

    helped = minimise_by_planes(oracle, 6, 200.0, tol=1e-4, remembered=remembered)  # type: ignore[arg-type]
    assert helped.n_planes < 0.8 * alone.n_planes
    assert helped.value == pytest.approx(alone.value, rel=2e-4)
    assert helped.bound <= alone.value


def test_idle_planes_are_dropped_and_the_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, _ = hinge_oracle(np.random.default_rng(5).normal(size=(100, 6)) + 0.3)
    whole = minimise_by_planes(oracle, 6, 200.0, tol=1e-5)  # type: ignore[arg-type]
    sizes: list[int] = []

    def watched(gram: FloatArray, offsets: FloatArray, bound: float, start: FloatArray, tol: float) -> FloatArray:
        sizes.append(len(offsets))
        return solve_dual(gram, offsets, bound, start, tol)

    monkeypatch.setattr(cutting_plane, "solve_dual", watched)
    monkeypatch.setattr(cutting_plane, "IDLE_ROUNDS", 5)
    found = minimise_by_planes(oracle, 6, 200.0, tol=1e-5)  # type: ignore[arg-type]
    assert found.value == pytest.approx(whole.value, rel=2e-5)
    assert found.n_planes == len(sizes)
    assert max(sizes) < 0.7 * found.n_planes
