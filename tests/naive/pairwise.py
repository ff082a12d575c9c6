"""Losses over preference pairs by visiting every pair."""

from __future__ import annotations

import numpy as np

from riffler.records import FloatArray, IntArray


def pairs_of(grades: IntArray, groups: IntArray) -> list[tuple[int, int]]:
    """(upper row, lower row) of every pair."""
    n = len(grades)
    return [(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and grades[i] > grades[j]]


def hinge(scores: FloatArray, pairs: list[tuple[int, int]], weight: FloatArray) -> tuple[float, FloatArray]:
    """Weighted mean hinge and its slope."""
    value, slope, total = 0.0, np.zeros(len(scores)), 0.0
    for i, j in pairs:
        w = weight[i] * weight[j]
        total += w
        if scores[i] - scores[j] < 1:
            value += w * (1 - (scores[i] - scores[j]))
            slope[i] -= w
            slope[j] += w
    return value / total, slope / total


def squared_hinge(
    scores: FloatArray, pairs: list[tuple[int, int]], weight: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Weighted mean squared hinge, its slope and its (generalised) Hessian."""
    n = len(scores)
    value, slope, hessian, total = 0.0, np.zeros(n), np.zeros((n, n)), 0.0
    for i, j in pairs:
        w = weight[i] * weight[j]
        total += w
        short = 1 - (scores[i] - scores[j])
        if short > 0:
            value += w * short**2
            slope[i] -= 2 * w * short
            slope[j] += 2 * w * short
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                hessian[a, b] += 2 * w * sign
    return value / total, slope / total, hessian / total
