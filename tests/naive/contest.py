"""Regret, shares and cover as their definitions say, one row and one draw at a time."""

from __future__ import annotations

import math

import numpy as np

from riffler.records import BoolArray, FloatArray


def top(values: FloatArray, k: int) -> list[int]:
    return sorted(range(len(values)), key=lambda row: -values[row])[:k]


def relevance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def regret(mean_logits: FloatArray, logits: FloatArray, k: int) -> float:
    """Mean over draws of the relevance, under the draw, of its own top minus that of the predicted one."""
    predicted = top(mean_logits, k)
    lost: float = 0.0
    for draw in logits.T:
        own = top(draw, k)
        lost += sum(relevance(float(draw[row])) for row in own) / len(own)
        lost -= sum(relevance(float(draw[row])) for row in predicted) / len(predicted)
    return lost / int(logits.shape[1])


def shares(logits: FloatArray, k: int) -> list[float]:
    tops = [top(draw, k) for draw in logits.T]
    return [sum(row in own for own in tops) / len(tops) for row in range(len(logits))]


def spread_cover(features: FloatArray, free: BoolArray, n: int) -> list[int]:
    """Take the free row of the largest variance, invert the precision anew with it, and so on."""
    known = [features[row] for row in np.flatnonzero(~free)]
    left: list[int] = np.flatnonzero(free).tolist()
    chosen: list[int] = []
    while left and len(chosen) < n:
        precision = np.eye(features.shape[1])
        for row in known:
            precision += 0.25 * np.outer(row, row)
        covariance = np.linalg.inv(precision)
        best = max(left, key=lambda row: float(features[row] @ covariance @ features[row]))
        left.remove(best)
        chosen.append(best)
        known.append(features[best])
    return chosen
