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
        part, work = rows[a:b], spare[:, a:b]
        if b - a > FEW:
            if _even_keys(scores, part, work[0]) and _by_keys(scores, part, work, order[a:b], in_order[a:b]):
                continue
            _keys_around(scores, part, np.median(scores[part[:: (b - a) // FEW]]), work[0])
            if _by_keys(scores, part, work, order[a:b], in_order[a:b]):
                continue
        order[a:b] = part[np.argsort(scores[part])]
        _look_up(scores, order[a:b], in_order[a:b])


@njit(cache=True)
def _look_up(scores, order, in_order):
    for p in range(order.shape[0]):
        in_order[p] = scores[np.uint32(order[p])]


@njit(cache=True)
def _even_keys(scores, rows, keys):
    """Write keys in 2^22 equal steps between the lowest and the highest score; False where there is no such step."""
    low = high = scores[rows[0]]
    for p in range(rows.shape[0]):
        score = scores[np.uint32(rows[p])]
        low, high = min(low, score), max(high, score)
    scale = (BUCKETS * BUCKETS - 1) / (high - low) if high > low else 0.0
    for p in range(rows.shape[0]):
        # a score that is no number, or a range that is not finite, must not lead outside the buckets
        key = np.uint32((scores[np.uint32(rows[p])] - low) * scale) if scale < np.inf else np.uint32(0)
        keys[p] = key & np.uint32(BUCKETS * BUCKETS - 1)
    return scale < np.inf


@njit(cache=True)
def _keys_around(scores, rows, centre, keys):
    """Write keys whose steps are the finer the nearer to the centre: sign, exponent and 13 digits of a float."""
    distance = keys.view(np.float32)
    for p in range(rows.shape[0]):
        distance[p] = scores[np.uint32(rows[p])] - centre
    for p in range(rows.shape[0]):
        flip = np.uint32(0xFFFFFFFF) if keys[p] >> np.uint32(31) else np.uint32(0x80000000)
        keys[p] = (keys[p] ^ flip) >> np.uint32(32 - 2 * DIGIT)


@njit(cache=True)
def _by_keys(scores, rows, spare, order, in_order):
    """Sort by keys in two counting passes, then by score; False where keys leave too much to do."""
    n_rows = rows.shape[0]
    keys, kept_keys, kept_rows = spare
    first, second = np.zeros(BUCKETS + 1, np.int64), np.zeros(BUCKETS + 1, np.int64)
    for p in range(n_rows):
        first[np.uint32(keys[p] & np.uint32(BUCKETS - 1)) + 1] += 1
        second[np.uint32(keys[p] >> np.uint32(DIGIT)) + 1] += 1
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
    _look_up(scores, order, in_order)
    return _finish(order, in_order)


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
