"""Keep the best rows of a stream of scores: higher scores first, of equal ones the lower tie rank, then the lower row.

That order is total, so what is kept does not depend on how the rows are cut into parts or which part comes first.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _worse(scores, ties, rows, a, b):
    """Whether entry a comes after entry b."""
    if scores[a] != scores[b]:
        return scores[a] < scores[b]
    if ties[a] != ties[b]:
        return ties[a] > ties[b]
    return rows[a] > rows[b]


@njit(cache=True)
def _swap(scores, ties, rows, a, b):
    scores[a], scores[b] = scores[b], scores[a]
    ties[a], ties[b] = ties[b], ties[a]
    rows[a], rows[b] = rows[b], rows[a]


@njit(cache=True)
def _sift_up(scores, ties, rows, at):
    while at > 0:
        parent = (at - 1) // 2
        if not _worse(scores, ties, rows, at, parent):
            break
        _swap(scores, ties, rows, at, parent)
        at = parent


@njit(cache=True)
def _sift_down(scores, ties, rows, size):
    at, child = 0, 1
    while child < size:
        if child + 1 < size and _worse(scores, ties, rows, child + 1, child):
            child += 1
        if not _worse(scores, ties, rows, child, at):
            break
        _swap(scores, ties, rows, at, child)
        at, child = child, 2 * child + 1


@njit(cache=True, nogil=True)
def keep_top(values, first, skipped, ranks, scores, ties, rows, size):
    """Take rows ``first``, ``first + 1``, ... of these scores into a heap of the best; return how many are in it.

    ``skipped`` has sorted numbers of rows to leave out, from ``first`` on; ``ranks`` of all rows, or none, where the
    lower row comes first. ``scores``, ``ties`` and ``rows`` are the heap, as long as what is wanted, the worst entry at
    its root. A row that is not among the best so far costs one comparison.
    """
    at, n_skipped, room = 0, skipped.shape[0], rows.shape[0]
    cut = scores[0] if size == room else -np.inf
    for i in range(values.shape[0]):
        value = values[i]
        if not value >= cut:  # NaN is never kept
            continue
        row = first + i
        while at < n_skipped and skipped[at] < row:
            at += 1
        if at < n_skipped and skipped[at] == row:
            continue
        rank = ranks[row] if ranks.shape[0] else 0
        if size < room:
            scores[size], ties[size], rows[size] = value, rank, row
            _sift_up(scores, ties, rows, size)
            size += 1
        elif value > cut or rank < ties[0] or (rank == ties[0] and row < rows[0]):
            scores[0], ties[0], rows[0] = value, rank, row
            _sift_down(scores, ties, rows, size)
        if size == room:
            cut = scores[0]
    return size
