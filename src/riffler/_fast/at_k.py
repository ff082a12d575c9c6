"""Value and slope of the four precision-at-k surrogates on one batch (ALGORITHMS 2.2), in weight units.

In the order of falling score every surrogate has the same shape of slope: +1 for the first U units of negative
weight, and a constant -c on one interval of the positives. Only U and the interval differ:

========  ==================  =====================
ramp      [k - U, k)          c = 1
struct    [k - U, n+)         c = 1
max       [n+ - U, n+)        c = 1
avg       [k - U, n+)         c = U / (n+ - k + U)
========  ==================  =====================

A row of weight 3 counts as three equal rows. Rows with equal scores share their part of an interval by weight, which
is the mean over all tie orders, so the slope depends neither on the order of the rows nor on how repetition is written.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.selection import keep_best, sort_items

RAMP, MAX, AVG, STRUCT = 0, 1, 2, 3
TINY = 1e-12


@njit(cache=True)
def surrogate_slopes(code, scores, labels, weight, n, k, slopes, room):
    """Fill ``slopes[:n]`` with d surrogate / d score and return the surrogate's value.

    ``k`` (in weight units) must lie in (0, positive weight]; ``room`` holds at least 2 n positions.
    """
    n_pos = 0
    n_neg = 0
    for i in range(n):
        slopes[i] = 0.0
        if weight[i] <= 0.0:
            continue
        if labels[i] > 0:
            room[n_pos] = i
            n_pos += 1
        else:
            n_neg += 1
            room[n - n_neg] = i
    return slopes_of_classes(code, scores, weight, room[:n_pos], room[n - n_neg : n], k, slopes, room[n:])


@njit(cache=True)
def slopes_of_classes(code, scores, weight, positives, negatives, k, slopes, room):
    """The same for rows already told apart: positions of positive weight, and slopes that are 0 before."""
    positive_weight = 0.0
    missed = 0.0
    for i in positives:
        positive_weight += weight[i]
        missed += weight[i] * scores[i]

    # The ladder: the positives that the best negatives are set against, from the lowest upwards. It starts at
    # position k of the falling order, for max at the very last positive.
    kept, total, _ = keep_best(positives, scores, weight, -1.0 if code == MAX else 1.0, k, room)
    ladder = room[:kept]
    sort_items(ladder, scores, -1.0)
    beyond = 0.0 if code == MAX else total - k  # part of the first rung that lies below position k
    for i in ladder:
        missed -= weight[i] * scores[i]
    missed += beyond * scores[ladder[0]]
    kept_neg, _, left_out = keep_best(negatives, scores, weight, 1.0, k, room[kept:])
    rivals = room[kept : kept + kept_neg]
    sort_items(rivals, scores, 1.0)

    if code == AVG:
        value, used, rival, rung = _walk_avg(scores, weight, ladder, rivals, k, beyond, positive_weight - k, missed)
    else:
        value, used, rival, rung = _walk_pairs(scores, weight, ladder, rivals, k, beyond)
    if code == STRUCT:
        value -= missed
    if used > 0.0:
        cut = scores[rivals[rival]]
        involved = negatives if left_out == cut else rivals  # a tie at the cut is shared with those left out
        _fill_interval(scores, weight, involved, 0.0, used, np.inf, cut, 1.0, slopes)
    if used > 0.0 or code == STRUCT:
        low = positive_weight - used if code == MAX else k - used
        high = k if code == RAMP else positive_weight
        floor = scores[ladder[0]] if code == RAMP else -np.inf
        height = used / (positive_weight - k + used) if code == AVG else 1.0
        _fill_interval(scores, weight, positives, low, high, scores[ladder[rung]], floor, -height, slopes)
    return value


@njit(cache=True)
def _walk_pairs(scores, weight, ladder, rivals, k, beyond):
    """Set the best negatives against the ladder while 1 + s- - s+ > 0; the terms only fall, so stop at the first."""
    rung = 0
    rival = -1
    left_pos = weight[ladder[0]] - beyond
    left_neg = 0.0
    value = 0.0
    used = 0.0
    last_rival = 0
    last_rung = 0
    tiny = TINY * max(1.0, k)
    while used < k - tiny:
        if left_neg <= tiny:
            rival += 1
            if rival == rivals.shape[0]:
                break
            left_neg = weight[rivals[rival]]
        while left_pos <= tiny and rung + 1 < ladder.shape[0]:
            rung += 1
            left_pos = weight[ladder[rung]]
        if left_pos <= tiny:
            break  # the ladder is used up but for rounding
        margin = 1.0 + scores[rivals[rival]] - scores[ladder[rung]]
        if margin <= 0.0:
            break
        step = min(left_neg, left_pos, k - used)
        value += step * margin
        used += step
        left_neg -= step
        left_pos -= step
        last_rival = rival
        last_rung = rung
    return value, used, last_rival, last_rung


@njit(cache=True)
def _walk_avg(scores, weight, ladder, rivals, k, beyond, surplus, missed):
    """The D that maximises D + (sum of the D best negatives) - D * mean(missed positives), over whole D and row ends.

    ``surplus`` is n+ - k and ``missed`` the sum of the positive scores beyond k; both grow with D.
    """
    rung = 0
    rival = -1
    left_pos = weight[ladder[0]] - beyond
    left_neg = 0.0
    used = 0.0
    gained = 0.0
    best_value = 0.0
    best_used = 0.0
    best_rival = 0
    best_rung = 0
    tiny = TINY * max(1.0, k)
    while used < k - tiny:
        if left_neg <= tiny:
            rival += 1
            if rival == rivals.shape[0]:
                break
            left_neg = weight[rivals[rival]]
        while left_pos <= tiny and rung + 1 < ladder.shape[0]:
            rung += 1
            left_pos = weight[ladder[rung]]
        if left_pos <= tiny:
            break  # the ladder is used up but for rounding
        to_whole = 1.0 - (used - int(used + TINY))
        step = min(min(left_neg, left_pos), min(k - used, to_whole))
        used += step
        left_neg -= step
        left_pos -= step
        gained += step * (1.0 + scores[rivals[rival]])
        missed += step * scores[ladder[rung]]
        value = gained - used * missed / (surplus + used)
        if value > best_value:
            best_value = value
            best_used = used
            best_rival = rival
            best_rung = rung
    return best_value, best_used, best_rival, best_rung


@njit(cache=True)
def _fill_interval(scores, weight, items, low, high, top, bottom, height, slopes):
    """Give ``height * weight`` to the items at positions [low, high) of their falling order.

    ``top`` and ``bottom`` are the scores at the two ends (infinite where the interval has no end inside); the items
    that tie with an end share what the interval covers of their block.
    """
    above_top = 0.0
    at_top = 0.0
    above_bottom = 0.0
    at_bottom = 0.0
    for i in items:
        score = scores[i]
        if score >= top:
            if score > top:
                above_top += weight[i]
            else:
                at_top += weight[i]
        if score > bottom:
            above_bottom += weight[i]
        elif score == bottom:
            at_bottom += weight[i]
    top_share = (min(high, above_top + at_top) - max(low, above_top)) / at_top if at_top > 0.0 else 0.0
    bottom_share = (
        (min(high, above_bottom + at_bottom) - max(low, above_bottom)) / at_bottom if at_bottom > 0.0 else 0.0
    )
    for i in items:
        score = scores[i]
        if score > top or score < bottom:
            continue
        share = 1.0
        if score == top:
            share = top_share
        elif score == bottom:
            share = bottom_share
        slopes[i] = height * weight[i] * share
