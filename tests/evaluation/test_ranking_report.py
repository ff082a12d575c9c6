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


def test_all_methods_and_measures_share_the_resamples() -> None:
    methods = {**SCORES, "rounded": np.round(SCORES["sharp"])}
    report = ranking_report(LABELS, methods, 0.25, baseline="blunt", n_resamples=40, seed=2)
    rows = np.lexsort((LABELS, *reversed(list(methods.values()))))
    rng = np.random.default_rng(2)
    drawn = [rows[rng.integers(200, size=200)] for _ in range(40)]
    blunt = np.array([precision_at_k(LABELS[some], SCORES["blunt"][some], 0.25) for some in drawn])
    for row in report.rows:
        scores = methods[row.method]
        precision = np.array([precision_at_k(LABELS[some], scores[some], 0.25) for some in drawn])
        area = np.array([roc_auc(LABELS[some], scores[some]) for some in drawn])
        average = np.array([average_precision(LABELS[some], scores[some]) for some in drawn])
        for found, values in (
            (row.precision_at_k, precision),
            (row.roc_auc, area),
            (row.average_precision, average),
            *(() if row.gain is None else ((row.gain, precision - blunt),)),
        ):
            np.testing.assert_allclose([found.low, found.high], np.quantile(values, [0.025, 0.975]), atol=1e-12)


def test_progress_is_told_with_each_resample() -> None:
    told: list[tuple[float, str]] = []
    ranking_report(LABELS, SCORES, 5, baseline="blunt", n_resamples=2, progress=lambda *state: told.append(state))
    assert told == [(0.0, "resampling"), (0.5, "resampling")]


def test_bad_requests_are_clear() -> None:
    with pytest.raises(UnknownName, match=r"No method called 'none'\. Known: blunt, sharp"):
        ranking_report(LABELS, SCORES, 5, baseline="none")
    with pytest.raises(InputError, match="only 200"):
        ranking_report(LABELS, SCORES, 500, baseline="blunt", n_resamples=2)
    with pytest.raises(LabelError, match="positive"):
        ranking_report(np.zeros(200), SCORES, 5, baseline="blunt", n_resamples=2)
