"""Sums over the preference pairs whose margin is below 1, without visiting the pairs.

A pair is an upper row i and a lower row j of one group; it is active while s_i - s_j < 1. Where rows are sorted by
score, the active partners of a row are an interval whose end only moves forward. With two levels a group, each level is
sorted by itself and sums are differences of running sums; with more, a group is sorted as a whole and sums are kept in
a Fenwick tree over the levels. Both sides of a pair use the same comparison, so rounding never makes it active from one
side only. "By position" means in that order.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def look_up(values, order, out):
    """Write values that come by row by position."""
    for p in range(order.shape[0]):
        out[p] = values[np.uint32(order[p])]


@njit(cache=True)
def weighted_by_position(values, middle, order, weight, out):
    """Write weight times (value - middle) by position; values come by row."""
    for p in range(order.shape[0]):
        out[p] = weight[p] * (values[np.uint32(order[p])] - middle)


@njit(cache=True)
def write_partners(order, weight, n_partners, scale, out):
    """Write, by row, ``scale`` times the weight of the active pairs."""
    for p in range(order.shape[0]):
        out[np.uint32(order[p])] = scale * weight[p] * n_partners[p]


@njit(cache=True)
def write_spread(order, weight, n_partners, weighted, sums, scale, out):
    """Write, by row, ``scale`` times the sum of the differences in value to the active partners."""
    for p in range(order.shape[0]):
        out[np.uint32(order[p])] = scale * (n_partners[p] * weighted[p] - weight[p] * sums[p])


@njit(cache=True)
def add_pull(order, weight, net, scale, out):
    """Add, by row, ``scale`` times the weight of active partners above less that of those below."""
    for p in range(order.shape[0]):
        out[np.uint32(order[p])] += scale * weight[p] * net[p]


@njit(cache=True)
def shortfall(scores, middle, weight, n_partners, net):
    """Sum of 1 - margin over the active pairs: each counts 1, and gives its scores to its rows with the net's signs.

    A middle score is taken off all: it changes no margin, and the sums do not drown in it.
    """
    total = 0.0
    for p in range(scores.shape[0]):
        total += weight[p] * (0.5 * (n_partners[p] - net[p]) + net[p] * (scores[p] - middle))
    return total


@njit(cache=True)
def find_reach(scores, starts, reach):
    """Where the active partners end, for two levels: they are the lower rows from there on, or the upper rows before.

    Group g has its lower rows at ``starts[2 * g]`` and its upper rows at ``starts[2 * g + 1]``; by position.
    """
    for g in range(0, starts.shape[0] - 1, 2):
        low, high, end = starts[g], starts[g + 1], starts[g + 2]
        q = low
        for p in range(high, end):
            while q < high and scores[p] - scores[q] >= 1.0:
                q += 1
            reach[p] = q
        q = high
        for p in range(low, high):
            while q < end and scores[q] - scores[p] < 1.0:
                q += 1
            reach[p] = q


@njit(cache=True)
def sums_over_two_levels(values, starts, reach, running, out):
    """Write the sum of ``values`` over each row's active partners, by position; ``running`` is a workspace."""
    for g in range(0, starts.shape[0] - 1, 2):
        low, high, end = starts[g], starts[g + 1], starts[g + 2]
        total = 0.0
        running[low] = 0.0
        for p in range(low, end):
            total += values[p]
            running[p + 1] = total
        before_upper = running[high]
        for p in range(low, high):
            out[p] = running[reach[p]] - before_upper
        for p in range(high, end):
            out[p] = before_upper - running[reach[p]]


@njit(cache=True)
def net_of_two_levels(n_partners, starts, net):
    """Write the weight of partners above less that of partners below: a row of two levels has one kind only."""
    for g in range(0, starts.shape[0] - 1, 2):
        for p in range(starts[g], starts[g + 1]):
            net[p] = n_partners[p]
        for p in range(starts[g + 1], starts[g + 2]):
            net[p] = -n_partners[p]


@njit(cache=True)
def sums_over_levels_below(values, scores, levels, starts, tree, out):
    """Write the sum of ``values`` over the active partners of lower level; levels are 0, 1, ... in each group."""
    for g in range(starts.shape[0] - 1):
        a, b = starts[g], starts[g + 1]
        highest = _highest(levels, a, b)
        tree[: highest + 2] = 0.0
        q = b - 1
        for p in range(b - 1, a - 1, -1):
            while q >= a and scores[p] - scores[q] < 1.0:
                _add(tree, highest + 2, levels[q], values[q])
                q -= 1
            out[p] = _sum_below(tree, levels[p])


@njit(cache=True)
def sums_over_levels_above(values, scores, levels, starts, tree, out):
    """Write the sum of ``values`` over the active partners of higher level: the same with levels counted from above."""
    for g in range(starts.shape[0] - 1):
        a, b = starts[g], starts[g + 1]
        highest = _highest(levels, a, b)
        tree[: highest + 2] = 0.0
        q = a
        for p in range(a, b):
            while q < b and scores[q] - scores[p] < 1.0:
                _add(tree, highest + 2, highest - levels[q], values[q])
                q += 1
            out[p] = _sum_below(tree, highest - levels[p])


@njit(cache=True)
def weight_in_order(weight, scores, levels, starts, tree):
    """Sum of the weights of the pairs whose upper row scores higher, those of equal scores by half."""
    total = 0.0
    for g in range(starts.shape[0] - 1):
        a, b = starts[g], starts[g + 1]
        highest = _highest(levels, a, b)
        tree[: highest + 2] = 0.0
        p = a
        while p < b:
            q = p  # rows of equal score are asked before and after all of them are in the tree: their pairs count half
            while q < b and (q == p or scores[q] == scores[p]):
                total += 0.5 * weight[q] * _sum_below(tree, levels[q])
                q += 1
            for r in range(p, q):
                _add(tree, highest + 2, levels[r], weight[r])
            for r in range(p, q):
                total += 0.5 * weight[r] * _sum_below(tree, levels[r])
            p = q
    return total


@njit(cache=True)
def _highest(levels, a, b):
    highest = levels[a]
    for p in range(a, b):
        highest = max(highest, levels[p])
    return highest


@njit(cache=True)
def _add(tree, end, level, value):
    place = np.int64(level) + 1
    while place < end:
        tree[place] += value
        place += place & -place


@njit(cache=True)
def _sum_below(tree, level):
    total = 0.0
    place = np.int64(level)
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total
