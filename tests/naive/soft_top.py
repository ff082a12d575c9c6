"""The objective of TopKRanker by its definition: the threshold from a root finder, every row a term."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from riffler.records import BoolArray, FloatArray, IntArray


def soft_step(u: FloatArray) -> FloatArray:
    u = np.clip(u, -1, 1)
    return 0.5 + 0.75 * u - 0.25 * u**3


def value(
    scores: FloatArray,
    labels: IntArray,
    weight: FloatArray,
    rows_in: BoolArray,
    k: float,
    width: float,
    order: float,
    prior_loss: float,
    bias: float,
) -> float:
    """(1 - order) (1 - soft precision) + order * mean logistic loss / prior_loss, over the rows that are in."""
    s, y, weight = scores[rows_in], labels[rows_in], weight[rows_in]
    mean = np.average(s, weights=weight)
    z = (s - mean) / np.sqrt(np.average((s - mean) ** 2, weights=weight))

    def excess(t: float) -> float:
        return float(weight @ soft_step((z - t) / width) - k)

    t = brentq(excess, z.min() - 2 * width, z.max() + 2 * width, xtol=1e-13)
    precision = float((weight * y) @ soft_step((z - t) / width)) / k
    logistic = np.average(np.logaddexp(0, -(2 * y - 1.0) * (s + bias)), weights=weight)
    return float((1 - order) * (1 - precision) + order * logistic / prior_loss)
