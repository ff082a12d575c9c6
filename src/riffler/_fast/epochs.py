"""One pass over the data in mini-batches: SGD on a precision-at-k surrogate, and the perceptron at k.

The weights are kept as ``scale * v`` and the running sum of the iterates through ``z``, so that a step costs the
non-zeros of the rows it touches, whatever the number of features:

    w_t = s_t v_t,    sum_t w_t = P_T v_T - z_T,    P_t = sum_{u <= t} s_u,    z += P_{t-1} * (change of v at t).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numba import njit

from riffler._fast.at_k import slopes_of_classes
from riffler._fast.draws import uniform
from riffler._fast.rows import add_row, row_dot
from riffler._fast.selection import keep_best, sort_items

# The slots of the float state array that travels from epoch to epoch.
N_STEPS, SCALE, SCALE_SUM, SQUARE, LOSS_SUM, MISTAKES, UPDATES = range(7)
STATE_SIZE = 7

TOP, BOTTOM, RANDOM = 0, 1, 2

SgdRule = namedtuple("SgdRule", ["code", "step", "decay", "radius"])


def new_state() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """State of a learner that has seen nothing."""
    state = np.zeros(STATE_SIZE)
    state[SCALE] = 1.0
    return state


@njit(cache=True)
def batch_k(k, share, positive_weight):
    """The k of a batch: as given, or a share of its positive weight; never more than that weight."""
    wanted = max(1.0, float(round(share * positive_weight))) if share > 0.0 else k
    return min(wanted, positive_weight)


@njit(cache=True)
def average_into(v, z, total, state):
    """Flush the running sum of the iterates into ``total`` and fold the scale into v."""
    for j in range(v.shape[0]):
        total[j] += state[SCALE_SUM] * v[j] - z[j]
        z[j] = 0.0
        v[j] *= state[SCALE]
    state[SQUARE] *= state[SCALE] ** 2
    state[SCALE] = 1.0
    state[SCALE_SUM] = 0.0


@njit(cache=True)
def sgd_epoch(rows, labels, weight, order, starts, stops, k, share, rule, v, z, total, state):
    """Mini-batches ``order[starts[b]:stops[b]]``, each one projected step on its surrogate divided by its k."""
    longest = (stops - starts).max()
    scores = np.empty(longest)
    slopes = np.empty(longest)
    batch_weight = np.empty(longest)
    room = np.empty(2 * longest, dtype=np.int64)
    for b in range(starts.shape[0]):
        batch = order[starts[b] : stops[b]]
        n = batch.shape[0]
        positive_weight = 0.0
        n_pos = 0
        n_neg = 0
        scale = state[SCALE]
        for a in range(n):
            i = batch[a]
            scores[a] = scale * row_dot(rows, i, v)
            slopes[a] = 0.0
            batch_weight[a] = weight[i]
            if weight[i] > 0.0:
                if labels[i] > 0:
                    room[n_pos] = a
                    n_pos += 1
                    positive_weight += weight[i]
                else:
                    n_neg += 1
                    room[n - n_neg] = a
        if positive_weight <= 0.0:
            continue
        k_here = batch_k(k, share, positive_weight)
        positives, negatives = room[:n_pos], room[n - n_neg : n]
        value = slopes_of_classes(rule.code, scores, batch_weight, positives, negatives, k_here, slopes, room[n:])
        state[LOSS_SUM] += value / k_here
        state[N_STEPS] += 1
        step = rule.step / math.sqrt(state[N_STEPS])
        sgd_step(rows, batch, slopes, n, step / k_here, step, rule, v, z, total, state)


@njit(cache=True)
def sgd_step(rows, batch, slopes, n, slope_step, step, rule, v, z, total, state):
    """Shrink, move against the slopes, project on the ball, and count the iterate into the running sum."""
    begin_step(step, rule, v, z, total, state)
    move(rows, batch, slopes, n, slope_step, v, z, state)
    end_step(rule, state)


@njit(cache=True)
def begin_step(step, rule, v, z, total, state):
    """Shrink the weights."""
    if rule.decay > 0.0:
        state[SCALE] *= max(1e-3, 1.0 - step * rule.decay)
    if state[SCALE] < 1e-6:
        average_into(v, z, total, state)


@njit(cache=True)
def move(rows, batch, slopes, n, slope_step, v, z, state):
    """Move against the slopes of some rows of a batch; all of them make a step, however many at a time."""
    before = state[SCALE_SUM]
    for a in range(n):
        if slopes[a] != 0.0:
            change = -slope_step * slopes[a] / state[SCALE]
            state[SQUARE] += add_row(rows, batch[a], change, v)
            add_row(rows, batch[a], before * change, z)


@njit(cache=True)
def end_step(rule, state):
    """Project on the ball, and count the iterate into the running sum."""
    norm = state[SCALE] * math.sqrt(max(state[SQUARE], 0.0))
    if norm > rule.radius:
        state[SCALE] *= rule.radius / norm
    state[SCALE_SUM] += state[SCALE]


@njit(cache=True)
def perceptron_epoch(rows, labels, weight, order, starts, stops, k, share, avg, pick, seed, v, z, state):
    """Mini-batches of the perceptron at k (ALGORITHMS 3.1); the state counts mistakes and updates."""
    longest = (stops - starts).max()
    scores = np.empty(longest)
    batch_weight = np.empty(longest)
    taken = np.empty(longest)
    room = np.empty(longest, dtype=np.int64)
    missed = np.empty(longest, dtype=np.int64)
    everything = np.arange(longest)
    for b in range(starts.shape[0]):
        batch = order[starts[b] : stops[b]]
        n = batch.shape[0]
        positive_weight = 0.0
        for a in range(n):
            i = batch[a]
            scores[a] = row_dot(rows, i, v)
            batch_weight[a] = weight[i]
            if labels[i] > 0:
                positive_weight += weight[i]
        if positive_weight <= 0.0:
            continue
        state[N_STEPS] += 1
        k_here = batch_k(k, share, positive_weight)
        for a in range(n):
            taken[a] = 0.0
        _take_units(batch, everything[:n], scores, batch_weight, k_here, seed, state[N_STEPS], room, taken)
        mistakes = 0.0
        n_missed = 0
        for a in range(n):
            if labels[batch[a]] <= 0:
                mistakes += taken[a]
            elif batch_weight[a] > taken[a]:
                missed[n_missed] = a
                n_missed += 1
        state[MISTAKES] += mistakes
        if mistakes > 0.0:
            state[UPDATES] += 1
            for a in range(n):
                if taken[a] > 0.0 and labels[batch[a]] <= 0:
                    add_row(rows, batch[a], -taken[a], v)
                    add_row(rows, batch[a], -taken[a] * state[SCALE_SUM], z)
            _raise_missed(
                rows,
                batch,
                missed[:n_missed],
                batch_weight,
                scores,
                taken,
                mistakes,
                avg,
                pick,
                seed,
                room,
                v,
                z,
                state,
            )
        state[SCALE_SUM] += 1.0


@njit(cache=True)
def _take_units(batch, items, scores, weight, amount, seed, step, room, taken):
    """Write into ``taken`` how much of each item's weight is among the best ``amount`` units; ties fall at random."""
    keep_best(items, scores, weight, 1.0, amount, room)
    cut = scores[room[0]]
    left = amount
    n_tied = 0
    for a in items:
        taken[a] = 0.0
        if scores[a] > cut:
            taken[a] = weight[a]
            left -= weight[a]
        elif scores[a] == cut:
            room[n_tied] = a
            n_tied += 1
    tied = room[:n_tied]
    if n_tied > 1:
        keys = np.empty(scores.shape[0])
        for a in tied:
            keys[a] = uniform(seed, step, batch[a])
        sort_items(tied, keys, 1.0)
    for a in tied:
        taken[a] = min(max(left, 0.0), weight[a])
        left -= weight[a]


@njit(cache=True)
def _raise_missed(rows, batch, missed, weight, scores, taken, mistakes, avg, pick, seed, room, v, z, state):
    """Add the missed positives: all of them by Delta / |FN| (avg), or Delta units of them (max).

    Overwrites what it needs no more: the scores and weights of the missed, and in ``taken`` how much of each is added.
    """
    missed_weight = 0.0
    for a in missed:
        weight[a] -= taken[a]
        missed_weight += weight[a]
    if avg:
        for a in missed:
            taken[a] = weight[a] * mistakes / missed_weight
    else:
        for a in missed:
            if pick == BOTTOM:
                scores[a] = -scores[a]
            elif pick == RANDOM:
                scores[a] = 0.0  # all tied: the random keys decide
        _take_units(batch, missed, scores, weight, mistakes, seed, -state[N_STEPS], room, taken)
    for a in missed:
        if taken[a] > 0.0:
            add_row(rows, batch[a], taken[a], v)
            add_row(rows, batch[a], taken[a] * state[SCALE_SUM], z)
