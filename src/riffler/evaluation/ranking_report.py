"""The table that compares rankings of the same items: the top, the whole order, how sure each number is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import UnknownName
from riffler.metrics import (
    BootstrapInterval,
    PairedDifference,
    average_precision,
    precision_at_k,
    recall_at_k,
    resolve_k,
    roc_auc,
)
from riffler.metrics.bootstrap import Bootstrap, bootstrap
from riffler.metrics.checked import binary_labels
from riffler.metrics.resampling import Measure


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
    with. All methods and measures share the same resamples. ``progress`` is called with the share done and what is
    being done.

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
    measures: list[Measure] = [
        (precision_at_k, {"k": k}),
        (recall_at_k, {"k": k}),
        (roc_auc, {}),
        (average_precision, {}),
    ]
    tell = None if progress is None else partial(_tell, progress)
    found = bootstrap(measures, positive, scores, n_resamples=n_resamples, seed=seed, tell=tell)
    methods = list(scores)
    rows = tuple(_row(found, number, methods, methods.index(baseline)) for number in range(len(methods)))
    n_positive = int(np.count_nonzero(positive))
    return RankingReport(k, resolve_k(k, n_positive), len(positive), n_positive, baseline, rows)


def _tell(progress: Callable[[float, str], None], share: float) -> None:
    progress(share, "resampling")


def _row(found: Bootstrap, number: int, methods: list[str], baseline: int) -> RankingRow:
    """Give the measures of one method, in the order in which they were asked for."""
    precision, recall, area, average = (found.interval(number, measure) for measure in range(4))
    gain = None if number == baseline else found.difference(number, baseline, measure=0)
    return RankingRow(methods[number], precision, recall, area, average, gain)
