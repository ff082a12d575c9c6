"""How many there are, judged by a sample: an unbiased estimate, and bounds that hold at every step.

Rows come in rounds; row i counts (y_i = 1) or does not, and is drawn with a probability p_i that may depend on
everything before. Of the drawn rows (I_i = 1) we learn y_i. Y is the sum of all y_i so far, drawn or not.

    estimate    sum of y_i / p_i over the drawn rows
    above       exp(tau Y - sum of w_i),  w_i = -log(1 - (1 - e^-tau) / p_i),  needs 1 - e^-tau < p_i for every row
    below       exp(sum of a_i - tau Y),  a_i = log(1 + (e^tau - 1) / p_i),    for any tau > 0

with the sums over drawn rows that count. Each exponential is a martingale that starts at 1, hence so is a mixture over
tau; by Ville's inequality it ever reaches 1 / error with probability at most ``error``. The Y at which it would is
the bound. See docs/methods/claims.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.records import FloatArray, IntArray

# Steepness of the mixed martingales in units of the least probability: the first are best where little was found, the
# last where many thousands were. Their weights fall as 1 / (j + 1), which favours few finds, where a bound is widest.
STEEPNESS_ABOVE = 0.98 * 0.75 ** np.arange(24)
STEEPNESS_BELOW = 2.0 * 0.75 ** np.arange(26)


@dataclass(frozen=True, slots=True, eq=False)
class Finds:
    """Drawn rows that count: the round of each, numbered from 0, and the probability with which it was drawn."""

    round: IntArray
    probability: FloatArray

    def total(self, weight: FloatArray, n_rounds: int) -> FloatArray:
        """Sum of a weight of the finds up to and including each round."""
        total: FloatArray = np.cumsum(np.bincount(self.round, weights=weight, minlength=n_rounds))
        return total


def estimated(finds: Finds, n_rounds: int) -> FloatArray:
    """Estimate the count after each round without bias: every find stands for 1 / probability rows.

    >>> estimated(Finds(np.array([0, 2]), np.array([0.5, 0.1])), n_rounds=3)
    array([ 2.,  2., 12.])
    """
    return finds.total(1.0 / finds.probability, n_rounds)


def bounded_above(finds: Finds, floors: FloatArray, error: float) -> FloatArray:
    """Bound the count after each round; the chance that it ever exceeds its bound is at most ``error``.

    floors : least probability of any row of each round, drawn or not, shape (n_rounds,)

    With nothing found at p = 0.02, (1 - p)^Y = 0.05 has the solution 148; the mixture pays for holding at all steps.

    >>> nothing = Finds(np.empty(0, dtype=int), np.empty(0))
    >>> bounded_above(nothing, floors=np.array([0.02, 0.02]), error=0.05).round(1)
    array([204.8, 204.8])
    """
    steepness = STEEPNESS_ABOVE * _unit(floors)  # 1 - e^-tau
    sums = [finds.total(-np.log1p(-np.minimum(one / finds.probability, 1 - 1e-12)), len(floors)) for one in steepness]
    # A martingale too steep for a round ends there and counts for nothing from then on: the mixture only loses by it.
    alive = steepness < np.minimum.accumulate(floors)[:, None]
    log_weights = np.where(alive, _log_weights(steepness.size), -np.inf)
    return _root(-np.log1p(-steepness), -np.stack(sums, axis=1), log_weights, error)


def bounded_below(finds: Finds, floors: FloatArray, error: float) -> FloatArray:
    """Bound the count after each round; the chance that it ever falls short of its bound is at most ``error``.

    >>> ten = Finds(np.zeros(10, dtype=int), np.full(10, 0.02))
    >>> bounded_below(ten, floors=np.array([0.02]), error=0.05).round(1)
    array([187.9])
    """
    steepness = STEEPNESS_BELOW * _unit(floors)  # e^tau - 1
    sums = [finds.total(np.log1p(one / finds.probability), len(floors)) for one in steepness]
    weights = np.tile(_log_weights(steepness.size), (len(floors), 1))
    least = -_root(np.log1p(steepness), np.stack(sums, axis=1), weights, error)
    # rows only ever join, so what held in an earlier round still does
    bounds: FloatArray = np.maximum.accumulate(np.maximum(least, 0.0))
    return bounds


def _unit(floors: FloatArray) -> float:
    """Least probability of the first round that was sampled: known before its draws, as what fixes a bet must be."""
    sampled = floors[floors < 1]
    return float(sampled[0]) if sampled.size else 1.0


def _log_weights(n: int) -> FloatArray:
    weights = 1.0 / np.arange(1, n + 1)
    log_weights: FloatArray = np.log(weights / weights.sum())
    return log_weights


def _root(slopes: FloatArray, offsets: FloatArray, log_weights: FloatArray, error: float) -> FloatArray:
    """Solve ``sum_j exp(log_weights_j + slopes_j x + offsets_j) = 1 / error`` for x, one equation a row.

    The logarithm of the sum is convex and rises, so Newton's steps from the right never pass the root: wherever they
    end, the bound holds. Where no term is left, x is infinite.
    """
    constants = log_weights + offsets + np.log(error)
    # one term alone reaches it here
    x: FloatArray = np.min(np.where(np.isfinite(constants), -constants / slopes, np.inf), axis=1)
    solvable = np.flatnonzero(np.isfinite(x))
    for _ in range(50):
        exponents = constants[solvable] + slopes * x[solvable, None]
        peak = exponents.max(axis=1, keepdims=True)
        terms = np.exp(exponents - peak)
        total = terms.sum(axis=1)
        move = (peak[:, 0] + np.log(total)) * total / (terms @ slopes)
        x[solvable] -= move
        if np.all(np.abs(move) <= 1e-9 * (1.0 + np.abs(x[solvable]))):
            break
    return x
