"""Block descent on labels: each example keeps the labellings that mattered, and solves its own dual over them.

A visit is made in short form (see ``label_tree``): scores are kept up to date by the square of x, and the weights are
changed once, at its end.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.block_moves import most_and_least
from riffler._fast.label_tree import SLACK, add_short, cost_of, take_step, violating_labels, write_scores


@njit(cache=True)
def keep_labels(labels, kept, shares, n_kept):
    """Give a labelling a place, unless it has one; one without a share gives way. Returns how many are kept."""
    place = n_kept
    for k in range(n_kept - 1, -1, -1):
        if np.array_equal(kept[k], labels):
            return n_kept
        if k > 0 and shares[k] == 0.0:
            place = k
    kept[place] = labels
    shares[place] = 0.0
    return max(n_kept, place + 1)


@njit(cache=True)
def write_slopes(kept, n_kept, costs, rescaling, tree, slopes, losses):
    """Write the cuts of the labellings, the first of which is the truth, in short form."""
    for k in range(n_kept):
        losses[k] = cost_of(kept[0], kept[k], costs)
        factor = losses[k] if rescaling == SLACK else 1.0
        slopes[k] = 0.0
        add_short(kept[0], tree, factor, slopes[k])
        add_short(kept[k], tree, -factor, slopes[k])


@njit(cache=True)
def move_shares(slopes, losses, shares, squares, scale, max_moves, enough, scores, change):
    """Move share from the least to the most violating labellings, as far as the dual rises.

    ``squares`` are those of what stands behind each place of the short form: 1 + |x|^2, or 1. Adds to ``change`` what
    is to be added to the weights. Returns the gap before the first move, and the rise of the offset.
    """
    n_kept = slopes.shape[0]
    heights = np.empty(n_kept)
    gap, risen = 0.0, 0.0
    for n_moves in range(max_moves):
        for k in range(n_kept):
            heights[k] = losses[k] - slopes[k] @ scores
        up, down = most_and_least(heights, shares, n_kept)
        rise = heights[up] - heights[down]
        left = scale * (heights[up] - heights @ shares)
        if n_moves == 0:
            gap = left
        if rise <= 0.0 or (n_moves > 0 and left <= enough * gap):
            break
        direction = slopes[up] - slopes[down]
        square = (squares * direction) @ direction
        room = shares[down]
        step = min(room, rise / (scale * square)) if square > 0.0 else room
        change += step * scale * direction
        scores += step * scale * squares * direction
        risen += step * scale * (losses[up] - losses[down])
        shares[up] += step
        shares[down] = room - step if step < room else 0.0
    return gap, risen


@njit(cache=True)
def label_visits(
    rows, squares, order, asks, costs, rescaling, tree, scale, max_moves, enough, label_weights, table_scores, kept,
    shares, n_kept, gaps,
):  # fmt: skip
    """Visit each example in this order; there must be room for one more labelling. Returns the rise of the offset.

    Unless ``asks``, nothing is asked for: only what is kept counts.

    ``kept`` (n, room, L) and ``shares`` (n, room) are the labellings of each example, the truth first.
    """
    n_labels, n_places = kept.shape[2], kept.shape[2] + table_scores.shape[0]
    scores, change, behind = np.empty(n_places), np.empty(n_places), np.ones(n_places)
    other = np.empty(n_labels, np.int8)
    slopes, losses = np.empty((kept.shape[1], n_places)), np.empty(kept.shape[1])
    risen = 0.0
    for i in order:
        write_scores(rows, i, label_weights, table_scores, scores)
        if asks:
            violating_labels(scores, tree, kept[i, 0], costs, rescaling, other)
            n_kept[i] = keep_labels(other, kept[i], shares[i], n_kept[i])
        n = n_kept[i]
        write_slopes(kept[i], n, costs, rescaling, tree, slopes, losses)
        change[:] = 0.0
        behind[:n_labels] = squares[i]
        gaps[i], rise = move_shares(
            slopes[:n], losses[:n], shares[i, :n], behind, scale, max_moves, enough, scores, change
        )
        take_step(rows, i, 1.0, change, label_weights, table_scores)
        risen += rise
    return risen
