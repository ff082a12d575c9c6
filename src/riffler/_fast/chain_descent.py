"""Block descent on chains: each sequence keeps the label sequences that mattered, and solves its own dual over them.

Sequence i has ``n_kept[i]`` label sequences, in the columns of ``kept`` at its rows; the first is the true one. Their
shares ``alpha[i]`` sum to 1, and the weights are scale * sum over i and k of alpha * factor * (features of the truth -
features of k), factor 1 or, with slack rescaling, the loss of k.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.block_moves import most_and_least
from riffler._fast.chain import (
    add_scores,
    loss_of,
    move,
    room_for,
    square_of_direction,
    violating_path,
    write_scores,
)


@njit(cache=True)
def keep(path, loss, kept, alpha, losses, n_kept):
    """Give a label sequence a place among those that are kept; -1 if it has one, -2 if all places are taken.

    A place whose share is 0 may be taken again.
    """
    for k in range(n_kept):
        same = True
        for t in range(len(path)):
            if kept[t, k] != path[t]:
                same = False
                break
        if same:
            return -1
    place = -2
    for k in range(1, n_kept):
        if alpha[k] == 0.0:
            place = k
            break
    if place < 0 and n_kept < kept.shape[1]:
        place = n_kept
    if place >= 0:
        for t in range(len(path)):
            kept[t, place] = path[t]
        alpha[place], losses[place] = 0.0, loss
    return place


@njit(cache=True)
def write_disputed(kept, n_kept, disputed):
    """Write the positions where the label sequences differ from the truth; give their number."""
    n = 0
    for t in range(len(kept)):
        for k in range(1, n_kept):
            if kept[t, k] != kept[t, 0]:
                disputed[n] = t
                n += 1
                break
    return n


@njit(cache=True)
def write_heights(scores, pairs, kept, disputed, losses, n_kept, slack, heights):
    """Write how much each label sequence violates its margin; positions where all agree cancel out."""
    truth = 0.0
    for k in range(n_kept):
        total = 0.0
        for t in disputed:
            total += scores[t, kept[t, k]]
        for t in range(1, len(kept)):
            total += pairs[kept[t - 1, k], kept[t, k]]
        if k == 0:
            truth = total
        heights[k] = losses[k] - (losses[k] if slack else 1.0) * (truth - total)


@njit(cache=True)
def write_move(kept, disputed, up, down, up_factor, down_factor, change, active, n_active, pair_change):
    """Write the direction of the weights when share goes from one label sequence to another."""
    n_active[:] = 0
    for t in disputed:
        row = change[t]
        truth, to, origin = kept[t, 0], kept[t, up], kept[t, down]
        row[truth], row[to], row[origin] = 0.0, 0.0, 0.0
        row[truth] += up_factor - down_factor
        row[to] -= up_factor
        row[origin] += down_factor
        n = 0
        for a in (truth, to, origin):
            if row[a] != 0.0 and not (n > 0 and active[t, 0] == a) and not (n > 1 and active[t, 1] == a):
                active[t, n] = a
                n += 1
        n_active[t] = n
    pair_change[:] = 0.0
    for t in range(1, len(kept)):
        pair_change[kept[t - 1, 0], kept[t, 0]] += up_factor - down_factor
        pair_change[kept[t - 1, up], kept[t, up]] -= up_factor
        pair_change[kept[t - 1, down], kept[t, down]] += down_factor


@njit(cache=True)
def descent_pass(
    rows, starts, gold, order, asks, scale, ends, next_to, cost, slack, max_moves, enough,
    unary, pairs, work, kept, alpha, losses, n_kept, sums, gaps,
):  # fmt: skip
    """Solve the small dual of each sequence in this order, over what it keeps and what violates most now.

    A sequence is left after ``max_moves``, or when ``enough`` of its gap is all that is left. Unless ``asks``, nothing
    is asked for: only what is kept counts.
    Writes the gap of each sequence, before its moves, to ``gaps``. ``sums`` holds the offset of the dual, and how often
    a sequence had no place left.
    """
    n_labels = pairs.shape[0]
    scores, back, best = room_for(starts, n_labels)
    longest = len(scores)
    path, pair_change = np.empty(longest, np.int64), np.zeros((n_labels, n_labels))
    change, active = np.zeros((longest, n_labels)), np.empty((longest, 3), np.int64)
    n_active, positions = np.empty(longest, np.int64), np.empty(longest, np.int64)
    heights = np.empty(kept.shape[1])
    for i in order:
        start, stop = starts[i], starts[i + 1]
        length, truth = stop - start, gold[start:stop]
        gaps[i] = 0.0
        if length == 0:
            continue
        mine, shares = kept[start:stop], alpha[i]
        if asks:
            write_scores(rows, start, stop, unary, scores)
            violating_path(scores, truth, ends, pairs + next_to, cost, slack, back, best, path[:length])
            place = keep(path[:length], loss_of(truth, path[:length], cost), mine, shares, losses[i], n_kept[i])
            if place == n_kept[i]:
                n_kept[i] += 1
            if place == -2:
                sums[1] += 1.0
        if n_kept[i] == 1:
            continue
        disputed = positions[: write_disputed(mine, n_kept[i], positions)]
        for n_moves in range(max_moves):
            if n_moves > 0 or not asks:
                for t in disputed:
                    scores[t] = 0.0
                    add_scores(rows, start + t, unary, scores[t])
            write_heights(scores, pairs, mine, disputed, losses[i], n_kept[i], slack, heights)
            up, down = most_and_least(heights, shares, n_kept[i])
            rise, gap = heights[up] - heights[down], 0.0
            for k in range(n_kept[i]):
                gap += scale * shares[k] * (heights[up] - heights[k])
            if n_moves == 0:
                gaps[i] = gap
            if rise <= 0.0 or (n_moves > 0 and gap <= enough * gaps[i]):
                break
            up_factor, down_factor = (losses[i, up], losses[i, down]) if slack else (1.0, 1.0)
            write_move(mine, disputed, up, down, up_factor, down_factor, change, active, n_active[:length], pair_change)
            square = square_of_direction(rows, start, change, active, n_active[:length], pair_change, work)
            step = min(shares[down], rise / (scale * square)) if square > 0.0 else shares[down]
            move(rows, start, change, active, n_active[:length], pair_change, step * scale, unary, pairs)
            shares[up] += step
            shares[down] = shares[down] - step if step < shares[down] else 0.0
            sums[0] += step * scale * (losses[i, up] - losses[i, down])
