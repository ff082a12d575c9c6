"""NdcgRanker reaches its optimum, leaves queries without order out, and puts the first places first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from riffler.errors import InputError, LabelError
from riffler.learners.ndcg_ranker import NdcgRanker
from riffler.learners.rank_svm import RankSVM
from riffler.metrics import mean_over_groups, ndcg_at
from riffler.records import FloatArray
from tests.naive import partial_order as naive

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
QUERY = np.repeat(np.arange(6), 5)
GRADES = np.clip(np.round(X[:, 0] + rng.normal(size=30)), 0, 2)


def test_the_objective_is_its_definition_and_no_weights_are_better() -> None:
    fitted = NdcgRanker(2, C=3.0, pairs=0.5, tol=1e-6).fit(X, GRADES, qid=QUERY)

    def objective(w: FloatArray) -> float:
        return float(w @ w) / 2 + 3.0 * float(np.mean(list(hinges(X @ w))))

    assert fitted.loss_ == pytest.approx(objective(fitted.coef_[0]), rel=1e-9)
    found = minimize(objective, fitted.coef_[0] + 0.1, method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-7})
    assert fitted.bound_ <= found.fun * (1 + 1e-9)
    assert fitted.loss_ <= found.fun * (1 + 1e-5)


def hinges(scores: FloatArray) -> list[float]:
    """Of each query, by looking at all orders for all thresholds."""
    found = []
    for query in range(6):
        grades, s = GRADES[query == QUERY], scores[query == QUERY]
        levels = np.unique(grades)
        if len(levels) == 1:
            continue
        ideal = [(1 / np.log2(np.arange(2, 4)))[: int((grades >= level).sum())].sum() for level in levels[1:]]
        share = np.diff(2.0**levels) * ideal
        each = [naive.hinge("ndcg", 2, 0.5, s, grades >= level) for level in levels[1:]]
        found.append(float(share @ each / share.sum()))
    return found


def test_queries_without_order_are_left_out() -> None:
    more = np.vstack([X, 9 * rng.normal(size=(4, 2))])
    grades, query = np.append(GRADES, [2, 1, 1, 1]), np.append(QUERY, [70, 71, 71, 71])  # one row; equal grades
    alone, fitted = (
        NdcgRanker(tol=1e-6).fit(*data) for data in ((X, GRADES, None, QUERY), (more, grades, None, query))
    )
    np.testing.assert_allclose(alone.coef_, fitted.coef_, rtol=1e-9)
    assert fitted.n_queries_ == alone.n_queries_ <= 6
    with pytest.raises(LabelError, match="no group has rows of two different labels"):
        NdcgRanker().fit(more[30:], grades[30:], qid=query[30:])


def test_the_score_is_the_mean_ndcg() -> None:
    fitted = NdcgRanker(3).fit(X, GRADES, qid=QUERY)
    grades = np.where(np.arange(30) % 5 == 0, 0, GRADES + 1)  # the lowest grade of each query is 0
    expected = mean_over_groups(ndcg_at, grades, fitted.decision_function(X), QUERY, n=3)
    assert fitted.score(X, grades, qid=QUERY) == pytest.approx(expected)
    assert NdcgRanker(None).fit(X, GRADES, qid=QUERY).score(X, GRADES, qid=QUERY) > 0.7


def test_every_query_counts_alike() -> None:
    """Two queries of very many rows are ordered by another column than a hundred of few: pairs follow the two."""
    made = np.random.default_rng(1)
    query = np.repeat(np.arange(102), [400, 400, *100 * [8]])
    rows = made.normal(size=(len(query), 2))
    signal = np.where(query < 2, rows[:, 1], rows[:, 0]) + 0.5 * made.normal(size=len(query))
    labels = (signal > 0.7).astype(int)
    ours, pairs = (one.fit(rows, labels, qid=query) for one in (NdcgRanker(5), RankSVM(random_state=0)))
    measured = [mean_over_groups(ndcg_at, labels, one.predict(rows), query, n=5) for one in (ours, pairs)]
    assert measured[0] > measured[1] + 0.1


def test_weights_repeat_rows_and_must_be_whole() -> None:
    weight = np.where(np.arange(30) % 4 == 0, 2, 1)
    rows = np.repeat(np.arange(30), weight)
    weighted = NdcgRanker(C=1.0, tol=1e-7).fit(X, GRADES, weight, QUERY)
    repeated = NdcgRanker(C=1.0, tol=1e-7).fit(X[rows], GRADES[rows], None, QUERY[rows])
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-6)
    measured = weighted.score(X, GRADES, weight, QUERY)
    assert measured == pytest.approx(weighted.score(X[rows], GRADES[rows], None, QUERY[rows]))
    with pytest.raises(InputError, match=r"sample_weight must be whole numbers, row \d+ has 0\.5"):
        NdcgRanker().fit(X, GRADES, np.full(30, 0.5), QUERY)


def test_settings_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="n must be a positive integer"):
        NdcgRanker(0).fit(X, GRADES, qid=QUERY)
    with pytest.raises(InputError, match="pairs must be 0 or above"):
        NdcgRanker(pairs=-1.0).fit(X, GRADES, qid=QUERY)
    wrong: dict[str, Any] = {"pairs": "1", "C": "a", "tol": None, "max_iter": [3], "n": "5"}
    for name, value in wrong.items():
        with pytest.raises(InputError, match=f"{name} must be .*, got"):
            NdcgRanker(**{name: value}).fit(X, GRADES, qid=QUERY)
    with pytest.warns(ConvergenceWarning, match="NdcgRanker stopped after max_iter=2"):
        NdcgRanker(max_iter=2).fit(X, GRADES, qid=QUERY)
