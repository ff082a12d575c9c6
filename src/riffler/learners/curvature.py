"""A guess of the inverse Hessian of the logistic loss, made once from the second moments of the features.

The Hessian is at most a quarter of the second moments, plus the penalty. With it the solver's first steps point where
Newton's would, whatever the penalty, for one product with a small matrix a step (dense), or one with a diagonal
(sparse, or very many columns).
"""

from __future__ import annotations

import numpy as np

from riffler.features.blocks import RowBlocks
from riffler.learners.lockstep import Metric
from riffler.records import FloatArray

FULL_COLUMNS = 1600  # beyond this many, the full matrix costs more than it saves


class Curvature:
    """Second moments of the rows in the form that makes (moments / 4 + penalty)^-1 cheap for every penalty."""

    def __init__(self, rows: RowBlocks, weight: FloatArray) -> None:
        self._axes: FloatArray | None = None
        if rows.is_sparse or rows.n_columns > FULL_COLUMNS:
            self._moments = rows.mean_squares(weight)
        else:
            moments, self._axes = np.linalg.eigh(rows.second_moments(weight))
            self._moments = np.maximum(moments, 0.0)

    @property
    def mean_square(self) -> float:
        """Mean squared norm of the rows: the natural unit of penalties."""
        return float(self._moments.sum()) or 1.0

    def inverse(self, penalty: float) -> Metric:
        """Return what multiplies a slope (weights, then bias) by the inverse for this penalty."""
        # the bias has second moment 1; a share of the mean keeps directions without data from exploding
        floor = penalty + 1e-6 * float(self._moments.mean())
        stretch, axes = 1.0 / (self._moments / 4.0 + floor), self._axes

        def multiply(slope: FloatArray) -> FloatArray:
            product = np.empty_like(slope)
            product[:-1] = stretch * slope[:-1] if axes is None else axes @ (stretch * (axes.T @ slope[:-1]))
            product[-1] = 4.0 * slope[-1]
            return product

        return multiply
