"""Precision along a ranking: how right the first n are, for every n that a chart draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from riffler.metrics.checked import binary_labels, finite_scores
from riffler.metrics.resampling import Runs, draws, rows_in_own_order, times_drawn
from riffler.metrics.ties import TieBlocks
from riffler.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionCurve:
    """Precision among the first n of one method's ranking, for the drawn depths n.

    ``low`` and ``high`` bound the middle 95 % of bootstrap resamples of the items; None where no band was asked for.
    """

    method: str
    depth: IntArray
    precision: FloatArray
    positive_share: float
    low: FloatArray | None = None
    high: FloatArray | None = None

    def frame(self) -> pl.DataFrame:
        """Give one row a depth: method, depth, precision, low, high (null without a band)."""
        return pl.DataFrame(
            {
                "method": [self.method] * len(self.depth),
                "depth": self.depth,
                "precision": self.precision,
                "low": [None] * len(self.depth) if self.low is None else self.low,
                "high": [None] * len(self.depth) if self.high is None else self.high,
            },
            schema_overrides={"low": pl.Float64, "high": pl.Float64},
        )


def drawn_depths(n_items: int, n_points: int = 200) -> IntArray:
    """Depths from 1 to n_items spread evenly on a log axis, each once.

    >>> drawn_depths(1000, n_points=4)
    array([   1,   10,  100, 1000])
    """
    return np.unique(np.geomspace(1, n_items, num=n_points).round().astype(np.int64))


def precision_curve(
    method: str, labels: ArrayLike, scores: ArrayLike, *, n_resamples: int = 0, seed: int = 0
) -> PrecisionCurve:
    """Compute precision among the first n, expected over tie orders, with a bootstrap band if resamples are asked for.

    >>> precision_curve("toy", [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]).precision.round(2)
    array([1.  , 0.5 , 0.67, 0.5 ])
    """
    positive = binary_labels(labels)
    n_items = len(positive)
    checked_scores = finite_scores(scores, n_items)
    rows = rows_in_own_order(positive, [checked_scores])
    runs = Runs.of(positive[rows], checked_scores[rows])
    depth = drawn_depths(n_items)
    line = _precision_at_depths(runs.blocks(np.ones(n_items)), depth)
    share = float(positive.mean())
    if n_resamples == 0:
        return PrecisionCurve(method, depth, line, share)
    resampled = np.empty((n_resamples, len(depth)))
    for values, drawn in zip(resampled, draws(n_items, n_resamples, seed), strict=True):
        values[:] = _precision_at_depths(runs.blocks(times_drawn(drawn)), depth)
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    return PrecisionCurve(method, depth, line, share, low, high)


def _precision_at_depths(blocks: TieBlocks, depth: IntArray) -> FloatArray:
    """Expected positives among the first n grow in a straight line through a block of ties."""
    reached = np.concatenate(([0.0], np.cumsum(blocks.weight)))
    found = np.concatenate(([0.0], np.cumsum(blocks.positive)))
    precision: FloatArray = np.interp(depth, reached, found) / depth
    return precision
