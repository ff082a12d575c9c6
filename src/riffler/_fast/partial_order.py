"""The order of good and bad rows that violates a margin most, by dynamic programming over the good rows.

Good and bad rows each stand best scored first; an order is described by the number of bad rows ahead of each good one,
its cuts, which never fall. The loss is a sum over the good rows; behind the places that it looks at only pairs count,
and there each good row finds its best cut by itself.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

BY_PLACE, FIRST_ONLY, AVERAGE_PRECISION = 0, 1, 2


@njit(cache=True)
def place_loss(kind, worth, ideal, i, cut, n_good):
    """What good row i loses with ``cut`` bad rows ahead of it; ``worth`` is that of each place."""
    if kind == AVERAGE_PRECISION:
        return cut / (i + 1.0 + cut) / n_good
    if kind == FIRST_ONLY and i > 0:
        return 0.0
    return (worth[i] - worth[i + cut]) / ideal


@njit(cache=True)
def worst_cuts(kind, worth, n_deep, pairs, good, bad, cuts):
    """Write the cuts of the most violating order of sorted scores; return its loss.

    n_deep : good rows whose loss depends on their place, from the first; pairs : what the share of swapped pairs counts
    """
    n_good, n_bad = good.shape[0], bad.shape[0]
    unit = 1.0 / (float(n_good) * n_bad)
    ideal = 0.0
    for i in range(n_good if kind == BY_PLACE else 1):
        ideal += worth[i]
    running = np.zeros(n_bad + 1)
    for j in range(n_bad):
        running[j + 1] = running[j] + bad[j]
    came_from = np.empty((n_deep, n_bad + 1), np.int32)
    value = np.zeros(n_bad + 1)
    for i in range(n_deep):
        best, best_cut = -np.inf, 0
        for c in range(n_bad + 1):
            if value[c] > best:
                best, best_cut = value[c], c
            came_from[i, c] = best_cut
            value[c] = best + place_loss(kind, worth, ideal, i, c, n_good) + unit * ((pairs - good[i]) * c + running[c])
    c = _add_rest(value, running, n_deep, pairs, unit, good, bad, cuts)
    loss = 0.0
    for i in range(n_deep, n_good):
        cuts[i] = max(cuts[i], c)
        loss += pairs * unit * cuts[i]
    for i in range(n_deep - 1, -1, -1):
        cuts[i] = c
        loss += place_loss(kind, worth, ideal, i, c, n_good) + pairs * unit * c
        c = came_from[i, c]
    return loss


@njit(cache=True)
def _add_rest(value, running, n_deep, pairs, unit, good, bad, cuts):
    """Write the best cut of each later good row by itself; return the best cut of the last row before them.

    The height of a later row is concave in its cut, so where that must be at least c, it is c or the row's own best.
    """
    n_good, n_bad = good.shape[0], bad.shape[0]
    own, c = 0.0, 0
    for i in range(n_deep, n_good):
        while c < n_bad and bad[c] > good[i] - pairs:
            c += 1
        cuts[i] = c
        own += (pairs - good[i]) * c + running[c]
    best, best_cut, slopes, n_moved = -np.inf, 0, 0.0, 0
    for c in range(n_bad + 1):
        while n_deep + n_moved < n_good and cuts[n_deep + n_moved] < c:
            i = n_deep + n_moved
            own -= (pairs - good[i]) * cuts[i] + running[cuts[i]]
            slopes += pairs - good[i]
            n_moved += 1
        total = value[c] + unit * (own + slopes * c + n_moved * running[c])
        if total > best:
            best, best_cut = total, c
    return best_cut


@njit(cache=True)
def worst_orders(scores, rows, starts, n_good, share, kind, worth, n_places, pairs, moves):
    """Add what each row counts in score(truth) - score(worst order) to ``moves``; return the sum of the losses.

    Example e has the rows ``rows[starts[e, 0] : starts[e, 1]]``, the last ``n_good[e]`` of them good, and counts
    ``share[e]``; losses look at the first ``n_places`` only.
    """
    total = 0.0
    for e in range(n_good.shape[0]):
        first, last = starts[e, 0], starts[e, 1]
        bad_rows, good_rows = rows[first : last - n_good[e]], rows[last - n_good[e] : last]
        good_order, bad_order = np.argsort(-scores[good_rows]), np.argsort(-scores[bad_rows])
        cuts = np.empty(n_good[e], np.int64)
        n_deep = 1 if kind == FIRST_ONLY else max(1, min(n_good[e], n_places))
        good, bad = scores[good_rows][good_order], scores[bad_rows][bad_order]
        total += share[e] * worst_cuts(kind, worth, n_deep, pairs, good, bad, cuts)
        unit = share[e] / (float(cuts.shape[0]) * bad.shape[0])
        i = cuts.shape[0]
        for j in range(bad.shape[0] - 1, -1, -1):
            while i > 0 and cuts[i - 1] > j:
                i -= 1
            moves[bad_rows[bad_order[j]]] -= unit * (cuts.shape[0] - i)
        for i in range(cuts.shape[0]):
            moves[good_rows[good_order[i]]] += unit * cuts[i]
    return total
