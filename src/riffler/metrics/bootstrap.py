"""How sure a measure is: percentile bootstrap over rows, for one scoring or the difference of two.

``resampling.py`` draws and measures; here the drawn values become intervals. A bootstrap of several measures of
several scorings draws once for all of them, which is also what makes their differences paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, LabelError
from riffler.metrics.checked import column, finite_scores
from riffler.metrics.resampling import Measure, resampled
from riffler.records import FloatArray


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


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Measures of several scorings of the same rows: on all rows, and on resamples that all of them share."""

    value: FloatArray  # (n_scorings, n_measures)
    resampled: FloatArray  # (n_resamples, n_scorings, n_measures), NaN where a measure is undefined
    level: float

    def interval(self, scoring: int, measure: int) -> BootstrapInterval:
        """Give one measure of one scoring with its interval."""
        values = self.resampled[:, scoring, measure]
        values = values[~np.isnan(values)]
        low, high = _middle(values, self.level, len(self.resampled))
        return BootstrapInterval(float(self.value[scoring, measure]), low, high, self.level, int(values.size))

    def difference(self, a: int, b: int, measure: int) -> PairedDifference:
        """Give one measure of scoring ``a`` less that of scoring ``b``."""
        value_a, value_b = float(self.value[a, measure]), float(self.value[b, measure])
        differences = self.resampled[:, a, measure] - self.resampled[:, b, measure]
        differences = differences[~np.isnan(differences)]
        low, high = _middle(differences, self.level, len(self.resampled))
        fewer = 1 + min(int((differences <= 0).sum()), int((differences >= 0).sum()))
        p_value = min(1.0, 2 * fewer / (1 + differences.size))
        n_resamples = int(differences.size)
        return PairedDifference(value_a - value_b, low, high, p_value, value_a, value_b, self.level, n_resamples)


def bootstrap(
    measures: Sequence[Measure],
    labels: ArrayLike,
    scorings: Mapping[str, ArrayLike],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    tell: Callable[[float], None] | None = None,
) -> Bootstrap:
    """Measure named scorings of the same rows on shared resamples; far cheaper than one bootstrap a measure.

    ``measures`` are metrics with their options. ``tell`` is called with the share of the resamples done.

    >>> from riffler.metrics import precision_at_k, roc_auc
    >>> scorings = {"good": [1, 0] * 50, "poor": [0, 0] * 50}
    >>> found = bootstrap([(roc_auc, {}), (precision_at_k, {"k": 10})], [1, 0] * 50, scorings, n_resamples=50)
    >>> found.value.tolist(), found.difference(0, 1, measure=1).difference
    ([[1.0, 1.0], [0.5, 0.5]], 0.5)
    """
    for _, options in measures:
        _check_settings(n_resamples, level, options)
    label_column = column(labels, "labels")
    columns = [finite_scores(scores, label_column.size, name) for name, scores in scorings.items()]
    # the metrics also check labels and options, and name rows as they were given
    value = [[float(metric(label_column, scores, **options)) for metric, options in measures] for scores in columns]
    drawn = resampled(measures, label_column, columns, n_resamples, seed, tell)
    return Bootstrap(np.array(value), drawn, level)


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

    Resamples on which the measure is undefined (no positive was drawn, or it is NaN) are left out and not counted.

    >>> from riffler.metrics import roc_auc
    >>> found = bootstrap_interval(roc_auc, [1, 0] * 50, list(range(100)), n_resamples=200)
    >>> found.value, found.low < 0.49 < found.high
    (0.49, True)
    """
    scorings = {"scores": scores}
    found = bootstrap([(metric, options)], labels, scorings, n_resamples=n_resamples, level=level, seed=seed)
    return found.interval(0, 0)


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
    scorings = {"scores_a": scores_a, "scores_b": scores_b}
    found = bootstrap([(metric, options)], labels, scorings, n_resamples=n_resamples, level=level, seed=seed)
    return found.difference(0, 1, 0)


def _middle(values: FloatArray, level: float, n_resamples: int) -> tuple[float, float]:
    if not values.size:
        raise LabelError(
            f"The metric is undefined on all {n_resamples} resamples: too few positives or negatives. "
            "Label more rows, or ask for more resamples."
        )
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _check_settings(n_resamples: int, level: float, options: Mapping[str, Any]) -> None:
    if n_resamples < 1:
        raise InputError(f"n_resamples must be at least 1, got {n_resamples}. Pass for example 1000.")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}. Pass for example 0.95.")
    if "sample_weight" in options:
        raise InputError("The bootstrap draws rows and takes no sample_weight. Repeat the rows instead.")
