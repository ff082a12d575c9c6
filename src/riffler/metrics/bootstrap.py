"""How sure a measure is: percentile bootstrap over rows, for one scoring or the difference of two.

A resample draws as many rows as there are, with replacement. A row drawn c times is a row of weight c, so the measures
of binary labels are computed from block sums over one sorting; any other callable is called on the drawn rows.
Rows are first put in an order of their own (by score, then label), so the answer does not depend on how they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.errors import InputError, LabelError
from riffler.metrics import at_k, first, order
from riffler.metrics.checked import binary_labels, column, finite_scores
from riffler.metrics.ties import Ranking, TieBlocks
from riffler.records import FloatArray, IntArray

_FROM_BLOCKS: Mapping[Callable[..., float], Callable[..., float]] = {
    at_k.precision_at_k: at_k.precision_of_blocks,
    at_k.prec_at_k_loss: at_k.loss_of_blocks,
    at_k.recall_at_k: at_k.recall_of_blocks,
    order.roc_auc: order.auc_of_blocks,
    order.partial_auc: order.partial_auc_of_blocks,
    order.average_precision: order.average_precision_of_blocks,
    first.reciprocal_rank: first.reciprocal_rank_of_blocks,
    first.winner_takes_all: first.winner_takes_all_of_blocks,
}
"""The measures that need only block sums; they take the fast way."""


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A measure on the rows given, and the interval that holds the middle ``level`` of its resampled values."""

    value: float
    low: float
    high: float
    level: float
    n_resamples: int  # those on which the measure was defined


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much higher the first scoring measures than the second, both on the same resamples."""

    difference: float  # value_a - value_b
    low: float
    high: float
    p_value: float  # two-sided, of the difference being zero
    value_a: float
    value_b: float
    level: float
    n_resamples: int  # those on which the measure was defined


def bootstrap_interval(
    metric: Callable[..., float],
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - handed to the metric
) -> BootstrapInterval:
    """Percentile interval of a measure over resampled rows; ``options`` such as ``k=50`` go to the metric.

    Resamples on which the measure is undefined (no positive was drawn) are left out and not counted.

    >>> from riffler.metrics import roc_auc
    >>> found = bootstrap_interval(roc_auc, [1, 0] * 50, list(range(100)), n_resamples=200)
    >>> found.value, found.low < 0.49 < found.high
    (0.49, True)
    """
    _check_settings(n_resamples, level, options)
    label_column = column(labels, "labels")
    score_column = finite_scores(scores, label_column.size)
    value = float(metric(label_column, score_column, **options))  # also checks labels and options, in the given order
    rows = np.lexsort((label_column, score_column))
    measure = _measure(metric, label_column[rows], score_column[rows], options)
    values = np.array([found for (found,) in _resampled([measure], rows.size, n_resamples, seed)])
    low, high = _middle(values, level, n_resamples)
    return BootstrapInterval(value, low, high, level, int(values.size))


def paired_bootstrap(
    metric: Callable[..., float],
    labels: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - handed to the metric
) -> PairedDifference:
    """Compare two scorings of the same rows by their difference on the same resamples.

    The p-value is twice the smaller share of resampled differences on either side of zero (zeros count on both),
    ``2 * min(1 + #{d <= 0}, 1 + #{d >= 0}) / (1 + B)``, at most 1.

    >>> from riffler.metrics import roc_auc
    >>> labels, good, poor = [1, 0] * 50, [1, 0] * 50, [0, 0] * 50
    >>> found = paired_bootstrap(roc_auc, labels, good, poor, n_resamples=200)
    >>> found.difference, found.low, round(found.p_value, 4)
    (0.5, 0.5, 0.01)
    """
    _check_settings(n_resamples, level, options)
    label_column = column(labels, "labels")
    column_a = finite_scores(scores_a, label_column.size, "scores_a")
    column_b = finite_scores(scores_b, label_column.size, "scores_b")
    value_a, value_b = (float(metric(label_column, scores, **options)) for scores in (column_a, column_b))
    rows = np.lexsort((label_column, column_b, column_a))
    measures = [_measure(metric, label_column[rows], scores[rows], options) for scores in (column_a, column_b)]
    differences = np.array([a - b for a, b in _resampled(measures, rows.size, n_resamples, seed)])
    low, high = _middle(differences, level, n_resamples)
    fewer = 1 + min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * fewer / (1 + differences.size))
    return PairedDifference(value_a - value_b, low, high, p_value, value_a, value_b, level, int(differences.size))


def _measure(
    metric: Callable[..., float], labels: NDArray[Any], scores: NDArray[Any], options: dict[str, Any]
) -> Callable[[IntArray], float]:
    """Return a function from drawn rows to the measure on them."""
    if metric not in _FROM_BLOCKS:
        return lambda drawn: float(metric(labels[drawn], scores[drawn], **options))
    from_blocks = _FROM_BLOCKS[metric]
    ranking = Ranking.of(binary_labels(labels), scores)

    def measure(drawn: IntArray) -> float:
        counts = np.bincount(drawn, minlength=labels.size).astype(np.float64)
        blocks: TieBlocks = ranking.blocks(counts)
        return from_blocks(blocks, **options)

    return measure


def _resampled(
    measures: list[Callable[[IntArray], float]], n_rows: int, n_resamples: int, seed: int
) -> Iterator[list[float]]:
    """Yield all measures on each resample on which they are defined."""
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        drawn = rng.integers(n_rows, size=n_rows)
        try:
            yield [measure(drawn) for measure in measures]
        except LabelError:  # all rows together passed, so these labels are only of too few classes
            continue


def _middle(values: FloatArray, level: float, n_resamples: int) -> tuple[float, float]:
    if not values.size:
        raise LabelError(
            f"The metric is undefined on all {n_resamples} resamples: too few positives or negatives. "
            "Label more rows, or ask for more resamples."
        )
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _check_settings(n_resamples: int, level: float, options: dict[str, Any]) -> None:
    if n_resamples < 1:
        raise InputError(f"n_resamples must be at least 1, got {n_resamples}. Pass for example 1000.")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}. Pass for example 0.95.")
    if "sample_weight" in options:
        raise InputError("The bootstrap draws rows and takes no sample_weight. Repeat the rows instead.")
