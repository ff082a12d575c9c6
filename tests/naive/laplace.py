"""The penalised logistic loss as a plain sum, and its second derivatives by differences."""

from __future__ import annotations

import numpy as np

from riffler.records import FloatArray, IntArray


def loss(point: FloatArray, Z: FloatArray, labels: IntArray, penalty: FloatArray) -> float:
    """Sum of log(1 + exp(-margin)) plus half the penalised squares; the last weight is the intercept."""
    sign = 2.0 * labels - 1.0
    margin = sign * (Z @ point[:-1] + point[-1])
    return float(np.logaddexp(0.0, -margin).sum() + 0.5 * (penalty * point**2).sum())


def hessian(point: FloatArray, Z: FloatArray, labels: IntArray, penalty: FloatArray, h: float = 1e-3) -> FloatArray:
    """Second derivatives by central differences."""
    n = len(point)
    steps = h * np.eye(n)
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            corners = [
                si * sj * loss(point + si * steps[i] + sj * steps[j], Z, labels, penalty)
                for si in (1, -1)
                for sj in (1, -1)
            ]
            found[i, j] = sum(corners) / (4 * h * h)
    return found
