"""QBCB (Lewis, Yang and Frieder 2021): a bound of a quantile from a random sample of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.stopping.progress import Decision, Progress, all_read, draw_until, least_sample


def hits_needed(n_sampled: int, target: float, confidence: float) -> int | None:
    """Return how many of the sampled relevant documents the policy must meet; None where even all are too few.

    The least j with P(Binomial(n_sampled, target) <= j - 1) >= confidence.

    >>> hits_needed(59, 0.95, 0.95), hits_needed(100, 0.95, 0.95), hits_needed(58, 0.95, 0.95)
    (59, 99, None)
    """
    from scipy.stats import binom

    hits = np.arange(1, n_sampled + 1)
    enough = np.flatnonzero(binom.cdf(hits - 1, n_sampled, target) >= confidence)
    return int(hits[enough[0]]) if enough.size else None


@dataclass(frozen=True, slots=True)
class Qbcb:
    """Draw at random until ``n_sampled`` relevant ones are found, review until the policy has met enough of them.

    n_sampled=None takes the least number that can prove the target: 14 (.8), 29 (.9), 59 (.95) at 95 %.
    """

    certificate: ClassVar[bool] = True  # a stop is guaranteed
    blind: ClassVar[bool] = True  # the sample must not steer the policy
    needs_scores: ClassVar[bool] = False

    n_sampled: int | None = None

    def __post_init__(self) -> None:
        if self.n_sampled is not None and self.n_sampled < 1:
            raise InputError(f"n_sampled must be at least 1, or None for the least number, got {self.n_sampled}.")

    def decide(self, progress: Progress) -> Decision:
        """Stop when enough of the sample is met."""
        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        n_sampled = int(np.sum(history.control & (history.answer != 0)))
        wanted = self._wanted(progress)
        needed = hits_needed(n_sampled, progress.target, progress.confidence)
        if n_sampled < wanted or needed is None:
            return Decision(False, f"{n_sampled} of {wanted} random relevant documents are drawn.", True)
        n_met = int(np.sum(history.met & history.relevant))
        reason = f"The policy has met {n_met} of {n_sampled} random relevant documents; {needed} are enough."
        stop = n_met >= needed
        return Decision(stop, reason, certificate=True, recall_low=progress.target if stop else None)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw at random until the sample holds enough relevant documents."""
        return draw_until(progress, n, self._wanted(progress))

    def _wanted(self, progress: Progress) -> int:
        least = least_sample(progress.target, progress.confidence)
        return max(self.n_sampled or least, least)
