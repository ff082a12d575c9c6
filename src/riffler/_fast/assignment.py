"""The order of each query that violates a margin most, where a place weighs in the score as it does in the loss."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def sorted_orders(scores, gains, worth, starts, truth, order, moves):
    """Write the worst order of each query and what each row counts in score(truth) - score(order); return the losses.

    The sum over places of worth * (score - gain) is greatest where rows stand by score - gain, the greatest first.
    ``gains`` are shares of the ideal; rows of query g are ``starts[g]`` to ``starts[g + 1]``, in ``order`` too.
    """
    losses = np.ones(starts.shape[0] - 1)
    for g in range(losses.shape[0]):
        first, last = starts[g], starts[g + 1]
        by_key = np.argsort(gains[first:last] - scores[first:last])
        for place in range(last - first):
            row = first + by_key[place]
            order[first + place] = row
            losses[g] -= worth[place] * gains[row]
            moves[row] = truth[row] - worth[place]
    return losses
