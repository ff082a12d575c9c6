"""NDCG of graded rows as a weighted mean of NDCGs of good and bad rows, one for each grade that is a threshold.

A gain is a sum over the thresholds it passes: with grades l_0 < l_1 < ... of a query, 2^y - 2^l_0 is the sum of
2^l_t - 2^l_(t-1) over the t with y >= l_t. DCG is linear in the gains and one order is the best for all thresholds, so

    1 - NDCG = sum over t of share_t * (1 - NDCG_t),    share_t proportional to (2^l_t - 2^l_(t-1)) * ideal DCG_t

with NDCG_t that of "grade l_t or more" against less. The worst order of each NDCG_t is found exactly; the mean of their
hinges is convex and never below the loss. Rows of equal grade are never compared.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.order_losses import OrderLoss
from riffler.structured.partial_order import OrderExamples


def gains_of(grades: FloatArray) -> FloatArray:
    """Give 2^y - 2^(lowest y), by that of the highest: from 0 to 1, and the same NDCG; no grade is too large.

    >>> gains_of(np.array([0.0, 2.0, 1.0]))
    array([0.        , 1.        , 0.33333333])
    """
    powers = np.exp2(grades - grades.max())
    span = powers.max() - powers.min()
    return (powers - powers.min()) / span if span > 0 else np.zeros(len(grades))


def graded_examples(rows: IntArray, group_starts: IntArray, grades: FloatArray, loss: OrderLoss) -> OrderExamples:
    """Give one example for each threshold of each query; a query counts 1 in all, by their number.

    rows : by query and, in each, by grade, lowest first; group_starts : where queries start there; grades : of all rows
    """
    starts, n_good, share = [], [], []
    n_groups = len(group_starts) - 1
    for first, last in pairwise(group_starts.tolist()):
        gains = gains_of(grades[rows[first:last]])
        steps = np.flatnonzero(np.diff(grades[rows[first:last]])) + 1
        good = last - first - steps
        ideal = np.cumsum(loss.worth(last - first))[good - 1]
        counts = np.diff(gains[np.append(steps - 1, -1)]) if len(steps) > 1 else np.ones(1)
        weight = counts * ideal
        starts.append(np.tile([first, last], (len(steps), 1)))
        n_good.append(good)
        share.append(weight / weight.sum() / n_groups)
    return OrderExamples(rows.astype(np.int64), np.concatenate(starts), np.concatenate(n_good), np.concatenate(share))
