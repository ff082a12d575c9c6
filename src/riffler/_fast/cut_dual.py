"""The dual of a working set of cuts by coordinate ascent: each example shares a mass of its own among its cuts.

max over alpha >= 0 of  sum of alpha_c * offset_c - |w|^2 / 2,  w = sum of alpha_c * row_c, where the alphas of each
example sum to ``mass`` or less. What an example does not spend rests on a cut of slope and offset 0. Rows may be
sparse, w then holds the weights; or rows of a Gram matrix, w then holds the scores of all cuts.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from numba import njit

from riffler._fast.rows import add_multiple, row_dot, row_product, row_square

REST = -1
ENOUGH = 0.1  # of the gap that an example had: its other moves can wait for the next pass


@njit(cache=True)
def ascend_cuts(rows, offsets, squares, members, starts, order, mass, alpha, w, work, tolerance, n_passes):
    """Pass over the examples in this order until their gaps, each as met, sum to ``tolerance``; alpha and w change.

    The cuts of example i are ``members[starts[i]:starts[i + 1]]``. Returns the passes made.
    """
    for done in range(1, n_passes + 1):
        gap = 0.0
        for i in order:
            gap += _ascend_one(rows, offsets, squares, members[starts[i] : starts[i + 1]], mass, alpha, w, work)
        if gap <= tolerance:
            return done
    return n_passes


@njit(cache=True)
def _ascend_one(rows, offsets, squares, cuts, mass, alpha, w, work):
    """Move mass between the highest and the lowest cut of one example, some times; return the gap it had."""
    gap_at_first = 0.0
    for turn in range(2 * cuts.shape[0]):
        up, down, rise, spare, gap = _highest_and_lowest(rows, offsets, cuts, mass, alpha, w)
        if turn == 0:
            gap_at_first = gap
        if rise <= 0.0 or gap <= ENOUGH * gap_at_first * (turn > 0):
            break
        room = spare if down == REST else alpha[down]
        curvature = _square_between(rows, squares, up, down, work)
        whole = rise >= curvature * room
        step = room if whole else rise / curvature
        if up != REST:
            alpha[up] += step
            add_multiple(rows, up, step, w)
        if down != REST:
            alpha[down] = 0.0 if whole else alpha[down] - step
            add_multiple(rows, down, -step, w)
    return gap_at_first


@njit(cache=True)
def _highest_and_lowest(rows, offsets, cuts, mass, alpha, w):
    """The cut of the highest slope, that of the lowest with mass, their distance, the mass at rest, and the gap."""
    spent, weighted, top, up = 0.0, 0.0, 0.0, REST
    bottom, down = 1e300, REST
    for c in cuts:
        slope = offsets[c] - row_dot(rows, c, w)
        spent += alpha[c]
        weighted += alpha[c] * slope
        if slope > top:
            top, up = slope, c
        if alpha[c] > 0.0 and slope < bottom:
            bottom, down = slope, c
    spare = max(mass - spent, 0.0)
    if spare > 0.0 and bottom > 0.0:
        bottom, down = 0.0, REST
    return up, down, top - bottom, spare, mass * top - weighted


@njit(cache=True)
def _square_between(rows, squares, up, down, work):
    """Squared distance of two rows; REST is 0."""
    if down == REST:
        return squares[up]
    if up == REST:
        return squares[down]
    return max(squares[up] + squares[down] - 2.0 * row_product(rows, up, down, work), 0.0)


@njit(cache=True)
def squares_of(rows, out):
    """Write the squared norm of every row."""
    for i in range(out.shape[0]):
        out[i] = row_square(rows, i)
