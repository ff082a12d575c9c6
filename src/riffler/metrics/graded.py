"""Normalised discounted cumulative gain for graded relevance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.metrics.checked import UndefinedMetric, finite_scores, grades
from riffler.metrics.ties import sort_into_blocks
from riffler.records import FloatArray


def ndcg_at(labels: ArrayLike, scores: ArrayLike, n: int) -> float:
    """Discounted gain of the n best scored rows over that of the best possible order, expected over tie orders.

    ``DCG = sum over ranks 1..n of (2^y - 1) / log2(1 + rank)``, y the relevance grade of the row at that rank. A list
    shorter than n is measured whole. scikit-learn's ``ndcg_score`` takes gains, not grades: it is equal when given
    ``2^y - 1`` as ``y_true``.

    >>> ndcg_at([3, 2, 0, 1], [0.9, 0.8, 0.7, 0.1], n=2)
    1.0
    >>> round(ndcg_at([0, 3, 2], [0.9, 0.8, 0.7], n=3), 4)
    0.6653
    """
    if isinstance(n, bool | np.bool_) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(
            f"n must be a positive integer, the number of ranks to look at, got {n!r}. Pass for example 10."
        )
    grade = grades(labels)
    checked_scores = finite_scores(scores, grade.size)
    gain = np.exp2(grade) - 1
    if not gain.any():
        raise UndefinedMetric(f"NDCG needs a row of grade above 0, but all {gain.size} are 0. Check the labels.")
    return ndcg_of_gains(gain, checked_scores, int(n))


def ndcg_of_gains(gain: FloatArray, scores: FloatArray, n: int) -> float:
    """Discounted gain of the n best scored rows over that of the best order; gains are 0 or more, one of them above."""
    n_ranks = min(n, gain.size)
    discount = 1 / np.log2(np.arange(2.0, n_ranks + 2))
    order, starts = sort_into_blocks(scores)
    block_size = np.diff(starts, append=gain.size)
    block_gain = np.add.reduceat(gain[order], starts) / block_size
    expected_gain = np.repeat(block_gain, block_size)[:n_ranks]  # by rank, best scored first
    ideal_gain = np.sort(gain)[::-1][:n_ranks]
    return float(expected_gain @ discount) / float(ideal_gain @ discount)
