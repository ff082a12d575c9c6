"""Linear models on pairs of rows by dual coordinate descent; the difference of a pair's rows is never made.

min over w of  |w|^2 / 2 + sum of cost_t * loss(w . (x_i - x_j)),  with w = sum of alpha_t (x_i - x_j). A step along one
coordinate is exact. A pair that is right by far and has no say is left out until the others are done.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from numba import njit

from riffler._fast import dual
from riffler._fast.draws import uniform
from riffler._fast.pair_draws import HINGE, LOGISTIC, NONE, SQUARED_HINGE
from riffler._fast.rows import add_multiple, row_dot, row_product, row_square

_squared_hinge, _logistic = dual._squared_hinge, dual._logistic


@njit(cache=True)
def pair_margin(rows, i, j, w):
    """w . (x_i - x_j); NONE stands for the zero vector."""
    margin = 0.0
    if i != NONE:
        margin += row_dot(rows, i, w)
    if j != NONE:
        margin -= row_dot(rows, j, w)
    return margin


@njit(cache=True)
def add_pair(rows, i, j, step, w):
    """Add ``step`` times (x_i - x_j) to w."""
    if i != NONE:
        add_multiple(rows, i, step, w)
    if j != NONE:
        add_multiple(rows, j, -step, w)


@njit(cache=True)
def pair_squares(rows, upper, lower, work, out):
    """Write |x_i - x_j|^2 of every pair; ``work`` is n_columns zeros, and is zeros again afterwards."""
    for a in range(upper.shape[0]):
        i, j = upper[a], lower[a]
        total = 0.0
        if i != NONE:
            total += row_square(rows, i)
        if j != NONE:
            total += row_square(rows, j)
        if i != NONE and j != NONE:
            total -= 2.0 * row_product(rows, i, j, work)
        out[a] = max(total, 0.0)


@njit(cache=True)
def _hinge(alpha, margin, curvature, cost):
    return min(max(alpha - (margin - 1.0) / curvature, 0.0), cost)


@njit(cache=True)
def descend_pairs(rows, upper, lower, cost, squares, order, alpha, w, loss, n_passes, tolerance, seed):
    """Pass over the pairs until no margin is further than ``tolerance`` from where it is wanted; alpha and w change.

    Returns the passes made, those over a part of the pairs included; one more than allowed where they were too few.
    """
    n_pairs = order.shape[0]
    n_active, bar = n_pairs, 1e300
    for done in range(n_passes):
        largest = 0.0
        for a in range(n_active - 1, 0, -1):
            b = int(uniform(seed, done, a) * (a + 1))
            order[a], order[b] = order[b], order[a]
        a = 0
        while a < n_active:
            t = order[a]
            margin = pair_margin(rows, upper[t], lower[t], w)
            if alpha[t] == 0.0 and margin - 1.0 > bar and loss != LOGISTIC:
                n_active -= 1
                order[a], order[n_active] = order[n_active], order[a]
                continue
            a += 1
            if squares[t] <= 0.0 or cost[t] <= 0.0:
                continue
            # a step by what the loss bends: how far the margin is from where this pair alone would have it
            if loss == SQUARED_HINGE:
                new = _squared_hinge(alpha[t], margin, squares[t], cost[t])
                change = abs(new - alpha[t]) * (squares[t] + 0.5 / cost[t])
            elif loss == HINGE:
                new = _hinge(alpha[t], margin, squares[t], cost[t])
                change = abs(new - alpha[t]) * squares[t]
            else:
                new = _logistic(alpha[t], margin, squares[t], cost[t])
                change = abs(new - alpha[t]) * (squares[t] + 4.0 / cost[t])
            step = new - alpha[t]
            if change > 0.1 * tolerance:
                alpha[t] = new
                add_pair(rows, upper[t], lower[t], step, w)
                largest = max(largest, change)
        bar = max(largest, tolerance)
        if largest <= tolerance:
            if n_active == n_pairs:
                return done + 1
            n_active, bar = n_pairs, 1e300
    return n_passes + 1
