"""Stochastic steps on pairs and points (combined ranking and regression, Sculley 2010), with Pegasos' step sizes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math

import numpy as np
from numba import njit

from riffler._fast.draws import mixed_bits
from riffler._fast.pair_draws import HINGE, NONE, SQUARED_HINGE, _place, draw_pair, unit
from riffler._fast.rows import add_row, row_dot

SCALE, SQUARE, N_STEPS = 0, 1, 2
"""Places of the state: the weights are ``scale`` times a direction, of which the squared norm is kept."""


@njit(cache=True)
def minus_slope(loss, margin):
    """How strongly a loss of the margin wants it higher."""
    if loss == HINGE:
        return 1.0 if margin < 1.0 else 0.0
    if loss == SQUARED_HINGE:
        return 2.0 * max(0.0, 1.0 - margin)
    return 1.0 / (1.0 + math.exp(min(margin, 700.0)))


@njit(cache=True)
def combined_steps(rows, pool, loss, alpha, points_share, n_steps, seed, direction, state):
    """Step t takes a random point with the given share, else a random pair, and moves by 1 / (alpha t)."""
    for _ in range(n_steps):
        state[N_STEPS] += 1.0
        count = np.int64(state[N_STEPS])
        i, j = np.int64(NONE), np.int64(NONE)
        if unit(mixed_bits(seed, 1, count)) < points_share:
            place = _place(unit(mixed_bits(seed, 2, count)), 0, pool.points.shape[0], pool.points_reached)
            if place < pool.n_lower_points:
                j = np.int64(pool.rows[pool.points[place]])
            else:
                i = np.int64(pool.rows[pool.points[place]])
        else:
            upper, lower = draw_pair(pool, seed, 3, count)
            i, j = np.int64(pool.rows[upper]), np.int64(pool.rows[lower])
        _step(rows, i, j, loss, alpha, direction, state)


@njit(cache=True)
def _step(rows, i, j, loss, alpha, direction, state):
    margin = 0.0
    if i != NONE:
        margin += row_dot(rows, i, direction)
    if j != NONE:
        margin -= row_dot(rows, j, direction)
    pull = minus_slope(loss, margin * state[SCALE])
    t = state[N_STEPS] + 1.0
    state[SCALE] *= 1.0 - 1.0 / t
    step = pull / (alpha * t * state[SCALE])
    if step != 0.0:
        if i != NONE:
            state[SQUARE] += add_row(rows, i, step, direction)
        if j != NONE:
            state[SQUARE] += add_row(rows, j, -step, direction)
    # the optimum lies in the ball of radius 1 / sqrt(alpha)
    norm = state[SCALE] * math.sqrt(max(state[SQUARE], 0.0))
    if norm * math.sqrt(alpha) > 1.0:
        state[SCALE] /= norm * math.sqrt(alpha)
    if state[SCALE] < 1e-9:
        for c in range(direction.shape[0]):
            direction[c] *= state[SCALE]
        state[SQUARE] *= state[SCALE] * state[SCALE]
        state[SCALE] = 1.0
