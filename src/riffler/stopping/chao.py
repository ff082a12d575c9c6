"""Chao's estimate of a population (1987) from several learners that propose documents separately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.ledger import RELEVANT
from riffler.stopping.progress import Decision, Heuristic, Progress


@dataclass(frozen=True, slots=True)
class ChaoEstimate:
    """Estimated number of relevant documents, with an interval of 95 %."""

    total: float
    low: float
    high: float


def chao_estimate(n_found: int, once: int, twice: int) -> ChaoEstimate:
    """Estimate the total from how many were proposed by exactly one and exactly two learners.

    n_found + f1^2 / (2 f2), with the variance f2 (q^4 / 4 + q^3 + q^2 / 2), q = f1 / f2; for f2 = 0
    n_found + f1 (f1 - 1) / 2 without an upper end. It is a lower bound by nature.

    >>> chao_estimate(100, once=20, twice=10)
    ChaoEstimate(total=120.0, low=106.8..., high=158.5...)
    """
    if once == 0:
        return ChaoEstimate(float(n_found), float(n_found), float(n_found))
    if twice == 0:
        return ChaoEstimate(n_found + once * (once - 1) / 2, float(n_found), float("inf"))
    hidden, q = once**2 / (2 * twice), once / twice
    variance = twice * (q**4 / 4 + q**3 + q**2 / 2)
    spread = float(np.exp(1.96 * np.sqrt(np.log1p(variance / hidden**2))))
    return ChaoEstimate(n_found + hidden, n_found + hidden / spread, n_found + hidden * spread)


@dataclass(frozen=True, slots=True)
class Chao(Heuristic):
    """Stop when found >= target * the upper end of Chao's interval. Needs the votes of 3 learners. A heuristic."""

    needs_scores: ClassVar[bool] = False

    least_learners: int = 3

    def decide(self, progress: Progress) -> Decision:
        """Count how many learners proposed each relevant document."""
        if progress.votes is None or progress.n_learners < self.least_learners:
            return self.say(False, f"Needs the votes of at least {self.least_learners} learners, and there are none.")
        votes = [
            progress.votes.get(item, 0)
            for item, answer in {entry.item: entry.answer for entry in progress.entries}.items()
            if answer == RELEVANT
        ]
        if not votes:
            return self.say(False, "Nothing relevant has been found yet.")
        estimate = chao_estimate(len(votes), votes.count(1), votes.count(2))
        reason = f"{len(votes)} found; by Chao's estimate there are {estimate.total:.0f}, at most {estimate.high:.0f}."
        return self.say(len(votes) >= progress.target * estimate.high, reason)
