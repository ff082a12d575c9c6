"""TopKRanker wins where the top wants its own direction, keeps the order where asked to, and tells what it did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from riffler import InputError, KClippedWarning, TopKRanker, precision_at_k, roc_auc
from riffler.learners import top_k_ranker, working_set
from riffler.learners.top_search import ORDERS, PENALTIES, WIDTHS
from riffler.records import FloatArray, IntArray

Data = tuple[FloatArray, IntArray]


def two_tops(rng: np.random.Generator, n_rows: int = 3000) -> Data:
    """Most positives lie along column 0; some, in a pure cluster, far along column 1, behind a lump of negatives."""
    y = (rng.random(n_rows) < 0.2).astype(int)
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 1.5 * y
    pure, lump = (y == 1) & (rng.random(n_rows) < 0.25), (y == 0) & (rng.random(n_rows) < 0.25)
    X[pure, :2] = np.column_stack([rng.normal(size=pure.sum()), rng.normal(6, 0.3, pure.sum())])
    X[lump, 1] = rng.normal(3, 0.5, lump.sum())
    return X, y


def test_beats_logistic_regression_where_the_top_lies_elsewhere() -> None:
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        (X, y), (X_test, y_test) = two_tops(rng), two_tops(rng)
        classifier = LogisticRegression().fit(X, y).decision_function(X_test)
        ours = TopKRanker(k=0.2, random_state=0).fit(X, y).decision_function(X_test)
        gains.append(precision_at_k(y_test, ours, 0.2) - precision_at_k(y_test, classifier, 0.2))
    assert min(gains) > 0
    assert np.mean(gains) > 0.1


def order_sets() -> dict[str, Data]:
    digits, digit = load_digits(return_X_y=True)
    return {
        "digits": (digits, (digit == 8).astype(int)),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "noisy": make_classification(2000, 15, weights=[0.9], flip_y=0.1, random_state=0),
        "rare": make_classification(3000, 10, weights=[0.97], class_sep=0.7, random_state=1),
        "two tops": two_tops(np.random.default_rng(0)),
    }


@pytest.mark.parametrize("name", order_sets())
def test_order_weight_1_has_the_auc_of_logistic_regression(name: str) -> None:
    X, y = order_sets()[name]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    ours = TopKRanker(k=0.25, order_weight=1.0, random_state=0).fit(X, y)
    assert roc_auc(y_test, ours.decision_function(X_test)) > roc_auc(y_test, peer.decision_function(X_test)) - 0.01


def test_candidates_and_the_best_of_them() -> None:
    X, y = two_tops(np.random.default_rng(1), 1000)
    for order_weight, n_tried in ((0.1, len(PENALTIES) + len(ORDERS) * len(WIDTHS)), (1.0, len(PENALTIES))):
        ranker = TopKRanker(k=0.2, order_weight=order_weight, random_state=0).fit(X, y)
        assert len(ranker.candidates_) == n_tried
        worths = [one.worth.weighed(order_weight) for one in ranker.candidates_]
        assert ranker.best_ in ranker.candidates_
        assert ranker.best_.worth.weighed(order_weight) == max(worths)
        assert all(0 <= one.worth.precision <= 1 and 0 <= one.worth.auc <= 1 for one in ranker.candidates_)
        assert [one.setting.widths for one in ranker.candidates_[: len(PENALTIES)]] == [()] * len(PENALTIES)
        assert ranker.n_iter_ > 0


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "n_components": 50}], ids=["linear", "rbf"])
def test_progress_rises_from_0_to_at_most_1(params: dict[str, Any]) -> None:
    X, y = two_tops(np.random.default_rng(2), 200)
    told: list[tuple[float, str]] = []
    ranker = TopKRanker(k=0.2, random_state=0, progress=lambda share, doing: told.append((share, doing)), **params)
    ranker.fit(X, y)
    assert (ranker.gamma_ is None) == (not params)  # the kernel chose a width
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert "fitting on all rows" in [doing for _, doing in told]


def test_folds_may_be_given() -> None:
    X, y = two_tops(np.random.default_rng(3), 400)
    folds = StratifiedKFold(4)
    one, other = (TopKRanker(0.2, cv=cv, random_state=0).fit(X, y) for cv in (folds, list(folds.split(X, y))))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("features", ["fourier", "nystroem"])
def test_rbf_learns_what_no_line_can(features: str) -> None:
    X = np.random.default_rng(0).uniform(-1.5, 1.5, size=(600, 2))
    inside = (np.hypot(X[:, 0], X[:, 1]) < 0.7).astype(int)
    ranker = TopKRanker(0.5, kernel="rbf", gamma=1.0, n_components=100, features=features, random_state=0)
    ranker.fit(X[:400], inside[:400])
    assert ranker.gamma_ == 1.0
    assert ranker.coef_.shape == (1, 100)
    assert ranker.score(X[400:], inside[400:]) > 0.95
    assert TopKRanker(0.5, random_state=0).fit(X[:400], inside[:400]).score(X[400:], inside[400:]) < 0.9


def test_rbf_on_more_rows_than_its_working_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the rows stands for all; hard negatives among the others are found afterwards."""
    monkeypatch.setattr(top_k_ranker, "sampled_rows", lambda data, rng: working_set.sampled_rows(data, rng, 300))
    monkeypatch.setattr(top_k_ranker, "WORKING_ROWS", 300)
    X, y = two_tops(np.random.default_rng(4))
    told: list[str] = []
    ranker = TopKRanker(
        0.2, kernel="rbf", gamma=0.2, n_components=60, random_state=0, progress=lambda share, doing: told.append(doing)
    ).fit(X, y)
    assert "hard negatives" in told
    X_test, y_test = two_tops(np.random.default_rng(5))
    assert ranker.score(X_test, y_test) > 0.9
    with pytest.raises(InputError, match="cv with kernel='rbf'"):
        TopKRanker(0.2, kernel="rbf", gamma=0.2, n_components=10, cv=3).fit(X, y)


def test_more_than_the_positives_is_clipped() -> None:
    X, y = two_tops(np.random.default_rng(6), 300)
    with pytest.warns(KClippedWarning, match=rf"k=200 asks for 200 rows at the top, but only {y.sum()} positives"):
        ranker = TopKRanker(200, random_state=0).fit(X, y)
    assert ranker.predict(X).sum() == y.sum()


def test_a_single_positive_is_enough_to_learn_from() -> None:
    X, y = np.eye(6), np.array([1, 0, 0, 0, 0, 0])
    ranker = TopKRanker(1, random_state=0).fit(X, y)
    assert len(ranker.candidates_) == 1  # nothing can be held out
    assert ranker.score(X, y) == 1.0


def test_columns_of_any_size_give_the_same_ranking() -> None:
    """Standardised inside, so units do not matter."""
    X, y = two_tops(np.random.default_rng(7), 500)
    one = TopKRanker(0.2, random_state=0).fit(X, y).decision_function(X)
    other_units = X * [1000, 1, 0.01, 7] + [5, -5, 0, 1]
    other = TopKRanker(0.2, random_state=0).fit(other_units, y).decision_function(other_units)
    np.testing.assert_allclose(other, one, atol=1e-4 * np.abs(one).max())
