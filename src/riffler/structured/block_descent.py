"""Block descent: each example keeps the outputs that mattered and solves its own small dual over them.

As block-coordinate Frank-Wolfe it asks one example at a time; but a step may take share from any output that is kept
(pairwise steps: Osokin et al. 2016; the sequential dual method of Balamurugan et al. 2011), not from all of them alike,
and examples whose gap is small are asked less often. To small gaps this is many times quicker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.convergence import Record, Solution, Tell, silent

if TYPE_CHECKING:
    from riffler.structured.problem import Cut, Problem

PARTS_BETWEEN = 4  # two passes over all examples: visits of those with a large gap
LARGE = 0.25  # of the mean gap
MOST = 0.9  # of the examples: if more have a large gap, all are visited
MEASURE_EVERY = 4  # passes, where the gap is not yet thought to be small
MOVES = 30  # at most, in one visit of an example
ENOUGH = 0.03  # of an example's gap: when no more is left, the next example is more worth the time
SETTLED = 0.2  # of the gaps that were found: when what is kept leaves no more, it is time to ask again
HOPE = 1.2  # the gaps found on the way are this much larger than the gap at the end of a pass, or more


class WorkingSets(Protocol):
    """The outputs that each example keeps, and their shares in the weights."""

    weights: FloatArray
    n_settles: int  # times at most that they settle after examples were asked: more where to ask costs more

    @property
    def offset(self) -> float:
        """The dual is this minus half the squared norm of the weights."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory of what is kept."""
        ...

    def go_over(self, order: IntArray) -> FloatArray:
        """Ask each example in this order and solve its small dual; give the gap of each, as found before."""
        ...

    def settle(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each example in this order over what is kept, asking nobody; give gaps as above."""
        ...


class KeptCuts:
    """Working sets of any problem that gives cuts; the first of each example is that of the truth, which is nothing."""

    def __init__(self, problem: Problem, C: float) -> None:
        from riffler.structured.problem import Cut

        self._problem, self._scale = problem, C / problem.n_examples
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.n_settles = 10
        self.offset = 0.0
        truth = Cut(np.empty(0, np.int64), np.empty(0), 0.0)
        self._cuts: list[list[Cut]] = [[truth] for _ in range(problem.n_examples)]
        self._shares: list[list[float]] = [[1.0] for _ in range(problem.n_examples)]

    @property
    def n_bytes(self) -> int:
        """Memory of what is kept."""
        return sum(cut.indices.nbytes + cut.values.nbytes + 16 for cuts in self._cuts for cut in cuts)

    def go_over(self, order: IntArray) -> FloatArray:
        """Keep the most violating output of each example in this order, and solve its small dual."""
        gaps = np.zeros(len(order))
        for place, example in enumerate(order):
            keep(self._problem.cut(int(example), self.weights), self._cuts[example], self._shares[example])
            gaps[place] = self._solve(int(example))
        return gaps

    def settle(self, order: IntArray) -> FloatArray:
        """Solve the small dual of each example in this order, over what is kept."""
        return np.array([self._solve(int(example)) for example in order])

    def _solve(self, example: int) -> float:
        """Move share from the least to the most violating outputs; give the gap before."""
        cuts, shares = self._cuts[example], self._shares[example]
        first = 0.0
        for n_moves in range(MOVES):
            heights = np.array([cut.height(self.weights) for cut in cuts])
            up = int(np.argmax(heights))
            down = int(np.argmin(np.where(np.array(shares) > 0, heights, np.inf)))
            rise = float(heights[up] - heights[down])
            gap = self._scale * float(heights[up] - heights @ shares)
            first = first if n_moves else gap
            if rise <= 0 or (n_moves and gap <= ENOUGH * first):
                break
            self._move(cuts, shares, up, down, rise)
        return first

    def _move(self, cuts: list[Cut], shares: list[float], up: int, down: int, rise: float) -> None:
        """Move share from one cut to another, as far as the dual rises."""
        square = square_between(cuts[up], cuts[down])
        room = shares[down]
        step = min(room, rise / (self._scale * square)) if square > 0 else room
        for number, change in ((up, step), (down, -step)):
            cuts[number].add_to(self.weights, change * self._scale)
            self.offset += change * self._scale * cuts[number].offset
        shares[up] += step
        shares[down] = room - step if step < room else 0.0


def keep(found: Cut, cuts: list[Cut], shares: list[float]) -> None:
    """Give a cut a place, unless it has one; one without a share gives way."""
    if any(found.equals(cut) for cut in cuts):
        return
    free = next((place for place in range(1, len(cuts)) if shares[place] == 0.0), None)
    if free is None:
        cuts.append(found)
        shares.append(0.0)
    else:
        cuts[free] = found


def square_between(one: Cut, other: Cut) -> float:
    """Squared distance of the slopes of two cuts."""
    _, places, others = np.intersect1d(one.indices, other.indices, assume_unique=True, return_indices=True)
    both = float(one.values[places] @ other.values[others])
    return max(0.0, float(one.values @ one.values) - 2.0 * both + float(other.values @ other.values))


@dataclass(frozen=True, slots=True)
class BlockDescent:
    """Visits one example after the other, those with a large gap more often; ends on a gap measured on all of them.

    max_passes : passes over the examples at most, visits of a part counted as such
    """

    max_passes: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective.

        The gaps that visits found say about how large the gap is; only where that is small, or now and then, is it
        worth asking all examples at fixed weights.
        """
        sets, record = problem.working_sets(C), Record(tol, tell)
        n_examples = problem.n_examples
        gaps: FloatArray = np.full(n_examples, np.inf)
        n_visits, n_measured = 0, 0
        for order in _visiting_orders(gaps, rng):
            gaps[order] = sets.go_over(order)
            for _ in range(sets.n_settles):
                if sets.settle(rng.permutation(order)).sum() <= SETTLED * gaps[order].sum():
                    break
            n_visits += len(order)
            ended = n_visits >= self.max_passes * n_examples
            square = float(sets.weights @ sets.weights) / 2.0
            dual, estimate = sets.offset - square, float(gaps.sum())
            now_and_then = n_visits >= n_examples * MEASURE_EVERY * n_measured
            if ended or now_and_then or (len(order) == n_examples and estimate <= HOPE * tol * (dual + estimate)):
                n_measured += 1
                primal = square + C * max(0.0, problem.plane(sets.weights).height(sets.weights))
                if record.add(n_visits + n_measured * n_examples, sets.weights, primal, dual) or ended:
                    break
        return record.solution()


def _visiting_orders(gaps: FloatArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Give all examples, then several times those whose gap is large, in random order; ``gaps`` change meanwhile."""
    while True:
        yield rng.permutation(len(gaps))
        for _ in range(PARTS_BETWEEN):
            large = np.flatnonzero(gaps >= LARGE * gaps.mean())
            if len(large) > MOST * len(gaps):  # at first all are large
                break
            yield rng.permutation(large)
