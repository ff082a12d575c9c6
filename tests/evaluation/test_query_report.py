"""Measures of queries are means over the queries, and their intervals come from resampled queries."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import LabelError, UnknownName
from riffler.evaluation.query_charts import ndcg_chart
from riffler.evaluation.query_report import mean_ndcg, query_report
from riffler.metrics import ndcg_at, reciprocal_rank, roc_auc

rng = np.random.default_rng(0)
QUERIES = np.repeat(np.arange(40), 8)
GRADES = rng.integers(0, 3, 320).astype(float)
GRADES[QUERIES == 7] = 1.0
SCORES = {"good": GRADES + 0.6 * rng.normal(size=320), "poor": rng.normal(size=320)}


def by_query(measure: object, labels: np.ndarray, scores: np.ndarray, **options: int) -> float:
    used = [query for query in range(40) if query != 7]
    assert callable(measure)
    return float(np.mean([measure(labels[q == QUERIES], scores[q == QUERIES], **options) for q in used]))


def test_measures_are_means_over_queries_that_have_something_to_tell_apart() -> None:
    report = query_report(GRADES, SCORES, QUERIES, 5, baseline="poor", n_resamples=200)
    assert (report.n_queries, report.n_skipped, report.n_items) == (39, 1, 320)
    good, poor = report.rows
    assert good.ndcg.value == pytest.approx(by_query(ndcg_at, GRADES, SCORES["good"], n=5))
    assert good.reciprocal_rank.value == pytest.approx(by_query(reciprocal_rank, GRADES > 0, SCORES["good"]))
    assert mean_ndcg(GRADES, SCORES["good"], QUERIES, 5) == pytest.approx(good.ndcg.value)
    two = query_report(GRADES > 0, SCORES, QUERIES, baseline="poor", n_resamples=10)
    told_apart = [q for q in range(40) if 0 < (GRADES[q == QUERIES] > 0).sum() < 8]
    areas = [roc_auc(GRADES[q == QUERIES] > 0, SCORES["good"][q == QUERIES]) for q in told_apart]
    assert two.rows[0].pairs_in_order.value == pytest.approx(np.mean(areas))
    assert good.gain is not None
    assert 0 < good.gain.low < good.gain.difference < good.gain.high
    assert poor.gain is None
    assert poor.ndcg.low < poor.ndcg.value < poor.ndcg.high


def test_grades_may_start_anywhere() -> None:
    shifted = query_report(GRADES + 3, SCORES, QUERIES, baseline="poor", n_resamples=20)
    assert shifted == query_report(GRADES, SCORES, QUERIES, baseline="poor", n_resamples=20)


def test_a_query_without_pairs_may_have_the_lowest_grade() -> None:
    grades = GRADES + 1
    grades[QUERIES == 7] = 0.0
    report = query_report(grades, SCORES, QUERIES, 5, baseline="poor", n_resamples=10)
    assert report.rows[0].ndcg.value == pytest.approx(by_query(ndcg_at, grades, SCORES["good"], n=5))
    assert report.rows[0].ndcg.value == mean_ndcg(grades, SCORES["good"], QUERIES, 5)


def test_what_cannot_be_measured() -> None:
    with pytest.raises(LabelError, match="no group has rows of two different labels"):
        query_report(GRADES, SCORES, np.arange(320), baseline="poor")
    with pytest.raises(UnknownName, match="logistic"):
        query_report(GRADES, SCORES, QUERIES, baseline="logistic")


def test_the_chart_has_a_line_a_method_and_a_point_a_depth() -> None:
    drawn = ndcg_chart(GRADES, SCORES, QUERIES, 5).to_dict()
    rows = max(drawn["datasets"].values(), key=len)
    assert len(rows) == 2 * 8
    assert {row["method"] for row in rows} == {"good", "poor"}
