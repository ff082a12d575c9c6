"""The hypergeometric test (Callaghan and Müller-Hansen 2020): are there too few finds for a missed target?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.ledger import RELEVANT
from riffler.records import IntArray
from riffler.stopping.elusion import random_tail
from riffler.stopping.progress import Decision, Heuristic, Progress, all_read, least_total, nothing_found

MOST_SUFFIXES = 200


def missed_target_chance(labels: IntArray, n_items: int, target: float) -> float:
    """Return the least p-value of "recall is below the target" over all suffixes of the review.

    A suffix of u documents with x relevant, r found in all: P(Hypergeometric(n_items - n + u, k, u) <= x) with
    k = floor(r / target) + 1 - (r - x). Of suffixes with the same x the longest has the least value; of more than 200
    relevant documents the last 200 starts are tried.

    >>> labels = np.array([1] * 20 + [0] * 500)
    >>> round(missed_target_chance(labels, 2000, 0.95), 4)
    0.5586
    """
    from scipy.stats import hypergeom

    relevant = labels == RELEVANT
    found = int(relevant.sum())
    if found == 0:
        return 1.0
    starts = np.append(0, np.flatnonzero(relevant) + 1)[-MOST_SUFFIXES:]
    starts = starts[starts < labels.size]
    before = np.append(0, np.cumsum(relevant))[starts]
    least = least_total(found, target) - before
    population = n_items - starts
    chances = hypergeom.cdf(found - before, population, np.minimum(least, population), labels.size - starts)
    return float(np.where(least > population, 0.0, chances).min(initial=1.0))


@dataclass(frozen=True, slots=True)
class HypergeometricRanked(Heuristic):
    """Stop when the least p-value over all suffixes of the ranked review is below 1 - confidence.

    A heuristic: it holds if the ranking is nowhere worse than random, and it takes the least of many tests.
    """

    needs_scores: ClassVar[bool] = False

    def decide(self, progress: Progress) -> Decision:
        """Test every suffix of the review."""
        ranked = progress.history().ranked
        chance = missed_target_chance(ranked, progress.n_items, progress.target)
        reason = f"If the target were missed, so few finds at the end would have a chance of {chance:.3f}."
        return self.say(chance < 1 - progress.confidence, reason)


@dataclass(frozen=True, slots=True)
class HypergeometricRandom:
    """Review until the ranked test says stop, then draw at random until one test on the random documents does.

    switch : chance below which the ranked phase ends; None takes 1 - confidence

    Each look is a valid test, and it looks often: a certificate as its authors use it, without a correction.
    """

    certificate: ClassVar[bool] = True  # a single look is guaranteed
    blind: ClassVar[bool] = False  # the random phase comes last, so there is nothing to hide
    needs_scores: ClassVar[bool] = False

    switch: float | None = None

    def decide(self, progress: Progress) -> Decision:
        """Test the documents that were drawn at random since the ranked phase."""
        from scipy.stats import hypergeom

        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        if history.n_found == 0:
            return nothing_found()
        n_unread, n_drawn, n_relevant, n_before = random_tail(progress, history)
        least = least_total(history.n_found, progress.target) - n_before
        if least > n_unread:
            chance = 0.0
        else:
            chance = float(hypergeom.cdf(n_relevant, n_unread, least, n_drawn)) if n_drawn else 1.0
        stop = chance < 1 - progress.confidence
        reason = f"{n_drawn} of {n_unread} drawn at random, {n_relevant} relevant: chance {chance:.3f} if missed."
        return Decision(stop, reason, certificate=True, recall_low=progress.target if stop else None)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw at random once the ranked phase has ended."""
        limit = 1 - progress.confidence if self.switch is None else self.switch
        ranked = progress.history().ranked
        return n if missed_target_chance(ranked, progress.n_items, progress.target) < limit else 0
