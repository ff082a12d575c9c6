"""The n-slack cutting plane method (Tsochantaridis, Joachims, Hofmann and Altun 2005): cuts of each example's own.

Each round asks every example for its most violating output, takes the cuts that are not yet known, and solves the dual
of the cuts found so far. It is written once, for weights and for joint kernels: what differs is how cuts are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from riffler._fast.cut_dual import ascend_cuts, squares_of
from riffler._fast.rows import CsrRows, scores_of_all
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.structured.convergence import Record, Solution, Tell, silent
from riffler.structured.cuts import NO_CUTS, cuts_of, joined
from riffler.structured.problem import Problem

IDLE_ROUNDS = 10  # a cut without a say for this long is dropped
INNER_SHARE = 0.1  # of the gap that the cuts known so far may keep: closing it is cheaper than asking again
INNER_PASSES = 500
NEWS = 0.1  # of what tol allows: a cut that is higher by less is no news


class HeldCuts(Protocol):
    """How cuts are held: as vectors with the weights, or as inner products with the scores."""

    n_examples: int
    scores: FloatArray  # what rows are multiplied with: weights, or the scores of all cuts

    @property
    def rows(self) -> Any:  # noqa: ANN401 - for the compiled loops
        """Give the slopes of all cuts."""
        ...

    def ask(self) -> FloatArray:
        """Ask every example for its most violating output, and give the heights of these cuts."""
        ...

    def take(self, examples: IntArray) -> FloatArray:
        """Hold the cuts just found of some examples too; give their offsets."""
        ...

    def keep(self, kept: BoolArray) -> None:
        """Drop the other cuts."""
        ...

    def refresh(self, alpha: FloatArray) -> float:
        """Sum the scores anew, against rounding; give |w|^2."""
        ...

    def weights(self, alpha: FloatArray) -> FloatArray:
        """Give what the solution is to hold."""
        ...


class LinearCuts:
    """Cuts as sparse vectors."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self.n_examples = problem, problem.n_examples
        self.scores: FloatArray = np.zeros(problem.n_weights)
        self._held, self._asked = NO_CUTS, NO_CUTS

    @property
    def rows(self) -> CsrRows:
        """The slopes of all cuts."""
        return CsrRows(self._held.values, self._held.indices, self._held.starts)

    def ask(self) -> FloatArray:
        """Ask every example for its most violating output."""
        self._asked = cuts_of(self._problem, np.arange(self.n_examples), self.scores)
        return self._asked.heights(self.scores)

    def take(self, examples: IntArray) -> FloatArray:
        """Hold the cuts just found of some examples too."""
        new = self._asked.chosen(examples)
        self._held = joined(self._held, new)
        return new.offsets

    def keep(self, kept: BoolArray) -> None:
        """Drop the other cuts."""
        self._held = self._held.chosen(np.flatnonzero(kept))

    def refresh(self, alpha: FloatArray) -> float:
        """Sum the weights anew."""
        self.scores = self._held.sum(alpha, len(self.scores)).slopes
        return float(self.scores @ self.scores)

    def weights(self, alpha: FloatArray) -> FloatArray:
        """Give the weights."""
        return self.scores


class WorkingSet:
    """The cuts known so far, whose they are, and their shares in the weights."""

    def __init__(self, held: HeldCuts, C: float) -> None:
        self.held, self._mass = held, C / held.n_examples
        self._owners: IntArray = np.empty(0, np.int64)
        self._offsets: FloatArray = np.empty(0)
        self._alpha: FloatArray = np.empty(0)
        self._idle: IntArray = np.empty(0, np.int64)
        self.square = 0.0

    @property
    def dual(self) -> float:
        """The value of the dual: no objective is lower."""
        return float(self._alpha @ self._offsets) - self.square / 2.0

    @property
    def weights(self) -> FloatArray:
        """What the solution is to hold."""
        return self.held.weights(self._alpha)

    def slacks(self) -> FloatArray:
        """Give the height of each example's highest known cut, or 0."""
        scores, highest = np.empty(len(self._offsets)), np.zeros(self.held.n_examples)
        scores_of_all(self.held.rows, len(scores), self.held.scores, scores)
        np.maximum.at(highest, self._owners, self._offsets - scores)
        return highest

    def take(self, examples: IntArray) -> None:
        """Hold the cuts just found of some examples too; they have no say yet."""
        none = np.zeros(len(examples))
        self._offsets = np.concatenate([self._offsets, self.held.take(examples)])
        self._owners = np.concatenate([self._owners, examples])
        self._alpha = np.concatenate([self._alpha, none])
        self._idle = np.concatenate([self._idle, none.astype(np.int64)])

    def ascend(self, rng: np.random.Generator, tolerance: float) -> None:
        """Raise the dual of the cuts known so far until about this much is left to gain; drop what is long idle."""
        members = np.argsort(self._owners, kind="stable")
        starts = np.searchsorted(self._owners[members], np.arange(self.held.n_examples + 1))
        order = rng.permutation(np.unique(self._owners))
        squares = np.empty(len(self._offsets))
        rows = self.held.rows
        squares_of(rows, squares)
        work = np.zeros(len(self.held.scores))
        ascend_cuts(
            rows, self._offsets, squares, members, starts, order, self._mass,
            self._alpha, self.held.scores, work, tolerance, INNER_PASSES,
        )  # fmt: skip
        self._drop_idle()
        self.square = self.held.refresh(self._alpha)

    def _drop_idle(self) -> None:
        self._idle = np.where(self._alpha > 0, 0, self._idle + 1)
        kept = self._idle < IDLE_ROUNDS
        if not kept.all():
            self.held.keep(kept)
            self._owners, self._offsets = self._owners[kept], self._offsets[kept]
            self._alpha, self._idle = self._alpha[kept], self._idle[kept]


@dataclass(frozen=True, slots=True)
class NSlack:
    """Keeps the cuts of each example and solves for all of them: fewest questions to a costly oracle.

    max_rounds : times that all examples are asked at most
    """

    max_rounds: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        return generate_cuts(LinearCuts(problem), C, self.max_rounds, tol=tol, rng=rng, tell=tell)


def generate_cuts(
    held: HeldCuts, C: float, max_rounds: int, *, tol: float, rng: np.random.Generator, tell: Tell = silent
) -> Solution:
    """Ask all examples, take the cuts that are news, solve for those known; until the gap is small."""
    record, known = Record(tol, tell), WorkingSet(held, C)
    for n_rounds in range(1, max_rounds + 1):
        heights = np.maximum(held.ask(), 0.0)
        primal = known.square / 2.0 + C * float(heights.mean())
        if record.add(n_rounds * held.n_examples, known.weights, primal, known.dual):
            break
        news = heights - known.slacks() > NEWS * tol * primal / C
        known.take(np.flatnonzero(news))
        known.ascend(rng, INNER_SHARE * (primal - known.dual))
    return record.solution()
