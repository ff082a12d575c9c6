"""Monotone maps of dense columns that bring them to one scale before distances are measured.

A kernel sees distances, so one column with a long tail can hide all others. Standard scores keep the shape of a column;
normal scores of its ranks keep only its order, as trees do.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from sklearn.preprocessing import QuantileTransformer

from riffler.features.blocks import Scaling
from riffler.records import FloatArray, Matrix, is_sparse

KNOTS = 200
KNOT_ROWS = 10_000  # rows that are enough to read the quantiles from
FARTHEST = 3.0  # normal scores beyond are as far as this


class Warp(Protocol):
    """Turns rows into float32 rows of comparable columns."""

    def __call__(self, X: Matrix) -> Matrix:
        """Map a block of rows."""
        ...


class StandardWarp:
    """Shift and scale columns; sparse ones are only scaled."""

    def __init__(self, scaling: Scaling) -> None:
        self._scaling = scaling

    def __call__(self, X: Matrix) -> Matrix:
        """Map a block of rows."""
        if is_sparse(X):
            return X.multiply(1.0 / self._scaling.scale).tocsr().astype(np.float32)
        centred = X if self._scaling.center is None else X - self._scaling.center
        return (centred / self._scaling.scale).astype(np.float32)


class RankWarp:
    """Normal scores of the ranks of each column of a dense sample, cut at 3 and standardised."""

    def __init__(self, sample: FloatArray) -> None:
        n_knots = min(KNOTS, len(sample))
        self._ranks = QuantileTransformer(n_quantiles=n_knots, output_distribution="normal", subsample=None).fit(sample)
        scores = self._scores(sample)
        self._center = scores.mean(axis=0)
        spread = scores.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)

    def __call__(self, X: Matrix) -> Matrix:
        """Map a block of rows."""
        return ((self._scores(X) - self._center) / self._spread).astype(np.float32)

    def _scores(self, X: FloatArray) -> FloatArray:
        cut: FloatArray = np.clip(self._ranks.transform(X), -FARTHEST, FARTHEST)
        return cut
