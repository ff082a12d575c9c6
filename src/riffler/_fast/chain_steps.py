"""Subgradient steps on chains: one sequence after the other is asked and followed at once."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

from riffler._fast.chain import add_outer, loss_of, room_for, violating_path, write_scores


@njit(cache=True)
def step_over_chains(rows, starts, gold, examples, unary, pairs, ends, next_to, cost, slack, step):
    """Add ``step`` times the slopes of each sequence's cut to the weights, where it is violated; sum the losses."""
    scores, back, best = room_for(starts, cost.shape[0])
    path, total = np.empty(scores.shape[0], np.int64), 0.0
    for i in examples:
        start, stop = starts[i], starts[i + 1]
        truth, said = gold[start:stop], path[: stop - start]
        if stop > start:
            write_scores(rows, start, stop, unary, scores)
            violating_path(scores, truth, ends, pairs + next_to, cost, slack, back, best, said)
            loss = loss_of(truth, said, cost)
            factor = loss if slack else 1.0
            if loss - factor * _margin(scores, pairs, truth, said) > 0.0:
                _add_cut(rows, start, truth, said, step * factor, unary, pairs)
                total += loss
    return total


@njit(cache=True)
def _margin(scores, pairs, truth, said):
    """Score of the true labels minus that of others."""
    total = 0.0
    for t in range(len(truth)):
        total += scores[t, truth[t]] - scores[t, said[t]]
        if t > 0:
            total += pairs[truth[t - 1], truth[t]] - pairs[said[t - 1], said[t]]
    return total


@njit(cache=True)
def _add_cut(rows, start, truth, said, step, unary, pairs):
    change, labels = np.zeros(pairs.shape[0]), np.empty(2, np.int64)
    for t in range(len(truth)):
        if truth[t] != said[t]:
            labels[0], labels[1] = truth[t], said[t]
            change[truth[t]], change[said[t]] = 1.0, -1.0
            add_outer(rows, start + t, step, change, labels, unary)
        if t > 0:
            pairs[truth[t - 1], truth[t]] += step
            pairs[said[t - 1], said[t]] -= step
