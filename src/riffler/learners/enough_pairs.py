"""How many pairs are enough: more are drawn until the order of rows held out gets no better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riffler.errors import LabelError
from riffler.learners.pair_ranker import GradedSet
from riffler.learners.rank_svm import part_of
from riffler.learners.ranker import linear_scores
from riffler.losses.pairwise import PreferencePairs

if TYPE_CHECKING:
    from riffler.learners.active_rank_svm import ActiveRankSVM

HELD_OUT = 0.2
MOST_PAIRS = 1_000_000
WITHOUT_TRIAL = 10_000
"""Pairs where too few rows are there to hold some out, or so few pairs that most of them can be taken."""

RISE = 2e-4
"""Of the share of pairs in order: less is not worth twice as many pairs."""


def enough_pairs(ranker: ActiveRankSVM, data: GradedSet, seed: int) -> int:
    """Give the number of pairs after which twice as many brought no rise on held-out rows (or queries)."""
    rng = np.random.RandomState(seed)
    try:
        pairs = data.pairs()
        several = len(pairs.group_starts) > 2
        chosen = part_of(pairs, HELD_OUT, rng, few=int(several))  # one of two queries is held out, no rare row
        held_out = data.rows(chosen)
        rest = data.rows(np.setdiff1d(np.arange(len(data.grades)), chosen))
        judge = held_out.pairs()
        n_pairs = PreferencePairs(rest.grades, rest.groups, rest.weight > 0).total
    except LabelError:
        return WITHOUT_TRIAL
    most = min(MOST_PAIRS, int(n_pairs / 2))
    if most <= WITHOUT_TRIAL:
        return WITHOUT_TRIAL
    best, enough = -np.inf, WITHOUT_TRIAL
    solver = ranker._solver(rest, seed)
    for found in ranker._grow(rest, solver, most, seed):
        share = judge.share_in_order(linear_scores(held_out.X, found.weights))
        if share > best + RISE:
            best, enough = share, found.n_pairs
        elif found.n_pairs >= 2 * enough:
            break
    return enough
