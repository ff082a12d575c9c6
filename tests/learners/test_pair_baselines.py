"""The baselines reach what they stand for: peers' optima, exact objectives, and their place beside RankSVM."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from riffler.errors import LabelError
from riffler.learners.combined_ranking import CombinedRankingRegression
from riffler.learners.hinge_rank_svm import HingeRankSVM
from riffler.learners.rank_svm import RankSVM
from riffler.learners.weighted_svm import WeightedSVM
from tests.naive import pair_dual
from tests.naive import pairwise as naive

X, y = make_classification(400, 8, weights=[0.8], class_sep=0.5, random_state=0)


def test_weighted_svm_is_linear_svc_with_balanced_classes() -> None:
    ours = WeightedSVM(C=50.0, tol=1e-9).fit(X, y)
    # a mean over rows against a sum; an intercept so far out that its penalty does not count
    peer = LinearSVC(C=50.0 / 400, class_weight="balanced", dual=False, intercept_scaling=1000.0, tol=1e-9)
    peer.fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-2, atol=1e-3)


def test_weighted_svm_knows_two_classes_only() -> None:
    with pytest.raises(LabelError, match=r"y holds 0, 2 and, in row 1, 1\. Map the relevant class"):
        WeightedSVM().fit(X[:3], [0, 1, 2])


@pytest.mark.parametrize("n_grades", [2, 3])
def test_the_hinge_is_minimised_with_a_proven_gap(n_grades: int) -> None:
    rows = np.arange(40)
    grades = np.arange(40) % n_grades
    features = X[rows] + grades[:, None] * 0.5
    found = HingeRankSVM(C=10.0, tol=1e-4).fit(features, grades)
    pairs = naive.pairs_of(grades, np.zeros(40, int))
    upper, lower = np.array(pairs).T
    Z = pair_dual.differences(features, upper, lower)
    cost = np.full(len(Z), 10.0 / len(Z))
    best = pair_dual.objective(pair_dual.optimum(Z, cost, "hinge"), Z, cost, "hinge")
    assert found.loss_ == pytest.approx(best, rel=2e-3)
    assert found.bound_ <= best * (1 + 1e-6)
    assert found.loss_ - found.bound_ <= 1e-4 * found.loss_


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("points", [0.0, 0.5, 1.0])
def test_combined_ranking_comes_close_to_all_pairs(loss: str, points: float) -> None:
    best = RankSVM().fit(X, y).score(X, y)
    found = CombinedRankingRegression(points, loss=loss, alpha=1e-2, random_state=0).fit(X, y)
    # points are not balanced: what a plain classifier gives is a little less
    assert found.score(X, y) > best - (0.01 if points < 1 else 0.05)
    csr = CombinedRankingRegression(points, loss=loss, alpha=1e-2, random_state=0).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(csr.coef_, found.coef_, rtol=1e-6)


def test_combined_ranking_by_hand() -> None:
    """Two rows: every step sees the same pair, so the weights can be followed with a pencil."""
    features, labels = np.array([[1.0], [0.0]]), np.array([1, 0])
    found = CombinedRankingRegression(loss="hinge", alpha=0.5, n_steps=3, random_state=0).fit(features, labels)
    w, radius = 0.0, 1 / np.sqrt(0.5)
    for t in (2.0, 3.0, 4.0):
        pull = float(w < 1)
        w = min((1 - 1 / t) * w + pull / (0.5 * t), radius)
    assert found.coef_[0, 0] == pytest.approx(w)


def test_a_stream_of_batches_is_learned() -> None:
    ranker = CombinedRankingRegression(alpha=1e-2, n_steps=20_000, random_state=0)
    for start in range(0, 400, 100):
        ranker.partial_fit(X[start : start + 100], y[start : start + 100])
    assert ranker.n_iter_ == 80_000
    before = ranker.coef_.copy()
    ranker.partial_fit(X[:5], np.zeros(5, int))  # no pairs in it
    np.testing.assert_array_equal(ranker.coef_, before)
    assert ranker.score(X, y) > RankSVM().fit(X, y).score(X, y) - 0.05


@pytest.mark.parametrize("ranker", [RankSVM, WeightedSVM, HingeRankSVM])
def test_steps_that_run_out_are_told(ranker: type[RankSVM | WeightedSVM | HingeRankSVM]) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 before .* a larger max_iter"):
        ranker(tol=1e-6, max_iter=1).fit(X, y)
    ranker(tol=1e-2).fit(X, y)
