"""Dual coordinate descent reaches the optimum of scikit-learn's solvers, cold and warm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from riffler._fast import dual
from riffler._fast.rows import as_rows
from riffler.records import FloatArray, Matrix


def problem(seed: int) -> tuple[Matrix, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 30)) * (rng.random((120, 30)) < 0.4)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return X, np.where(X @ rng.normal(size=30) + 0.3 * rng.normal(size=120) > 0.2, 1.0, -1.0)


def solved(X: Matrix, signs: FloatArray, cost: FloatArray, loss: int, start: FloatArray | None = None) -> Any:  # noqa: ANN401
    rows, n = as_rows(X), X.shape[0]
    alpha = np.zeros(n) if start is None else start.copy()
    weights, squares = np.zeros(X.shape[1] + 1), np.empty(n)
    dual.squares_of_all(rows, n, squares)
    order = np.arange(n)
    dual.rebuild(rows, signs, alpha, order, weights)
    passes = dual.descend(rows, signs, cost, squares, order, alpha, weights, loss, 2000, 1e-9, 0)
    return weights, alpha, passes


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_squared_hinge_is_that_of_linear_svc(storage: str, C: float) -> None:
    X, signs = problem(0)
    given = sparse.csr_matrix(X) if storage == "csr" else X
    weights, _, _ = solved(given, signs, np.full(120, C), dual.SQUARED_HINGE)
    peer = LinearSVC(C=C, loss="squared_hinge", dual=True, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, signs)
    np.testing.assert_allclose(weights, np.append(peer.coef_, peer.intercept_), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_logistic_is_that_of_logistic_regression(C: float) -> None:
    X, signs = problem(1)
    weights, alpha, _ = solved(X, signs, np.full(120, C), dual.LOGISTIC)
    with_constant = np.column_stack([X, np.ones(120)])
    peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(with_constant, signs)
    np.testing.assert_allclose(weights, peer.coef_[0], rtol=1e-3, atol=1e-5)
    assert (alpha > 0).all()
    assert (alpha < C).all()


@pytest.mark.parametrize("loss", [dual.SQUARED_HINGE, dual.LOGISTIC])
def test_a_warm_start_ends_at_the_same_place_sooner(loss: int) -> None:
    X, signs = problem(2)
    cost = np.full(120, 1.0)
    cold, alpha, passes = solved(X, signs, cost, loss)
    nearly = alpha.copy()
    nearly[:3] = 0.0  # three new labels
    warm, _, fewer = solved(X, signs, cost, loss, start=nearly)
    np.testing.assert_allclose(warm, cold, rtol=1e-5, atol=1e-7)
    assert fewer < passes


def test_rows_without_cost_have_no_say() -> None:
    X, signs = problem(3)
    cost = np.where(np.arange(120) < 60, 1.0, 0.0)
    weights, alpha, _ = solved(X, signs, cost, dual.SQUARED_HINGE)
    alone, _, _ = solved(np.ascontiguousarray(X[:60]), signs[:60], cost[:60], dual.SQUARED_HINGE)
    np.testing.assert_allclose(weights, alone, rtol=1e-5, atol=1e-7)
    assert not alpha[60:].any()
