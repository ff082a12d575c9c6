"""Linear chains: the best sequence of labels, all examples at once, and steps of block-coordinate Frank-Wolfe.

Weights are two arrays: ``unary[j, a]`` for column j and label a, ``pairs[a, b]`` for label a before label b.
Sequences stand one after the other in the rows; sequence i has rows starts[i] to starts[i + 1]. ``ends`` are two rows,
for labels that begin and that end a sequence, and ``next_to[a, b]`` is for b after a: 0, or minus infinity where that
may not be. ``cost[a, b]`` is what it costs to say b where a is true. A multiclass problem is a chain of sequences of
one row.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from riffler._fast.rows import CsrRows, _kind


def add_scores(rows, i, unary, out):
    """Add the scores of row i for every label to ``out``."""


def add_outer(rows, i, step, change, labels, unary):
    """Add ``step * x_ij * change[a]`` to unary[j, a] for every column j and each of the labels a."""


def take_square(rows, i, labels, work):
    """Sum the squares of work[j, a] over the columns of row i and the labels, and set them to 0."""


@overload(add_scores)
def _add_scores(rows, i, unary, out):
    if _kind(rows) is CsrRows:
        return lambda rows, i, unary, out: _sparse_scores(rows.data, rows.indices, rows.indptr, i, unary, out)
    return lambda rows, i, unary, out: _dense_scores(rows.values[i], unary, out)


@overload(add_outer)
def _add_outer(rows, i, step, change, labels, unary):
    if _kind(rows) is CsrRows:
        return lambda rows, i, step, change, labels, unary: _sparse_outer(
            rows.data, rows.indices, rows.indptr, i, step, change, labels, unary
        )
    return lambda rows, i, step, change, labels, unary: _dense_outer(rows.values[i], step, change, labels, unary)


@overload(take_square)
def _take_square(rows, i, labels, work):
    if _kind(rows) is CsrRows:
        return lambda rows, i, labels, work: _sparse_square(rows.indices, rows.indptr, i, labels, work)
    return lambda rows, i, labels, work: _dense_square(rows.values[i], labels, work)


@njit(cache=True)
def _sparse_scores(data, indices, indptr, i, unary, out):
    n_labels = out.shape[0]
    for p in range(indptr[i], indptr[i + 1]):
        value, weights = data[p], unary[indices[p]]
        for a in range(n_labels):
            out[a] += value * weights[a]


@njit(cache=True)
def _dense_scores(row, unary, out):
    n_labels = out.shape[0]
    for j in range(row.shape[0]):
        value = row[j]
        if value != 0.0:
            weights = unary[j]
            for a in range(n_labels):
                out[a] += value * weights[a]


@njit(cache=True)
def _sparse_outer(data, indices, indptr, i, step, change, labels, unary):
    for p in range(indptr[i], indptr[i + 1]):
        value, weights = step * data[p], unary[indices[p]]
        for a in labels:
            weights[a] += value * change[a]


@njit(cache=True)
def _dense_outer(row, step, change, labels, unary):
    for j in range(row.shape[0]):
        value = step * row[j]
        if value != 0.0:
            weights = unary[j]
            for a in labels:
                weights[a] += value * change[a]


@njit(cache=True)
def _sparse_square(indices, indptr, i, labels, work):
    total = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        weights = work[indices[p]]
        for a in labels:
            total += weights[a] * weights[a]
            weights[a] = 0.0
    return total


@njit(cache=True)
def _dense_square(row, labels, work):
    total = 0.0
    for j in range(row.shape[0]):
        if row[j] != 0.0:
            weights = work[j]
            for a in labels:
                total += weights[a] * weights[a]
                weights[a] = 0.0
    return total


@njit(cache=True)
def write_scores(rows, start, stop, unary, scores):
    """Write the scores of some rows for every label into the first rows of ``scores``."""
    scores[: stop - start] = 0.0
    for i in range(start, stop):
        add_scores(rows, i, unary, scores[i - start])


@njit(cache=True)
def best_path(scores, ends, steps, length, back, best, path):
    """Write the labels of the highest score into ``path`` (Viterbi); give that score.

    ``steps[a, b]`` is the score of b after a, minus infinity where it may not come. Of equals the first label wins.
    ``back`` and ``best`` are work: (length, n_labels) integers and (2, n_labels) floats.
    """
    n_labels = scores.shape[1]
    now, before = best[0], best[1]
    for a in range(n_labels):
        now[a] = scores[0, a] + ends[0, a]
    for t in range(1, length):
        now, before = before, now
        origin = back[t]
        for b in range(n_labels):
            now[b] = before[0] + steps[0, b]
            origin[b] = 0
        for a in range(1, n_labels):
            height = before[a]
            for b in range(n_labels):
                reached = height + steps[a, b]
                if reached > now[b]:
                    now[b] = reached
                    origin[b] = a
        for b in range(n_labels):
            now[b] += scores[t, b]
    for a in range(n_labels):
        now[a] += ends[1, a]
    last = np.argmax(now)
    value = now[last]
    for t in range(length - 1, -1, -1):
        path[t] = last
        last = back[t, last]
    return value


@njit(cache=True)
def worst_label(scores, gold, cost):
    """Give the label that maximises cost * (1 - score of the truth + score)."""
    worst, highest = gold, 0.0
    for a in range(len(scores)):
        value = cost[gold, a] * (1.0 - scores[gold] + scores[a])
        if value > highest:
            worst, highest = a, value
    return worst


@njit(cache=True)
def best_path_by_mistakes(scores, gold, ends, steps, path):
    """Write the labels that maximise m * (1 - score of the truth + score), m the number of wrong labels.

    This is slack rescaling. The best labels of each number of mistakes are found together: O(length^2 * n_labels^2).
    """
    length, n_labels = len(gold), scores.shape[1]
    best = np.full((length, length + 1, n_labels), -np.inf)
    back = np.zeros((length, length + 1, n_labels), np.int64)
    for b in range(n_labels):
        best[0, int(b != gold[0]), b] = scores[0, b] + ends[0, b]
    for t in range(1, length):
        for b in range(n_labels):
            wrong = int(b != gold[t])
            for m in range(wrong, t + 1 + wrong):
                for a in range(n_labels):
                    reached = best[t - 1, m - wrong, a] + steps[a, b]
                    if reached > best[t, m, b]:
                        best[t, m, b] = reached
                        back[t, m, b] = a
                best[t, m, b] += scores[t, b]
    best[length - 1] += ends[1]
    truth = best[length - 1, 0, gold[length - 1]]
    n_wrong, highest = 0, 0.0
    for m in range(1, length + 1):
        value = m * (1.0 - truth + np.max(best[length - 1, m]))
        if value > highest:
            n_wrong, highest = m, value
    last = np.argmax(best[length - 1, n_wrong])
    for t in range(length - 1, -1, -1):
        path[t] = last
        before = back[t, n_wrong, last]
        n_wrong -= int(last != gold[t])
        last = before


@njit(cache=True)
def violating_path(scores, gold, ends, steps, cost, slack, back, best, path):
    """Write the labels that violate the margin most, by loss plus score or, with ``slack``, by loss times violation."""
    length = len(gold)
    if slack and length == 1 and np.isfinite(ends).all():
        path[0] = worst_label(scores[0], gold[0], cost)
        return
    if slack:
        best_path_by_mistakes(scores[:length], gold, ends, steps, path)
        return
    for t in range(length):
        for a in range(scores.shape[1]):
            scores[t, a] += cost[gold[t], a]
    best_path(scores, ends, steps, length, back, best, path)
    for t in range(length):
        for a in range(scores.shape[1]):
            scores[t, a] -= cost[gold[t], a]


@njit(cache=True)
def room_for(starts, n_labels):
    """Make the work arrays of the longest sequence: scores, back and best."""
    longest = np.max(np.diff(starts))
    return np.empty((longest, n_labels)), np.zeros((longest, n_labels), np.int64), np.empty((2, n_labels))


@njit(cache=True)
def decode(rows, starts, unary, pairs, ends, next_to, paths):
    """Write the best labels of every sequence into ``paths``."""
    scores, back, best = room_for(starts, pairs.shape[0])
    steps = pairs + next_to
    for i in range(len(starts) - 1):
        start, stop = starts[i], starts[i + 1]
        if stop > start:
            write_scores(rows, start, stop, unary, scores)
            best_path(scores, ends, steps, stop - start, back, best, paths[start:stop])


@njit(cache=True)
def violating_paths(rows, starts, gold, examples, unary, pairs, ends, next_to, cost, slack, paths):
    """Write the most violating labels of some sequences into ``paths``, one sequence after the other."""
    scores, back, best = room_for(starts, pairs.shape[0])
    steps = pairs + next_to
    done = 0
    for i in examples:
        start, stop = starts[i], starts[i + 1]
        if stop > start:
            write_scores(rows, start, stop, unary, scores)
            path = paths[done : done + stop - start]
            violating_path(scores, gold[start:stop], ends, steps, cost, slack, back, best, path)
            done += stop - start


@njit(cache=True)
def loss_of(gold, path, cost):
    """Sum what the labels of a path cost."""
    loss = 0.0
    for t in range(len(gold)):
        loss += cost[gold[t], path[t]]
    return loss


@njit(cache=True)
def add_cuts(rows, starts, gold, paths, cost, slack, slope_unary, slope_pairs):
    """Add the slopes of the cuts of all sequences, given their paths; give the sum of their losses."""
    total = 0.0
    change, labels = np.zeros(cost.shape[0]), np.empty(2, np.int64)
    for i in range(len(starts) - 1):
        start, stop = starts[i], starts[i + 1]
        loss = loss_of(gold[start:stop], paths[start:stop], cost)
        factor = loss if slack else 1.0
        total += loss
        for t in range(start, stop):
            truth, said = gold[t], paths[t]
            if truth != said:
                labels[0], labels[1] = truth, said
                change[truth], change[said] = 1.0, -1.0
                add_outer(rows, t, factor, change, labels, slope_unary)
            if t > start:
                slope_pairs[gold[t - 1], truth] += factor
                slope_pairs[paths[t - 1], said] -= factor
    return total


@njit(cache=True)
def row_direction(share, truth, said, factor, change, active):
    """Write what the share of a row changes by on the way to a new label; give how many labels that concerns."""
    n = 0
    for a in range(len(share)):
        change[a] = -share[a]
    change[truth] += factor
    change[said] -= factor
    for a in range(len(share)):
        if change[a] != 0.0:
            active[n] = a
            n += 1
    return n


@njit(cache=True)
def pair_direction(pair_share, gold, path, factor, change):
    """Write what the share of the pairs of labels changes by on the way to a new path."""
    change[:] = -pair_share
    for t in range(1, len(gold)):
        change[gold[t - 1], gold[t]] += factor
        change[path[t - 1], path[t]] -= factor


@njit(cache=True)
def square_of_direction(rows, start, change, active, n_active, pair_change, work):
    """Squared norm of the direction: rows that share columns are summed before they are squared."""
    total = 0.0
    for t in range(len(n_active)):
        if n_active[t] > 0:
            add_outer(rows, start + t, 1.0, change[t], active[t, : n_active[t]], work)
    for t in range(len(n_active)):
        if n_active[t] > 0:
            total += take_square(rows, start + t, active[t, : n_active[t]], work)
    if len(n_active) > 1:
        total += np.sum(pair_change * pair_change)
    return total


@njit(cache=True)
def move(rows, start, change, active, n_active, pair_change, step, unary, pairs):
    """Add ``step`` times the direction to some weights."""
    for t in range(len(n_active)):
        if n_active[t] > 0:
            add_outer(rows, start + t, step, change[t], active[t, : n_active[t]], unary)
    if len(n_active) > 1:
        pairs += step * pair_change


@njit(cache=True)
def frank_wolfe_pass(
    rows,
    starts,
    gold,
    order,
    scale,
    ends,
    next_to,
    cost,
    slack,
    weights,
    late,
    work,
    shares,
    pair_shares,
    offsets,
    sums,
):
    """Make a step for each sequence in this order; give the sum of the gaps before the steps.

    The share of sequence i in the weights is ``scale`` times a sum of rows, each times its row of ``shares`` (by
    label), and of ``pair_shares[i]`` (by pair of labels). ``weights`` and ``late``, which averaging takes off, are
    pairs of arrays: of columns, and of pairs of labels. ``sums`` holds the number of steps, the offset of the dual and
    its late sum; ``offsets`` that of each sequence. ``work`` is zeros of the shape of the weights of columns.
    """
    unary, pairs = weights
    n_labels = pairs.shape[0]
    scores, back, best = room_for(starts, n_labels)
    longest = len(scores)
    path, pair_change = np.empty(longest, np.int64), np.zeros((n_labels, n_labels))
    change, active = np.empty((longest, n_labels)), np.empty((longest, n_labels), np.int64)
    n_active = np.empty(longest, np.int64)
    total = 0.0
    for i in order:
        start, stop = starts[i], starts[i + 1]
        length, truth = stop - start, gold[start:stop]
        sums[0] += 1.0
        if length == 0:
            continue
        write_scores(rows, start, stop, unary, scores)
        violating_path(scores, truth, ends, pairs + next_to, cost, slack, back, best, path[:length])
        loss = loss_of(truth, path[:length], cost)
        factor = loss if slack else 1.0
        gain = 0.0
        for t in range(length):
            n_active[t] = row_direction(shares[start + t], truth[t], path[t], factor, change[t], active[t])
            for a in active[t, : n_active[t]]:
                gain += change[t, a] * scores[t, a]
        if length > 1:
            pair_direction(pair_shares[i], truth, path[:length], factor, pair_change)
            gain += np.sum(pair_change * pairs)
        rise = scale * loss - offsets[i]
        gap = rise - scale * gain
        if gap <= 0.0:
            continue
        total += gap
        counts = n_active[:length]
        square = scale * scale * square_of_direction(rows, start, change, active, counts, pair_change, work)
        step = min(1.0, gap / square) if square > 0.0 else 1.0
        lateness = sums[0] * (sums[0] - 1.0) / 2.0
        move(rows, start, change, active, counts, pair_change, step * scale, unary, pairs)
        move(rows, start, change, active, counts, pair_change, lateness * step * scale, late[0], late[1])
        shares[start:stop] += step * change[:length]
        if length > 1:
            pair_shares[i] += step * pair_change
        offsets[i] += step * rise
        sums[1] += step * rise
        sums[2] += lateness * step * rise
    return total
