"""Stochastic subgradient steps (Ratliff, Bagnell and Zinkevich 2007; Pegasos' step size) with a proven gap.

A step is w <- (1 - 1/t) w + (C / t) * slopes of one cut, so w is C times the mean of the cuts drawn so far. After whole
passes each example was drawn equally often: w then is a point of the dual, and offset - |w|^2 / 2 a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.convergence import Record, Solution, Tell, silent

if TYPE_CHECKING:
    from riffler.structured.problem import Problem


class _Steps:
    """Sums of the cuts drawn: w = C * sum / number of steps."""

    def __init__(self, problem: Problem, C: float) -> None:
        self._problem, self._C = problem, C
        self._sum: FloatArray = np.zeros(problem.n_weights)
        self._offsets = 0.0
        self._n_steps = 0

    def go_over(self, order: IntArray) -> None:
        for example in order:
            cut = self._problem.cut(int(example), self.weights)
            cut.add_to(self._sum, 1.0)
            self._offsets += cut.offset
            self._n_steps += 1

    @property
    def weights(self) -> FloatArray:
        return self._sum * (self._C / max(self._n_steps, 1))

    @property
    def offset(self) -> float:
        return self._offsets * self._C / max(self._n_steps, 1)


@dataclass(frozen=True, slots=True)
class Subgradient:
    """Steps down the slope of one example after the other; cheap and simple, slow to the last per cent.

    max_passes : passes over the examples at most
    """

    max_passes: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        record, steps = Record(tol, tell), _Steps(problem, C)
        for n_passes in range(1, self.max_passes + 1):
            steps.go_over(rng.permutation(problem.n_examples))
            weights = steps.weights
            square = float(weights @ weights) / 2.0
            primal = square + C * max(0.0, problem.plane(weights).height(weights))
            if record.add(2 * n_passes * problem.n_examples, weights, primal, steps.offset - square):
                break
        return record.solution()
