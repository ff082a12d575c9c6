"""Linear models on few labelled rows by dual coordinate descent, started where the last labels left it.

min over w of  |w|^2 / 2 + b^2 / 2 + sum of cost_i * loss(y_i (w . x_i + b)),  with w = sum of alpha_i y_i x_i. A pass
costs the non-zeros of the labelled rows, whatever the size of the collection.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math

from numba import njit

from riffler._fast.draws import uniform
from riffler._fast.rows import add_row, row_dot, row_square

SQUARED_HINGE, LOGISTIC = 0, 1
SKIP = 0.1  # steps below this share of the tolerance are not made


@njit(cache=True)
def squares_of_all(rows, n_rows, out):
    """Write the squared norm of every row into ``out``."""
    for i in range(n_rows):
        out[i] = row_square(rows, i)


@njit(cache=True)
def descend(rows, signs, cost, squares, order, alpha, weights, loss, n_passes, tolerance, seed):
    """Pass over the rows until no step is larger than ``tolerance``; ``weights`` ends with the intercept.

    Changes alpha and weights in place, and shuffles ``order`` before each pass: in one fixed order the same rows undo
    each other's steps again and again. Returns the passes made.
    """
    last = weights.shape[0] - 1
    w = weights[:last]
    skipped = SKIP * tolerance
    for done in range(n_passes):
        largest = 0.0
        for a in range(order.shape[0] - 1, 0, -1):
            b = int(uniform(seed, done, a) * (a + 1))
            order[a], order[b] = order[b], order[a]
        for a in range(order.shape[0]):
            i = order[a]
            if cost[i] <= 0.0:
                continue
            margin = signs[i] * (row_dot(rows, i, w) + weights[last])
            curvature = squares[i] + 1.0
            if loss == SQUARED_HINGE:
                new = _squared_hinge(alpha[i], margin, curvature, cost[i])
            else:
                new = _logistic(alpha[i], margin, curvature, cost[i])
            step = new - alpha[i]
            size = abs(step) * math.sqrt(curvature)
            if size > skipped:  # to make a step costs more than to find out that it is small
                alpha[i] = new
                add_row(rows, i, step * signs[i], w)
                weights[last] += step * signs[i]
                largest = max(largest, size)
        if largest <= tolerance:
            return done + 1
    return n_passes


@njit(cache=True)
def _squared_hinge(alpha, margin, curvature, cost):
    """The exact minimiser along one coordinate, at least 0."""
    slack = 0.5 / cost
    return max(0.0, alpha - (margin - 1.0 + slack * alpha) / (curvature + slack))


@njit(cache=True)
def _logistic(alpha, margin, curvature, cost):
    """Minimise  curvature/2 (z - alpha)^2 + margin (z - alpha) + z log z + (cost - z) log(cost - z)  over 0 < z < cost.

    The slope rises from minus to plus infinity, so a bracket always holds the root; Newton's steps that leave it are
    halved into it.
    """
    low, high = 0.0, cost
    # near the ends Newton's steps are tiny: a row that is new starts where the margin alone would put it
    z = alpha if alpha > 0.0 else cost / (1.0 + math.exp(min(margin, 30.0)))
    z = min(max(z, 1e-12 * cost), (1.0 - 1e-12) * cost)
    for _ in range(60):
        slope = curvature * (z - alpha) + margin + math.log(z / (cost - z))
        if slope > 0.0:
            high = z
        else:
            low = z
        move = z - slope / (curvature + cost / (z * (cost - z)))
        new = move if low < move < high else 0.5 * (low + high)
        if abs(new - z) <= 1e-10 * cost:
            return new
        z = new
    return z


@njit(cache=True)
def rebuild(rows, signs, alpha, order, weights):
    """Set ``weights`` to the sum of alpha_i y_i (x_i, 1)."""
    last = weights.shape[0] - 1
    for j in range(last + 1):
        weights[j] = 0.0
    w = weights[:last]
    for a in range(order.shape[0]):
        i = order[a]
        if alpha[i] != 0.0:
            add_row(rows, i, alpha[i] * signs[i], w)
            weights[last] += alpha[i] * signs[i]


@njit(cache=True)
def add_rows(rows, places, steps, weights):
    """Add ``steps[a]`` times (row ``places[a]``, 1) to the weights."""
    last = weights.shape[0] - 1
    w = weights[:last]
    for a in range(places.shape[0]):
        add_row(rows, places[a], steps[a], w)
        weights[last] += steps[a]
