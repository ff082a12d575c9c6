"""The table that compares rankings of the same items: the top, the whole order, how sure each number is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import UnknownName
from riffler.metrics import (
    BootstrapInterval,
    PairedDifference,
    average_precision,
    bootstrap_interval,
    paired_bootstrap,
    precision_at_k,
    recall_at_k,
    resolve_k,
    roc_auc,
)
from riffler.metrics.checked import binary_labels


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One method's measures; ``gain`` is its precision at k less the baseline's (None for the baseline itself)."""

    method: str
    precision_at_k: BootstrapInterval
    recall_at_k: BootstrapInterval
    roc_auc: BootstrapInterval
    average_precision: BootstrapInterval
    gain: PairedDifference | None


@dataclass(frozen=True, slots=True)
class RankingReport:
    """Rankings of the same items side by side; ``n_top`` is k as a number of items."""

    k: int | float
    n_top: int
    n_items: int
    n_positive: int
    baseline: str
    rows: tuple[RankingRow, ...]


def ranking_report(
    labels: ArrayLike,
    scores: Mapping[str, ArrayLike],
    k: int | float,
    *,
    baseline: str,
    n_resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
) -> RankingReport:
    """Measure each method's scores of the same items, with 95 % bootstrap intervals.

    ``k`` is a number of items, or a share of the positives. ``baseline`` names the method the others are compared
    with, pair by pair on the same resamples. ``progress`` is called with the share done and what is being done.

    >>> labels = [1, 0] * 20
    >>> scores = {"good": [3, 1, 2, 0] * 10, "flat": [0] * 40}
    >>> report = ranking_report(labels, scores, k=10, baseline="flat", n_resamples=50)
    >>> [(row.method, row.precision_at_k.value, row.roc_auc.value) for row in report.rows]
    [('good', 1.0, 1.0), ('flat', 0.5, 0.5)]
    >>> report.rows[0].gain.difference
    0.5
    """
    if baseline not in scores:
        raise UnknownName.among("method", baseline, scores)
    positive = binary_labels(labels)
    rows = []
    for number, (method, method_scores) in enumerate(scores.items()):
        if progress is not None:
            progress(number / len(scores), f"resampling {method}")
        rival = None if method == baseline else scores[baseline]
        rows.append(_row(method, positive, method_scores, rival, k, n_resamples, seed))
    n_positive = int(np.count_nonzero(positive))
    return RankingReport(k, resolve_k(k, n_positive), len(positive), n_positive, baseline, tuple(rows))


def _row(
    method: str,
    labels: ArrayLike,
    scores: ArrayLike,
    baseline_scores: ArrayLike | None,
    k: int | float,
    n_resamples: int,
    seed: int,
) -> RankingRow:
    drawing = {"n_resamples": n_resamples, "seed": seed}
    return RankingRow(
        method,
        precision_at_k=bootstrap_interval(precision_at_k, labels, scores, k=k, **drawing),
        recall_at_k=bootstrap_interval(recall_at_k, labels, scores, k=k, **drawing),
        roc_auc=bootstrap_interval(roc_auc, labels, scores, **drawing),
        average_precision=bootstrap_interval(average_precision, labels, scores, **drawing),
        gain=None
        if baseline_scores is None
        else paired_bootstrap(precision_at_k, labels, scores, baseline_scores, k=k, **drawing),
    )
