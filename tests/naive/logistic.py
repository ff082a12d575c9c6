"""Penalised logistic regression, value and slope, on a matrix that is there."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from riffler.records import FloatArray, IntArray


def value_and_slope(
    point: FloatArray, X: FloatArray, labels: IntArray, weight: FloatArray, penalty: float
) -> tuple[float, FloatArray]:
    """Weighted mean logistic loss + penalty / 2 |w|^2 at (w, bias); the bias is free."""
    sign = 2.0 * labels - 1.0
    margin = sign * (X @ point[:-1] + point[-1])
    share = weight / weight.sum()
    pull = -share * sign * expit(-margin)
    value = share @ np.logaddexp(0, -margin) + penalty / 2 * point[:-1] @ point[:-1]
    return float(value), np.append(X.T @ pull + penalty * point[:-1], pull.sum())
