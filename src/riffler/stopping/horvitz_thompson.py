"""AutoStop (Li and Kanoulas 2020): the Horvitz-Thompson estimate of how many relevant documents there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray
from riffler.stopping.progress import Decision, Heuristic, Progress


def inclusion_probability(chances: FloatArray, n_draws: IntArray) -> FloatArray:
    """Return the chance of each item to be drawn at least once, 1 - prod over rounds of (1 - p_it)^n_t.

    chances : shape (n_rounds, n_items), the distribution of each round; n_draws : shape (n_rounds,)

    >>> inclusion_probability(np.array([[0.5, 0.5]]), np.array([2]))
    array([0.75, 0.75])
    """
    included: FloatArray = -np.expm1(n_draws @ np.log1p(-np.minimum(chances, 1.0)))
    return included


def estimated_total(relevant: FloatArray, probability: FloatArray) -> tuple[float, float]:
    """Return the estimate sum y_i / pi_i of the relevant documents, and its variance sum (1 / pi_i^2 - 1 / pi_i) y_i.

    >>> estimated_total(np.array([1, 0, 1]), np.array([1.0, 0.5, 0.5]))
    (3.0, 2.0)
    """
    weight = 1.0 / probability
    return float(np.sum(relevant * weight)), float(np.sum(relevant * (weight**2 - weight)))


@dataclass(frozen=True, slots=True)
class HorvitzThompson(Heuristic):
    """Stop when found >= target * (estimate + n_errors standard errors): 0 is loose, 1 strict. A heuristic.

    The ledger's probability of each entry is its chance of being asked at all; documents that the policy chose have 1.
    Chances that adapt to answers make the estimate only nearly unbiased.
    """

    needs_scores: ClassVar[bool] = False

    n_errors: float = 1.0

    def decide(self, progress: Progress) -> Decision:
        """Compare what is found with the estimate."""
        history = progress.history()
        if not np.all((history.probability > 0) & (history.probability <= 1)):
            raise InputError("Every entry needs a probability above 0 and at most 1: the chance of being asked at all.")
        if history.n_found == 0:
            return self.say(False, "Nothing relevant has been found yet, so nothing can be estimated.")
        if np.all(history.probability == 1):
            return self.say(False, "Nothing was sampled, so what was not read cannot be estimated.")
        total, variance = estimated_total(history.relevant.astype(float), history.probability)
        bound = total + self.n_errors * float(np.sqrt(variance))
        reason = f"{history.n_found} found; there are about {total:.0f} relevant documents, counted as {bound:.0f}."
        return self.say(history.n_found >= progress.target * bound, reason)
