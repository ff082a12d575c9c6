"""The table that compares rankings of the items of many queries: measured query by query, averaged over the queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.errors import UnknownName
from riffler.losses.pairwise import PreferencePairs
from riffler.metrics import ndcg_at, reciprocal_rank
from riffler.metrics.bootstrap import Bootstrap, BootstrapInterval, PairedDifference
from riffler.metrics.groups import metric_by_group
from riffler.records import FloatArray

FIRST = 10
"""How many of the first items of a query are looked at, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One method's measures; ``gain`` is its NDCG less the baseline's (None for the baseline itself)."""

    method: str
    ndcg: BootstrapInterval
    pairs_in_order: BootstrapInterval
    reciprocal_rank: BootstrapInterval
    gain: PairedDifference | None


@dataclass(frozen=True, slots=True)
class QueryReport:
    """Rankings of the items of the same queries side by side; ``n_skipped`` queries have nothing to tell apart."""

    n_top: int
    n_items: int
    n_queries: int
    n_skipped: int
    baseline: str
    rows: tuple[QueryRow, ...]


def query_report(
    grades: ArrayLike,
    scores: Mapping[str, ArrayLike],
    queries: ArrayLike,
    n_top: int = FIRST,
    *,
    baseline: str,
    n_resamples: int = 1000,
    seed: int = 0,
) -> QueryReport:
    """Measure each method's scores query by query, with 95 % intervals from resampled queries.

    >>> scores = {"good": [2, 1, 2, 1], "bad": [1, 2, 1, 2]}
    >>> report = query_report([3, 0, 1, 0], scores, [7, 7, 8, 8], baseline="bad", n_resamples=10)
    >>> [(row.method, row.ndcg.value, row.pairs_in_order.value) for row in report.rows]
    [('good', 1.0, 1.0), ('bad', 0.63..., 0.0)]
    """
    if baseline not in scores:
        raise UnknownName.among("method", baseline, scores)
    given, groups = np.asarray(grades, dtype=np.float64), np.asarray(queries)
    above_zero, told_apart = _told_apart(given, groups)
    values = np.array(
        [_measures(above_zero, np.asarray(one)[told_apart], groups[told_apart], n_top) for one in scores.values()]
    )  # (n_methods, n_measures, n_queries)
    rng = np.random.default_rng(seed)
    n_queries = values.shape[2]
    drawn = np.array([values[:, :, rng.integers(n_queries, size=n_queries)].mean(axis=2) for _ in range(n_resamples)])
    found = Bootstrap(values.mean(axis=2), drawn, level=0.95)
    methods = list(scores)
    rows = tuple(_row(found, number, methods, methods.index(baseline)) for number in range(len(methods)))
    n_skipped = len(np.unique(groups)) - n_queries
    return QueryReport(n_top, len(given), n_queries, n_skipped, baseline, rows)


def mean_ndcg(grades: FloatArray, scores: FloatArray, queries: NDArray[np.int64], n_top: int) -> float:
    """NDCG of the first ``n_top`` items, averaged over the queries that have items of several grades."""
    above_zero, told_apart = _told_apart(grades, queries)
    return metric_by_group(ndcg_at, above_zero, scores[told_apart], queries[told_apart], n=n_top).mean


def _told_apart(grades: FloatArray, queries: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Grades of the rows of the queries that have pairs, less the lowest of all rows; and which rows these are."""
    told_apart = np.isin(queries, queries[PreferencePairs(grades, queries).rows])
    return grades[told_apart] - grades.min(), told_apart


def _measures(above_zero: FloatArray, scores: FloatArray, queries: NDArray[np.int64], n_top: int) -> list[FloatArray]:
    return [
        metric_by_group(ndcg_at, above_zero, scores, queries, n=n_top).values,
        metric_by_group(_share_in_order, above_zero, scores, queries).values,
        metric_by_group(reciprocal_rank, (above_zero > 0).astype(np.int64), scores, queries).values,
    ]


def _share_in_order(grades: FloatArray, scores: FloatArray) -> float:
    return PreferencePairs(grades).share_in_order(np.asarray(scores, dtype=np.float64))


def _row(found: Bootstrap, number: int, methods: list[str], baseline: int) -> QueryRow:
    ndcg, in_order, first = (found.interval(number, measure) for measure in range(3))
    gain = None if number == baseline else found.difference(number, baseline, measure=0)
    return QueryRow(methods[number], ndcg, in_order, first, gain)
