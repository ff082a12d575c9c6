"""Sorting scores group by group: two counting passes over coarse keys, then what is left out of order is put right.

Scores of a whole data set are sorted once an evaluation, beside a matrix product of a few milliseconds; a comparison
sort would take most of the time.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

DIGIT = 11
BUCKETS = 1 << DIGIT
FEW = 256  # rows below which counting costs more than comparing
PATIENCE = 8  # moves a row, on average, before scores are taken for too unevenly spread


@njit(cache=True)
def sort_in_groups(scores, rows, starts, spare, order, in_order):
    """Write each group's rows by rising score into ``order``, and their scores into ``in_order``.

    Group g holds ``rows[starts[g]:starts[g + 1]]``; spare : a workspace of shape (3, n_rows) of uint32
    """
    for g in range(starts.shape[0] - 1):
        a, b = starts[g], starts[g + 1]
        if b - a > FEW and _counted(scores, rows[a:b], spare[:, a:b], order[a:b]):
            _look_up(scores, order[a:b], in_order[a:b])
            if _finish(order[a:b], in_order[a:b]):
                continue
        order[a:b] = rows[a:b][np.argsort(scores[rows[a:b]])]
        _look_up(scores, order[a:b], in_order[a:b])


@njit(cache=True)
def _look_up(scores, order, in_order):
    for p in range(order.shape[0]):
        in_order[p] = scores[np.uint32(order[p])]


@njit(cache=True)
def _counted(scores, rows, spare, order):
    """Sort by the scores in 2^22 equal steps between lowest and highest; False where there is no such step."""
    n_rows = rows.shape[0]
    keys, kept_keys, kept_rows = spare
    low = high = scores[rows[0]]
    for p in range(n_rows):
        score = scores[np.uint32(rows[p])]
        low, high = min(low, score), max(high, score)
    if low == high:
        order[:] = rows
        return True
    scale = (BUCKETS * BUCKETS - 1) / (high - low)
    if not 0.0 < scale < np.inf:
        return False
    first, second = np.zeros(BUCKETS + 1, np.int64), np.zeros(BUCKETS + 1, np.int64)
    for p in range(n_rows):
        key = np.uint32((scores[np.uint32(rows[p])] - low) * scale)
        keys[p] = key
        first[np.uint32(key & np.uint32(BUCKETS - 1)) + 1] += 1
        second[np.uint32(key >> np.uint32(DIGIT)) + 1] += 1
    for b in range(BUCKETS):
        first[b + 1] += first[b]
        second[b + 1] += second[b]
    for p in range(n_rows):
        bucket = np.uint32(keys[p] & np.uint32(BUCKETS - 1))
        kept_rows[first[bucket]], kept_keys[first[bucket]] = rows[p], keys[p]
        first[bucket] += 1
    for p in range(n_rows):
        bucket = np.uint32(kept_keys[p] >> np.uint32(DIGIT))
        order[second[bucket]] = kept_rows[p]
        second[bucket] += 1
    return True


@njit(cache=True)
def _finish(order, in_order):
    """Insertion sort of what is nearly sorted; False where it would take long."""
    moves = 0
    for p in range(1, order.shape[0]):
        score, row = in_order[p], order[p]
        q = p
        while q > 0 and in_order[q - 1] > score:
            in_order[q], order[q] = in_order[q - 1], order[q - 1]
            q -= 1
        in_order[q], order[q] = score, row
        moves += p - q
        if moves > PATIENCE * order.shape[0]:
            return False
    return True
