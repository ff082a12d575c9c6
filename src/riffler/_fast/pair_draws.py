"""Drawing pairs by rejection: candidates at random, each accepted with a chance that depends on its margin now.

Rows are numbered by position in the order of (group, grade). A block is one grade of a group against all lower grades
of it: upper rows ``start:stop``, lower rows ``low:start``. Scores are looked up, and worked out only for rows that come
up; NaN marks a score that is not known yet. A pseudo-pair has ``NONE`` in place of one of its rows: the zero vector.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numba import njit

from riffler._fast.draws import mixed_bits
from riffler._fast.rows import row_dot

RANDOM, SOFT_CLOSE, SOFT_CORRECT = 0, 1, 2
HINGE, SQUARED_HINGE, LOGISTIC = 0, 1, 2
NONE = -1
AHEAD = 64  # candidates whose scores are fetched before the first of them is judged: memory answers them together

Pool = namedtuple(
    "Pool", ["rows", "low", "start", "stop", "keep", "alias", "reached", "points", "n_lower_points", "points_reached"]
)
"""rows : row number by position. low, start, stop : of each block; keep, alias : Walker's table of the blocks.
reached : weight before each position, empty where all weigh the same. points : positions by class, the lower first."""

Rule = namedtuple("Rule", ["sampling", "loss", "scale", "points_share", "spread", "again"], defaults=[False, False])
"""spread : candidates fill the square of upper and lower rows evenly, not at random; again : pairs may come again"""

# 1 / g and 1 / g^2 of a turn, g^3 = g + 1: multiples of the two fill the unit square evenly (Roberts' R2 sequence)
UPPER_STEP, LOWER_STEP = np.uint64(0xC13FA9A902A6328F), np.uint64(0x91E10DA5C79E7B1D)


@njit(cache=True)
def unit(bits):
    """A number in [0, 1) from 64 random bits."""
    return float(bits >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True)
def _place(u, start, stop, reached):
    """A place in start:stop, by weight where there are weights."""
    if reached.shape[0] == 0:
        return start + np.int64(u * (stop - start))
    wanted = reached[start] + u * (reached[stop] - reached[start])
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if reached[middle + 1] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def _pair(low, start, stop, keep, alias, reached, u, v, seed, turn, number):
    block = np.int64(0)
    if start.shape[0] > 1:
        spot = unit(mixed_bits(seed, turn, 4 * number + 3)) * start.shape[0]
        block = np.int64(spot)
        if spot - block >= keep[block]:
            block = alias[block]
    upper = _place(u, start[block], stop[block], reached)
    return upper, _place(v, low[block], start[block], reached)


@njit(cache=True)
def _point(points, n_lower, reached, u, v):
    if u < 0.5:
        return np.int64(NONE), np.int64(points[_place(v, 0, n_lower, reached)])
    return np.int64(points[_place(v, n_lower, points.shape[0], reached)]), np.int64(NONE)


@njit(cache=True)
def draw_pair(pool, seed, turn, number):
    """Candidate ``number`` of a turn: a pair, each with a chance in proportion to the weights of its rows."""
    blocks = pool.low, pool.start, pool.stop, pool.keep, pool.alias, pool.reached
    u, v = unit(mixed_bits(seed, turn, 4 * number)), unit(mixed_bits(seed, turn, 4 * number + 1))
    return _pair(*blocks, u, v, seed, turn, number)


@njit(cache=True)
def draw_point(pool, seed, turn, number):
    """Candidate ``number`` of a turn as a pseudo-pair: a row of either class, each class half of the time."""
    u, v = unit(mixed_bits(seed, turn, 4 * number)), unit(mixed_bits(seed, turn, 4 * number + 1))
    return _point(pool.points, pool.n_lower_points, pool.points_reached, u, v)


@njit(cache=True)
def acceptance(rule, margin):
    """Chance to accept a candidate of this margin: 1 at the boundary, or none for what is right by far."""
    if rule.sampling == RANDOM:
        return 1.0
    if rule.sampling == SOFT_CLOSE:
        return 2.0 / (1.0 + math.exp(min(abs(margin) / rule.scale, 700.0)))
    short = max(0.0, 1.0 - margin)
    if rule.loss == LOGISTIC:
        short = math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
    return math.tanh(0.5 * short / rule.scale) if short > 0.0 else 0.0


@njit(cache=True)
def _score(scores, place):
    return 0.0 if place == NONE else scores[place]


@njit(cache=True)
def _work_out(rows, row_at, place, w, scores):
    """Score the row at a place, if that was not done before."""
    if place != NONE and math.isnan(scores[place]):
        scores[place] = row_dot(rows, row_at[place], w)


@njit(cache=True)
def accept_pairs(rows, pool, rule, w, scores, seed, first, n_tries, table, upper, lower, margins, chances):
    """Draw candidates until the outputs are full or ``n_tries`` are used up; a pair that is in the table is not taken.

    Candidates are numbered from ``first``; the next call goes on from where this one ended.

    A point may be taken again: where one class has few rows, the other would soon be all that is left. Returns how many
    were taken, how many candidates were drawn, and how many were accepted but taken before. ``table`` holds the pairs
    taken so far.
    """
    # read once: to take an array out of a tuple costs more than a draw
    row_at, low, start, stop, keep, alias, reached, points, n_lower, points_reached = pool
    n_rows, n_wanted, n_done, n_again = row_at.shape[0], upper.shape[0], 0, 0
    upper_shift, lower_shift = mixed_bits(seed, 1, 0), mixed_bits(seed, 2, 0)
    # to hand six arrays to a function costs more than to draw from one block of rows that weigh the same
    simple, bottom, top = start.shape[0] == 1 and reached.shape[0] == 0 and low[0] == 0, start[0], stop[0]
    uppers, lowers, known = np.empty(AHEAD, np.int64), np.empty(AHEAD, np.int64), np.empty(AHEAD)
    for begin in range(first, first + n_tries, AHEAD):
        n_block = min(AHEAD, first + n_tries - begin)
        for b in range(n_block):
            number = begin + b
            if rule.spread:
                u_bits = upper_shift + np.uint64(number) * UPPER_STEP
                v_bits = lower_shift + np.uint64(number) * LOWER_STEP
            else:
                u_bits, v_bits = mixed_bits(seed, 0, 4 * number), mixed_bits(seed, 0, 4 * number + 1)
            u, v = unit(u_bits), unit(v_bits)
            if rule.points_share > 0.0 and unit(mixed_bits(seed, -1, number)) < rule.points_share:
                i, j = _point(points, n_lower, points_reached, u, v)
            elif simple:
                i = bottom + np.int64(u * (top - bottom))
                j = np.int64(v * bottom)
            else:
                i, j = _pair(low, start, stop, keep, alias, reached, u, v, seed, 0, number)
            uppers[b], lowers[b], known[b] = i, j, _score(scores, i) - _score(scores, j)
        for b in range(n_block):
            number, i, j, margin = begin + b, uppers[b], lowers[b], known[b]
            if n_done == n_wanted:
                return n_done, number - first, n_again
            if math.isnan(margin):
                _work_out(rows, row_at, i, w, scores)
                _work_out(rows, row_at, j, w, scores)
                margin = _score(scores, i) - _score(scores, j)
            chance = acceptance(rule, margin)
            if chance <= 0.0 or unit(mixed_bits(seed, 0, 4 * number + 2)) >= chance:
                continue
            if rule.again or i == NONE or j == NONE or _is_new(table, i * n_rows + j):
                upper[n_done], lower[n_done], margins[n_done], chances[n_done] = i, j, margin, chance
                n_done += 1
            else:
                n_again += 1
    return n_done, n_tries, n_again


@njit(cache=True)
def _is_new(table, key):
    """Put a key into a hash table with open addresses (size a power of two, -1 where empty); False if it was there."""
    last = table.shape[0] - 1
    place = np.int64(mixed_bits(0, 0, key) & np.uint64(last))
    while table[place] >= 0:
        if table[place] == key:
            return False
        place = (place + 1) & last
    table[place] = key
    return True


@njit(cache=True)
def take_pairs(n_rows, upper, lower, table):
    """Put pairs into the table; points are left out."""
    for a in range(upper.shape[0]):
        if upper[a] != NONE and lower[a] != NONE:
            _is_new(table, np.int64(upper[a]) * n_rows + np.int64(lower[a]))


@njit(cache=True)
def forget_pairs(n_rows, upper, lower, table):
    """Take the last pairs put into the table out again: they were looked at, not taken."""
    last = table.shape[0] - 1
    for a in range(upper.shape[0] - 1, -1, -1):
        if upper[a] == NONE or lower[a] == NONE:
            continue
        key = np.int64(upper[a]) * n_rows + np.int64(lower[a])
        place = np.int64(mixed_bits(0, 0, key) & np.uint64(last))
        while table[place] != key:
            place = (place + 1) & last
        table[place] = -1


@njit(cache=True)
def alias_table(shares, keep, alias):
    """Walker's table: column c is kept with chance ``keep[c]``, else it stands for ``alias[c]``; shares sum to 1."""
    n = shares.shape[0]
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    n_small = n_large = 0
    for c in range(n):
        keep[c], alias[c] = shares[c] * n, c
        if keep[c] < 1.0:
            small[n_small] = c
            n_small += 1
        else:
            large[n_large] = c
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        c, full = small[n_small], large[n_large - 1]
        alias[c] = full
        keep[full] -= 1.0 - keep[c]
        if keep[full] < 1.0:
            n_large -= 1
            small[n_small] = full
            n_small += 1
    for a in range(n_small):
        keep[small[a]] = 1.0
    for a in range(n_large):
        keep[large[a]] = 1.0
