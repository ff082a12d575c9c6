"""Resamples of rows, drawn once for all scorings and all measures.

A resample draws as many rows as there are, with replacement. A row drawn c times is a row of weight c, so the measures
of binary labels are computed from block sums over one sorting; any other callable is called on the drawn rows.
Rows are first put in an order of their own (by score, then label), so the answer does not depend on how they came.
Memory stays at a few arrays of one value a row, however many resamples there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.errors import LabelError
from riffler.metrics import at_k, first, order
from riffler.metrics.checked import binary_labels
from riffler.metrics.ties import TieBlocks, sort_into_blocks
from riffler.records import BoolArray, FloatArray, IntArray

Measure = tuple[Callable[..., float], Mapping[str, Any]]
"""A metric and its options: ``(precision_at_k, {"k": 50})``."""

FROM_BLOCKS: Mapping[Callable[..., float], Callable[..., float]] = {
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


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Blocks of equal score, neighbours of one pure class joined, ready to be summed for many weightings.

    No order among rows that are all positive, or all negative, changes a measure of binary labels, so such neighbours
    may as well tie. Where positives are rare, few blocks are left, and all measures cost little.
    """

    cell: IntArray  # of each row, in the caller's order: twice the number of its block, plus one if it is positive
    n_blocks: int

    @classmethod
    def of(cls, positive: BoolArray, scores: NDArray[Any]) -> Runs:
        """Sort checked rows once.

        >>> Runs.of(np.array([True, True, False, False]), np.array([4.0, 3.0, 2.0, 1.0])).n_blocks
        2
        """
        by_score, starts = sort_into_blocks(scores)
        size = np.diff(starts, append=by_score.size)
        n_positive = np.add.reduceat(positive[by_score].astype(np.int64), starts)
        mixed = (n_positive > 0) & (n_positive < size)
        pure_positive = n_positive == size
        joins = ~mixed[1:] & ~mixed[:-1] & (pure_positive[1:] == pure_positive[:-1])
        block = np.concatenate(([0], np.cumsum(~joins)))
        cell = np.empty(by_score.size, dtype=np.int64)
        cell[by_score] = 2 * np.repeat(block, size)
        return cls(cell + positive, int(block[-1]) + 1)

    def blocks(self, weight: FloatArray) -> TieBlocks:
        """Sum the weights, one for each row in the caller's order."""
        sums = np.bincount(self.cell, weights=weight, minlength=2 * self.n_blocks).astype(np.float64, copy=False)
        negative, positive = sums[0::2], sums[1::2]
        return TieBlocks(negative + positive, positive)


def rows_in_own_order(labels: NDArray[Any], scorings: Sequence[NDArray[Any]]) -> IntArray:
    """Sort rows by the first scoring, ties by the next, at last by label: the same whatever order they came in."""
    return np.lexsort((labels, *reversed(scorings)))


def draws(n_rows: int, n_resamples: int, seed: int) -> Iterator[IntArray]:
    """Yield the rows of each resample."""
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        yield rng.integers(n_rows, size=n_rows)


def times_drawn(drawn: IntArray) -> FloatArray:
    """How often each row is in a resample.

    >>> times_drawn(np.array([2, 0, 2])).tolist()
    [1.0, 0.0, 2.0]
    """
    return np.bincount(drawn, minlength=drawn.size).astype(np.float64)


def resampled(
    measures: Sequence[Measure],
    labels: NDArray[Any],
    scorings: Sequence[NDArray[Any]],
    n_resamples: int,
    seed: int,
    tell: Callable[[float], None] | None = None,
) -> FloatArray:
    """All measures of all scorings on the same resamples, of shape (n_resamples, n_scorings, n_measures).

    NaN where a measure is undefined on a resample. Rows must have been checked, by the measures themselves for one.
    ``tell`` is called with the share done, before each resample.
    """
    rows = rows_in_own_order(labels, scorings)
    meters = [_meter(measures, labels[rows], scores[rows]) for scores in scorings]
    values = np.empty((n_resamples, len(scorings), len(measures)))
    for number, drawn in enumerate(draws(rows.size, n_resamples, seed)):
        if tell is not None:
            tell(number / n_resamples)
        counts = times_drawn(drawn)
        values[number] = [meter(drawn, counts) for meter in meters]
    return values


def _meter(
    measures: Sequence[Measure], labels: NDArray[Any], scores: NDArray[Any]
) -> Callable[[IntArray, FloatArray], list[float]]:
    """Return a function from drawn rows, and how often each was drawn, to the measures of one scoring on them."""
    fast = any(metric in FROM_BLOCKS for metric, _ in measures)
    runs = Runs.of(binary_labels(labels), scores) if fast else None

    def meter(drawn: IntArray, counts: FloatArray) -> list[float]:
        blocks = None if runs is None else runs.blocks(counts)
        return [_value(metric, options, labels, scores, drawn, blocks) for metric, options in measures]

    return meter


def _value(
    metric: Callable[..., float],
    options: Mapping[str, Any],
    labels: NDArray[Any],
    scores: NDArray[Any],
    drawn: IntArray,
    blocks: TieBlocks | None,
) -> float:
    try:
        if blocks is not None and metric in FROM_BLOCKS:
            return FROM_BLOCKS[metric](blocks, **options)
        return float(metric(labels[drawn], scores[drawn], **options))
    except LabelError:  # all rows together passed, so these labels are only of too few classes
        return float("nan")
