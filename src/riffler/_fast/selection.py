"""Take the best few out of many without sorting them all, in one sweep with a small heap.

``items`` hold positions into ``scores``; ``sign`` is +1 to prefer high scores and -1 to prefer low ones.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _sift_down(heap, size, scores, sign, at):
    """Restore a heap whose root is the worst kept item."""
    item = heap[at]
    key = sign * scores[item]
    child = 2 * at + 1
    while child < size:
        if child + 1 < size and sign * scores[heap[child + 1]] < sign * scores[heap[child]]:
            child += 1
        if sign * scores[heap[child]] >= key:
            break
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item


@njit(cache=True)
def _sift_up(heap, scores, sign, at):
    item = heap[at]
    key = sign * scores[item]
    while at > 0:
        parent = (at - 1) // 2
        if sign * scores[heap[parent]] <= key:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@njit(cache=True)
def keep_best(candidates, scores, weight, sign, amount, kept):
    """Keep the fewest best candidates whose weight reaches ``amount``.

    Returns how many were kept, their total weight, and the best score among those left out (to see a tie at the cut).
    The kept positions stand in ``kept`` in heap order, the worst first. A sweep costs one comparison for each
    candidate that is not among the best so far.
    """
    size = 0
    total = 0.0
    cut = -np.inf
    left_out = -np.inf
    for i in candidates:
        key = sign * scores[i]
        if key <= cut:
            left_out = max(left_out, key)
            continue
        kept[size] = i
        total += weight[i]
        _sift_up(kept, scores, sign, size)
        size += 1
        while total - weight[kept[0]] >= amount:
            left_out = max(left_out, sign * scores[kept[0]])
            total -= weight[kept[0]]
            size -= 1
            kept[0] = kept[size]
            _sift_down(kept, size, scores, sign, 0)
        if total >= amount:
            cut = sign * scores[kept[0]]
    return size, total, sign * left_out


@njit(cache=True)
def sort_items(items, scores, sign):
    """Sort positions in place so that the best (high scores for sign +1, low ones for -1) comes first."""
    size = items.shape[0]
    for at in range(size // 2 - 1, -1, -1):
        _sift_down(items, size, scores, sign, at)
    for last in range(size - 1, 0, -1):
        items[0], items[last] = items[last], items[0]
        _sift_down(items, last, scores, sign, 0)
