"""Any measure, for each query group and averaged over the groups.

Groups without a positive row are skipped, whatever the measure, as are groups on which the measure is undefined (ROC
area where all rows are positive): there is no right order in them. How many were skipped is part of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.errors import InputError
from riffler.metrics.checked import UndefinedMetric, column, finite_scores
from riffler.metrics.first import reciprocal_rank
from riffler.metrics.order import average_precision
from riffler.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class GroupedMetric:
    """A measure on each group that was not skipped."""

    groups: NDArray[Any]  # names of the groups used, sorted
    values: FloatArray  # the measure on each of them
    n_skipped: int

    @property
    def mean(self) -> float:
        """Mean over the groups used; every group counts alike, however many rows it has."""
        return float(self.values.mean())

    @property
    def n_groups(self) -> int:
        """Number of groups used."""
        return int(self.values.size)


def metric_by_group(
    metric: Callable[..., float],
    labels: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    **options: Any,  # noqa: ANN401 - handed to the metric
) -> GroupedMetric:
    """Measure each query group by itself; ``groups`` names the group of each row, ``options`` go to the metric.

    >>> from riffler.metrics import ndcg_at
    >>> answer = metric_by_group(
    ...     ndcg_at, [1, 0, 0, 2, 0], [5, 4, 3, 2, 1], groups=["a", "a", "b", "c", "c"], n=10
    ... )
    >>> answer.groups.tolist(), answer.values.tolist(), answer.n_skipped
    (['a', 'c'], [1.0, 1.0], 1)
    """
    all_labels = column(labels, "labels")
    all_scores = finite_scores(scores, all_labels.size)
    names, group_of_row = _group_rows(groups, all_labels.size)
    rows_by_group = np.split(np.argsort(group_of_row, kind="stable"), np.cumsum(np.bincount(group_of_row))[:-1])
    used, values = [], []
    for group, rows in enumerate(rows_by_group):
        try:
            # The metric is called even where it is skipped, so that it refuses malformed labels in every group.
            value = metric(all_labels[rows], all_scores[rows], **options)
        except UndefinedMetric:
            continue
        except InputError as error:
            raise type(error)(f"In group {names.tolist()[group]!r}, its rows counted from 0: {error}") from error
        if (all_labels[rows] > 0).any():
            used.append(group)
            values.append(value)
    if not used:
        raise UndefinedMetric(f"None of the {names.size} groups has a positive row to measure. Check the labels.")
    return GroupedMetric(names[used], np.array(values, dtype=np.float64), names.size - len(used))


def mean_over_groups(
    metric: Callable[..., float],
    labels: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    **options: Any,  # noqa: ANN401 - handed to the metric
) -> float:
    """Mean of a measure over the query groups that have a positive; :func:`metric_by_group` tells how many.

    >>> from riffler.metrics import precision_at_k
    >>> mean_over_groups(precision_at_k, [1, 0, 0, 1], [4, 3, 2, 1], groups=[7, 7, 8, 8], k=1)
    0.5
    """
    return metric_by_group(metric, labels, scores, groups, **options).mean


def mean_average_precision(labels: ArrayLike, scores: ArrayLike, groups: ArrayLike) -> float:
    """Average precision averaged over query groups (MAP).

    >>> mean_average_precision([1, 0, 0, 1], [4, 3, 2, 1], groups=[7, 7, 8, 8])
    0.75
    """
    return mean_over_groups(average_precision, labels, scores, groups)


def mean_reciprocal_rank(labels: ArrayLike, scores: ArrayLike, groups: ArrayLike) -> float:
    """Reciprocal rank averaged over query groups (MRR).

    >>> mean_reciprocal_rank([1, 0, 0, 1], [4, 3, 2, 1], groups=[7, 7, 8, 8])
    0.75
    """
    return mean_over_groups(reciprocal_rank, labels, scores, groups)


def _group_rows(groups: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted names of the groups, and the position of each row's group among them."""
    given = column(groups, "groups")
    if given.size != n_rows:
        raise InputError(f"groups has {given.size} rows, labels have {n_rows}. Pass one group name per row.")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        row = int(np.argmin(np.isfinite(given)))
        raise InputError(f"groups must name a group in every row; row {row} is {given[row]}. Fix or drop that row.")
    try:
        names, group_of_row = np.unique(given, return_inverse=True)
    except TypeError as error:  # object arrays that mix text and None cannot be sorted
        raise InputError("groups must be all numbers or all text, got a mix. Convert them to text first.") from error
    return names, group_of_row.astype(np.int64)
