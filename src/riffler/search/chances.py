"""From the scores of a search to chances of being relevant, whatever the classifier behind them."""

from __future__ import annotations

import numpy as np

from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.pool import Pool
from riffler.search.view import SearchView

PRESUMED = 500  # unreviewed items, drawn at random, that stand for the irrelevant ones not yet seen


def chances_of(view: SearchView, pool: Pool, steepness: float | None = None) -> FloatArray:
    """Chance of each member of a pool: 1 / (1 + exp(−steepness · score)), or by Platt's scaling for None.

    The scores of a logistic regression are logits, and a steepness of 1 takes them for that. Margins are not: Platt's
    scaling fits slope and offset to the answers, and to some unreviewed items that are presumed irrelevant. While
    nothing relevant is known there is nothing to fit, and scores are taken for logits.
    """
    scores = pool.scores
    if steepness is not None:
        return logistic(steepness * scores)
    known = view.answers != UNKNOWN
    relevant = view.answers[known] == RELEVANT
    if not relevant.any():
        return logistic(scores)
    presumed = pool.scores_of(_some_unreviewed(view))
    slope, offset = platt(
        np.concatenate([pool.scores_of(view.items[known]), presumed]),
        np.concatenate([relevant, np.zeros(presumed.size, dtype=bool)]),
    )
    return logistic(slope * scores + offset)


def _some_unreviewed(view: SearchView) -> IntArray:
    """Take the first unreviewed items in the order of the ties: the same ones however the collection is sorted."""
    free = np.flatnonzero(~view.reviewed)
    if view.ties is None or free.size == 0:
        return free[:PRESUMED]
    first = free[np.argpartition(view.ties[free], min(PRESUMED, free.size) - 1)[:PRESUMED]]
    some: IntArray = first[np.argsort(view.ties[first])]
    return some


def platt(scores: FloatArray, relevant: BoolArray) -> tuple[float, float]:
    """Slope (at least 0) and offset of the logit that fits the labels best, by Platt's smoothed targets.

    Relevant ones aim at (n + 1) / (n + 2), with n their number, irrelevant ones at 1 / (m + 2): few labels are not
    taken for certainty.

    >>> slope, offset = platt(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    >>> logistic(slope * np.array([1.0, 2.5, 4.0]) + offset).round(2).tolist()
    [0.2, 0.5, 0.8]
    """
    from scipy.optimize import minimize

    n_relevant = int(relevant.sum())
    aim = np.where(relevant, (n_relevant + 1) / (n_relevant + 2), 1 / (relevant.size - n_relevant + 2))
    center, spread = scores.mean(), scores.std() or 1.0
    z = (scores - center) / spread  # so that one step size serves both parameters

    def value_and_slope(w: FloatArray) -> tuple[float, FloatArray]:
        logits = w[0] * z + w[1]
        miss = logistic(logits) - aim
        return float((np.logaddexp(0.0, logits) - aim * logits).sum()), np.array([miss @ z, miss.sum()])

    start, bounds = np.array([1.0, 0.0]), [(0.0, None), (None, None)]
    slope, offset = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(slope / spread), float(offset - slope * center / spread)


def logistic(scores: FloatArray) -> FloatArray:
    """1 / (1 + exp(−score)), without overflow.

    >>> logistic(np.array([0.0, -1000.0, 1000.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    from scipy.special import expit

    chances: FloatArray = expit(scores)
    return chances
