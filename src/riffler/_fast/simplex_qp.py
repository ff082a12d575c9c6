"""A small concave quadratic on a simplex: max b . a - a' G a / 2 over a >= 0 of a given sum.

Moves of weight between two entries find which entries have a say; steps of Newton on those entries make the answer
exact, however G is scaled. Every move raises the value, and the gap to the best value is measured, so nothing depends
on how quick either of the two is.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.rows import REORDER

DEPENDENT = 1e-11  # of its own square: what is left of a direction that the ones before it make up
EMPTY = 1e-14  # of an entry: what is left of it by rounding alone
LEVEL = 1e-11  # of the sums compared: a rise below this is none
ROUNDING = 1e-15  # a value that rises by less than this share does not rise
PATIENCE = 3  # rounds without a rise before the rest of the gap is taken for rounding
FACES = 8  # steps of Newton in a row, each with fewer entries


@njit(cache=True)
def climb_simplex(gram, offsets, a, tol, n_rounds):
    """Raise b . a - a' G a / 2 in place until the gap is at most ``tol`` or rounding; the sum of a is kept.

    Returns the gap: no point of the simplex has a value higher by more than this.
    """
    n = offsets.shape[0]
    slope = np.empty(n)
    best, still, gap = -np.inf, 0, np.inf
    for _ in range(n_rounds):
        value, gap = _measure(gram, offsets, a, slope)
        still = still + 1 if value <= best + ROUNDING * abs(value) else 0
        best = max(best, value)
        if gap <= tol or still >= PATIENCE:
            break
        for _ in range(n):
            if not _move_between_two(gram, a, slope):
                break
        before, value = a.copy(), _value(offsets, a, slope)
        for _ in range(FACES):
            if _newton_step(gram, a, slope):
                break
        if _measure(gram, offsets, a, slope)[0] < value:  # the entries are too nearly dependent for such steps
            a[:] = before
    return gap


@njit(cache=True)
def _measure(gram, offsets, a, slope):
    """Write the slope b - G a; return the value and the gap, sum of a * (best slope - slope)."""
    for i in range(a.shape[0]):
        slope[i] = offsets[i] - _dot(gram[i], a)
    top, gap = slope.max(), 0.0
    for i in range(a.shape[0]):
        gap += a[i] * (top - slope[i])
    return _value(offsets, a, slope), gap


@njit(cache=True)
def _value(offsets, a, slope):
    """b . a - a' G a / 2, from the slope b - G a."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * (offsets[i] + slope[i]) / 2.0
    return total


@njit(cache=True)
def _move_between_two(gram, a, slope):
    """Move weight to the entry of the best slope from the one that gains most; tells whether that gains anything."""
    up = slope.argmax()
    down, best_step, best_gain = -1, 0.0, 0.0
    for i in range(a.shape[0]):
        rise = slope[up] - slope[i]
        if a[i] > 0.0 and rise > 0.0:
            curvature = gram[up, up] - 2.0 * gram[up, i] + gram[i, i]
            step = a[i] if rise >= curvature * a[i] else rise / curvature
            gain = step * (rise - step * max(curvature, 0.0) / 2.0)
            if gain > best_gain:
                down, best_step, best_gain = i, step, gain
    if down < 0:
        return False
    a[up] += best_step
    a[down] = 0.0 if best_step == a[down] else a[down] - best_step
    for i in range(a.shape[0]):
        slope[i] -= best_step * (gram[i, up] - gram[i, down])
    return True


@njit(cache=True)
def _newton_step(gram, a, slope):
    """Go to the best point of the entries above 0, or until one of them is 0; tells whether there is no more to do.

    The heaviest entry gives what the others take, so that the sum is kept.
    """
    giver = a.argmax()
    takers = np.flatnonzero(a > 0.0)
    takers = takers[takers != giver]
    m = takers.shape[0]
    curvature, rise = np.empty((m, m)), np.empty(m)
    for p in range(m):
        i = takers[p]
        rise[p] = slope[i] - slope[giver]
        for q in range(m):
            j = takers[q]
            curvature[p, q] = gram[i, j] - gram[i, giver] - gram[giver, j] + gram[giver, giver]
    move = _way_up(curvature, rise)
    total_rise, bend, room = _dot(rise, move), 0.0, np.inf
    for p in range(m):
        bend += move[p] * _dot(curvature[p], move)
        if move[p] < 0.0:
            room = min(room, -a[takers[p]] / move[p])
    if move.sum() > 0.0:
        room = min(room, a[giver] / move.sum())
    if not total_rise > 0.0:
        return True
    blocked = total_rise >= bend * room
    _apply(gram, a, slope, giver, takers, move, room if blocked else total_rise / bend)
    return not blocked


@njit(cache=True)
def _apply(gram, a, slope, giver, takers, move, room):
    """Make the moves times ``room``; an entry that is as good as emptied is emptied."""
    given = 0.0
    for p in range(takers.shape[0]):
        i, step = takers[p], room * move[p]
        if step <= -a[i] * (1.0 - EMPTY):
            step = -a[i]
        a[i] += step
        given += step
        for j in range(a.shape[0]):
            slope[j] -= step * (gram[j, i] - gram[j, giver])
    a[giver] = a[giver] - given if given < a[giver] * (1.0 - EMPTY) else 0.0


@njit(cache=True)
def _way_up(matrix, right):
    """Solve matrix . x = right by Cholesky, or give a direction without curvature in which the value rises.

    The row with most left of it, for its size, comes next. Rows that depend on those before give such directions; where
    the value is level in all of them, these rows are left out: they have 0 in the answer.
    """
    m = right.shape[0]
    root, left, order = np.zeros((m, m)), np.diag(matrix).copy(), np.arange(m)
    for k in range(m):
        best = k
        for q in range(k + 1, m):
            if left[order[q]] * matrix[order[best], order[best]] > left[order[best]] * matrix[order[q], order[q]]:
                best = q
        order[k], order[best] = order[best], order[k]
        pivot = order[k]
        if not left[pivot] > DEPENDENT * matrix[pivot, pivot]:
            return _over_the_rank(root, order, k, right)
        root[pivot, k] = np.sqrt(left[pivot])
        for q in range(k + 1, m):
            i = order[q]
            root[i, k] = (matrix[i, pivot] - _dot(root[i, :k], root[pivot, :k])) / root[pivot, k]
            left[i] -= root[i, k] * root[i, k]
    return _over_the_rank(root, order, m, right)


@njit(cache=True)
def _over_the_rank(root, order, rank, right):
    """Give the solution for the first ``rank`` rows in this order, or the steepest direction without curvature."""
    m = right.shape[0]
    half, answer = np.zeros(rank), np.zeros(m)
    for k in range(rank):
        half[k] = (right[order[k]] - _dot(root[order[k], :k], half[:k])) / root[order[k], k]
    steepest, rise = -1, LEVEL * np.abs(right).max() if m > 0 else 0.0
    for q in range(rank, m):
        over = right[order[q]] - _dot(root[order[q], :rank], half)
        if abs(over) > abs(rise):
            steepest, rise = order[q], over
    if steepest >= 0:
        half = -root[steepest, :rank] * np.sign(rise)
        answer[steepest] = np.sign(rise)
    for k in range(rank - 1, -1, -1):
        answer[order[k]] = half[k] / root[order[k], k]
        half[:k] -= root[order[k], :k] * answer[order[k]]
    return answer


@njit(cache=True, fastmath=REORDER)
def _dot(left, right):
    total = 0.0
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total
