"""Rows of equal score, summed into blocks.

A measure of binary labels that averages over tie orders needs only two numbers of each block: how many rows it has
and how many of them are positive. Weights repeat rows, and repeated rows tie, so they only change these two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.metrics.checked import UndefinedMetric, binary_labels, finite_scores, row_weights
from riffler.records import BoolArray, FloatArray, IntArray


def sort_into_blocks(scores: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return the rows, best scored first, and where in that order each block of equal scores begins."""
    order = np.argsort(scores)[::-1]
    ranked = scores[order]
    begins = np.concatenate(([True], ranked[1:] != ranked[:-1]))
    return order, np.flatnonzero(begins)


@dataclass(frozen=True, slots=True, eq=False)
class TieBlocks:
    """The blocks of equal score, best scored first; a block whose rows all have weight zero stays, empty."""

    weight: FloatArray  # rows in each block, or their weight
    positive: FloatArray  # the part of it that is positive

    @property
    def total(self) -> float:
        """Number of rows, or their weight."""
        return float(self.weight.sum())

    @property
    def n_positive(self) -> float:
        """Number of positives, or their weight."""
        return float(self.positive.sum())

    @property
    def negative(self) -> FloatArray:
        """The part of each block that is negative."""
        negative: FloatArray = self.weight - self.positive
        return negative


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows sorted by score once, so that blocks for many weightings of the same rows cost one pass each."""

    order: IntArray  # rows, best scored first
    starts: IntArray  # where in that order each block begins
    positive: FloatArray  # 1.0 or 0.0, in that order

    @classmethod
    def of(cls, positive: BoolArray, scores: NDArray[Any]) -> Ranking:
        """Sort checked rows."""
        order, starts = sort_into_blocks(scores)
        return cls(order, starts, positive[order].astype(np.float64))

    def blocks(self, weight: FloatArray) -> TieBlocks:
        """Sum the weights, one for each row in the caller's order, into blocks."""
        ranked_weight = weight[self.order]
        ranked_positive = ranked_weight * self.positive
        if self.starts.size == self.order.size:  # nothing ties, nothing to sum
            return TieBlocks(ranked_weight, ranked_positive)
        return TieBlocks(np.add.reduceat(ranked_weight, self.starts), np.add.reduceat(ranked_positive, self.starts))


def tie_blocks(labels: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> TieBlocks:
    """Check labels, scores and weights, and sum the rows into blocks of equal score.

    >>> blocks = tie_blocks([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.5])
    >>> blocks.weight.tolist(), blocks.positive.tolist()
    ([1.0, 3.0], [1.0, 1.0])
    """
    positive = binary_labels(labels)
    checked_scores = finite_scores(scores, positive.size)
    weight = np.ones(positive.size) if sample_weight is None else row_weights(sample_weight, positive.size)
    return Ranking.of(positive, checked_scores).blocks(weight)


def before(amounts: FloatArray) -> FloatArray:
    """Sum of all blocks ranked before each block."""
    return np.concatenate(([0.0], np.cumsum(amounts)[:-1]))


def need_positives(blocks: TieBlocks, what: str) -> float:
    """Return the number of positives; without any, what was asked for is undefined."""
    n_positive = blocks.n_positive
    if n_positive <= 0:
        raise UndefinedMetric(
            f"{what} needs at least one positive, but all {blocks.total:g} rows are negative. Check the labels."
        )
    return n_positive


def need_negatives(blocks: TieBlocks, what: str) -> float:
    """Return the number of negatives; without any, what was asked for is undefined."""
    n_negative = float(blocks.negative.sum())
    if n_negative <= 0:
        raise UndefinedMetric(
            f"{what} needs at least one negative, but all {blocks.total:g} rows are positive. Check the labels."
        )
    return n_negative
