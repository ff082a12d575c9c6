"""The classifier step: warm, whatever way its rows are stored, it ends where a cold fit by scikit-learn ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from riffler import InputError, UnknownName
from riffler.engine import LocalEngine
from riffler.records import FloatArray, IntArray, Matrix
from riffler.search import classifier as module
from riffler.search.classifier import WarmClassifier
from riffler.search.costs import BalancedCosts, EqualCosts, SideCosts

N, D = 400, 60


def rows(storage: str) -> Matrix:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.3)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return sparse.csr_matrix(X) if storage == "csr" else X


def truth(X: Matrix) -> IntArray:
    return (np.asarray(X @ np.random.default_rng(1).normal(size=D)) > 0.8).astype(np.int8)


def walked(X: Matrix, labels: IntArray, loss: str = "squared_hinge", n_rounds: int = 40) -> FloatArray:
    """Scores after many warm fits on a growing set, with presumed ones that come and go."""
    model = WarmClassifier(LocalEngine([X]), loss=loss, costs=BalancedCosts(), tolerance=1e-9)
    rng = np.random.default_rng(2)
    order = rng.permutation(N)
    scores: FloatArray = np.zeros(N)
    for stop in range(5, 5 * n_rounds + 1, 5):
        scores = model.fit(order[:stop], labels[order[:stop]], rng.choice(order[stop:], 20, replace=False))
    known = order[: 5 * n_rounds]
    for _ in range(800):  # until nothing moves
        scores = model.fit(known, labels[known], order[-30:])
    return scores


def peer(X: Matrix, labels: IntArray, loss: str, n_rounds: int = 40) -> FloatArray:
    order = np.random.default_rng(2).permutation(N)
    chosen = np.concatenate([order[: 5 * n_rounds], order[-30:]])
    signs = np.concatenate([np.where(labels[chosen[:-30]] > 0, 1.0, -1.0), -np.ones(30)])
    dense = np.asarray(sparse.csr_matrix(X).todense())
    with_constant = np.column_stack([dense, np.ones(N)])
    kind = (
        LinearSVC(C=0.11, fit_intercept=False, tol=1e-10, max_iter=1_000_000)
        if loss == "squared_hinge"
        else LogisticRegression(C=0.11, fit_intercept=False, tol=1e-12, max_iter=10_000)
    )
    kind.fit(with_constant[chosen], signs, sample_weight=BalancedCosts(C=1.0).of((signs > 0).astype(int), 0))
    return np.asarray(kind.decision_function(with_constant))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("storage", ["csr", "dense"])
@pytest.mark.parametrize("room", [10**9, 0, 4 * N * 120])  # similarities, rows, and outgrown on the way
def test_a_long_warm_walk_ends_at_the_optimum(
    monkeypatch: pytest.MonkeyPatch, loss: str, storage: str, room: int
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", room)
    monkeypatch.setattr("riffler.search.similarity_store.MOST_BYTES", room)
    monkeypatch.setattr(module, "LEAST_ROWS", 100)
    X = rows(storage)
    labels = truth(X)
    np.testing.assert_allclose(walked(X, labels, loss), peer(X, labels, loss), atol=2e-4)


def test_a_label_that_changed_sides_is_learned_anew() -> None:
    X = rows("csr")
    labels = truth(X)
    some = np.arange(100)
    changed = labels[some].copy()
    changed[:10] = 1 - changed[:10]
    model = WarmClassifier(LocalEngine([X]), tolerance=1e-9)
    model.fit(some, changed)
    for _ in range(800):
        scores = model.fit(some, labels[some])
    fresh = WarmClassifier(LocalEngine([X]), tolerance=1e-9)
    for _ in range(800):
        cold = fresh.fit(some, labels[some])
    np.testing.assert_allclose(scores, cold, atol=1e-5)


def test_bad_settings_are_named() -> None:
    engine = LocalEngine([rows("dense")])
    with pytest.raises(UnknownName, match="squared_hinge"):
        WarmClassifier(engine, loss="hinge")
    with pytest.raises(InputError, match="tolerance must be above 0, got 0"):
        WarmClassifier(engine, tolerance=0)
    with pytest.raises(InputError, match="presumed must be above 0, got -1"):
        SideCosts(presumed=-1)
    with pytest.raises(InputError, match="ratio must be above 0"):
        BalancedCosts(ratio=0)
    with pytest.raises(InputError, match="C must be above 0"):
        EqualCosts(C=float("nan"))
