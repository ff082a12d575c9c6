"""Which labels are worth buying next, and when none is any more.

A posterior over scoring functions says how much precision at k is lost by not knowing the right one:

    regret = E_w[ mean relevance of w's own top k ] - E_w[ mean relevance of the top k that we would predict ]

with relevance under w itself. A row can lower it only if it lies in the top k of some w, so rows are bought from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.errors import UnknownName
from riffler.learners.laplace import probability_of
from riffler.records import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """The rows of a pool under draws of the scoring function.

    logits : shape (n_rows, n_draws)
    tops : rows of each draw's own top k, shape (k, n_draws)
    predicted : rows of the top k that we would predict, shape (k,)
    free : rows whose label was not asked yet
    """

    logits: FloatArray
    tops: IntArray
    predicted: IntArray
    free: BoolArray

    @classmethod
    def of(cls, scores: FloatArray, logits: FloatArray, k: int, free: BoolArray) -> Contest:
        """Let every draw name its top k."""
        last = min(k, len(scores)) - 1
        tops = np.argpartition(-logits, last, axis=0)[: last + 1]
        predicted = np.argpartition(-scores, last)[: last + 1]
        return cls(logits, tops, predicted, free)

    @property
    def regret(self) -> float:
        """Expected precision at k that is lost by not knowing which draw is right."""
        best = probability_of(np.take_along_axis(self.logits, self.tops, axis=0)).mean()
        return float(best - probability_of(self.logits[self.predicted]).mean())

    @property
    def open_share(self) -> float:
        """Share of the places in the draws' tops that are held by rows whose label is not known."""
        return float(self.free[self.tops].mean())

    @property
    def shares(self) -> FloatArray:
        """Share of the draws that have each row in their top k."""
        n_rows, n_draws = self.logits.shape
        counts: FloatArray = np.bincount(self.tops.ravel(), minlength=n_rows) / n_draws
        return counts

    @property
    def relevance(self) -> FloatArray:
        """Chance of each row to be relevant, averaged over the draws."""
        chance: FloatArray = probability_of(self.logits).mean(axis=1)
        return chance


class Purchase(Protocol):
    """Picks rows to buy."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        """Return at most n free rows; none if no free row can matter."""
        ...


class Thompson:
    """Rows in proportion to how many draws have them in their top k: each draw nominates one of its own."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        """Return at most n free rows."""
        return _weighted(contest.shares * contest.free, n, rng)


class Contested:
    """As Thompson, times the chance that the label surprises, p (1 - p)."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        """Return at most n free rows."""
        chance = contest.relevance
        return _weighted(contest.shares * chance * (1.0 - chance) * contest.free, n, rng)


class HighestScored:
    """The rows that are predicted, best first: no exploration at all; to compare with."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        """Return at most n free rows."""
        mean = contest.logits.mean(axis=1)
        rows = contest.predicted[contest.free[contest.predicted]]
        return rows[np.argsort(-mean[rows], kind="stable")][:n]


class MostUncertain:
    """The rows whose label is the most open, wherever they rank: uncertainty sampling; to compare with."""

    def pick(self, contest: Contest, n: int, rng: np.random.Generator) -> IntArray:
        """Return at most n free rows."""
        rows = np.flatnonzero(contest.free)
        return rows[np.argsort(np.abs(contest.relevance[rows] - 0.5), kind="stable")][:n]


PURCHASES: dict[str, type[Purchase]] = {
    "contested": Contested,
    "highest": HighestScored,
    "thompson": Thompson,
    "uncertain": MostUncertain,
}


def purchase_from(given: str | Purchase) -> Purchase:
    """Return the purchase rule itself, or the one that has this name."""
    if not isinstance(given, str):
        return given
    if given not in PURCHASES:
        raise UnknownName.among("purchase rule", given, PURCHASES)
    return PURCHASES[given]()


def _weighted(weights: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw at most n different rows in proportion to their weights (the exponential race)."""
    rows = np.flatnonzero(weights > 0)
    finish = rng.exponential(size=rows.size) / weights[rows]
    return rows[np.argsort(finish, kind="stable")[:n]]
