"""Block-coordinate Frank-Wolfe (Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013): one example, one exact step.

The dual is a sum of simplices, one an example. A step asks one example for its most violating output and moves that
example's share of the weights towards it, as far as the dual rises. No step size is to be chosen and no step is wasted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.convergence import Record, Solution, Tell, silent

if TYPE_CHECKING:
    from riffler.structured.problem import Cut, Problem


class Blocks(Protocol):
    """The share of each example in the weights: w is their sum, and so is the offset of the dual."""

    weights: FloatArray

    @property
    def offset(self) -> float:
        """The dual is this minus half the squared norm of the weights."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory of the shares."""
        ...

    def go_over(self, order: IntArray) -> float:
        """Make a step for each example in this order; give the sum of their gaps, each as found before its step."""
        ...

    def average(self) -> tuple[FloatArray, float]:
        """Give weights and offset averaged over the steps so far, a later step counting more (step k counts k)."""
        ...


class SparseBlocks:
    """Shares as sparse vectors, for any problem that gives cuts."""

    def __init__(self, problem: Problem, C: float) -> None:
        self._problem, self._scale = problem, C / problem.n_examples
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.offset = 0.0
        nothing = (np.empty(0, np.int64), np.empty(0))
        self._shares: list[tuple[IntArray, FloatArray]] = [nothing] * problem.n_examples
        self._offsets: FloatArray = np.zeros(problem.n_examples)
        # A change at step k is missing from the k steps before it: these sums take that off the average.
        self._late_weights: FloatArray = np.zeros(problem.n_weights)
        self._late_offset = 0.0
        self._n_steps = 0

    @property
    def n_bytes(self) -> int:
        """Memory of the shares."""
        return int(sum(indices.nbytes + values.nbytes for indices, values in self._shares) + self._offsets.nbytes)

    def go_over(self, order: IntArray) -> float:
        """Make a step for each example in this order."""
        return sum(self._step(int(example), self._problem.cut(int(example), self.weights)) for example in order)

    def average(self) -> tuple[FloatArray, float]:
        """Give weights and offset averaged over the steps so far."""
        total = self._n_steps * (self._n_steps + 1) / 2.0
        if total == 0:
            return self.weights.copy(), self.offset
        return self.weights - self._late_weights / total, self.offset - self._late_offset / total

    def _step(self, example: int, cut: Cut) -> float:
        """Move the share of one example towards a cut, as far as the dual rises."""
        self._n_steps += 1
        indices, values = self._shares[example]
        places, of = np.unique(np.concatenate([indices, cut.indices]), return_inverse=True)
        share = np.bincount(of[: len(indices)], weights=values, minlength=len(places)).astype(np.float64)
        corner = self._scale * np.bincount(of[len(indices) :], weights=cut.values, minlength=len(places))
        towards = corner - share
        rise = self._scale * cut.offset - float(self._offsets[example])
        gap = rise - float(towards @ self.weights[places])
        square = float(towards @ towards)
        step = min(1.0, gap / square) if square > 0 else float(gap > 0)
        if gap <= 0:
            return max(gap, 0.0)
        self.weights[places] += step * towards
        self.offset += step * rise
        late = self._n_steps * (self._n_steps - 1) / 2.0
        self._late_weights[places] += late * step * towards
        self._late_offset += late * step * rise
        self._shares[example] = (places, share + step * towards)
        self._offsets[example] += step * rise
        return gap


@dataclass(frozen=True, slots=True)
class FrankWolfe:
    """Steps on one example after the other; ends on a gap that was measured on all of them.

    max_passes : passes over the examples at most
    """

    max_passes: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective.

        The gaps of a pass, summed, say about how large the gap is; only where that is small, or now and then, is it
        worth asking all examples at fixed weights.
        """
        blocks, record = problem.blocks(C), Record(tol, tell)
        n_calls, next_check = 0, 1
        for n_passes in range(1, self.max_passes + 1):
            estimate = blocks.go_over(rng.permutation(problem.n_examples))
            n_calls += problem.n_examples
            dual = blocks.offset - float(blocks.weights @ blocks.weights) / 2.0
            promising = estimate <= tol * (dual + estimate)
            if not (promising or n_passes >= next_check or n_passes == self.max_passes):
                continue
            next_check = n_passes + max(1, n_passes // 2)
            n_calls += 2 * problem.n_examples
            if _measure(problem, C, blocks, record, n_calls):
                break
        return record.solution()


def _measure(problem: Problem, C: float, blocks: Blocks, record: Record, n_calls: int) -> bool:
    """Take down the better of the last and the averaged weights; tells whether the gap is small enough."""
    candidates = []
    for weights, offset in (blocks.average(), (blocks.weights, blocks.offset)):
        square = float(weights @ weights) / 2.0
        candidates.append((square + C * max(0.0, problem.plane(weights).height(weights)), offset - square, weights))
    primal, _, weights = min(candidates, key=lambda one: one[0])
    return record.add(n_calls, weights, primal, max(dual for _, dual, _ in candidates))
