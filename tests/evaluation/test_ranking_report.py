"""The report holds the measures themselves, and pairs every method with the baseline."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import InputError, LabelError, UnknownName
from riffler.evaluation.ranking_report import ranking_report
from riffler.metrics import average_precision, paired_bootstrap, precision_at_k, recall_at_k, roc_auc

RNG = np.random.default_rng(3)
LABELS = (RNG.random(200) < 0.2).astype(int)
SCORES = {"sharp": LABELS + RNG.normal(size=200), "blunt": RNG.normal(size=200)}


@pytest.mark.parametrize("k", [10, 0.25])
def test_each_row_has_the_measures_of_its_scores(k: int | float) -> None:
    report = ranking_report(LABELS, SCORES, k, baseline="blunt", n_resamples=50)
    assert [row.method for row in report.rows] == ["sharp", "blunt"]
    for row in report.rows:
        scores = SCORES[row.method]
        assert row.precision_at_k.value == precision_at_k(LABELS, scores, k)
        assert row.recall_at_k.value == recall_at_k(LABELS, scores, k)
        assert row.roc_auc.value == roc_auc(LABELS, scores)
        assert row.average_precision.value == average_precision(LABELS, scores)
        assert row.precision_at_k.low <= row.precision_at_k.value <= row.precision_at_k.high
    assert report.n_top == (k if isinstance(k, int) else round(k * LABELS.sum()))
    assert (report.n_items, report.n_positive) == (200, LABELS.sum())


def test_the_gain_is_the_paired_difference_to_the_baseline() -> None:
    sharp, blunt = ranking_report(LABELS, SCORES, 10, baseline="blunt", n_resamples=50, seed=5).rows
    assert blunt.gain is None
    assert sharp.gain == paired_bootstrap(
        precision_at_k, LABELS, SCORES["sharp"], SCORES["blunt"], k=10, n_resamples=50, seed=5
    )


def test_the_order_of_the_items_does_not_matter() -> None:
    order = RNG.permutation(200)
    turned = {method: scores[order] for method, scores in SCORES.items()}
    first = ranking_report(LABELS, SCORES, 10, baseline="blunt", n_resamples=20)
    second = ranking_report(LABELS[order], turned, 10, baseline="blunt", n_resamples=20)
    for one, other in zip(first.rows, second.rows, strict=True):
        np.testing.assert_allclose(one.precision_at_k.low, other.precision_at_k.low)
        np.testing.assert_allclose(one.average_precision.high, other.average_precision.high)


def test_progress_is_told_each_method() -> None:
    told: list[str] = []
    ranking_report(LABELS, SCORES, 5, baseline="blunt", n_resamples=2, progress=lambda share, doing: told.append(doing))
    assert told == ["resampling sharp", "resampling blunt"]


def test_bad_requests_are_clear() -> None:
    with pytest.raises(UnknownName, match=r"No method called 'none'\. Known: blunt, sharp"):
        ranking_report(LABELS, SCORES, 5, baseline="none")
    with pytest.raises(InputError, match="only 200"):
        ranking_report(LABELS, SCORES, 500, baseline="blunt", n_resamples=2)
    with pytest.raises(LabelError, match="positive"):
        ranking_report(np.zeros(200), SCORES, 5, baseline="blunt", n_resamples=2)
