"""Stochastic subgradient steps (Ratliff, Bagnell and Zinkevich 2007; Pegasos' step size) with a proven gap.

Step t is w <- (1 - 1/t) w + (C / t) * slopes of one example's cut, so w is C times the mean of the cuts drawn so far.
After whole passes every example was drawn equally often: w then is a point of the dual, whatever weights the examples
were asked at, and C * mean offset - |w|^2 / 2 is a bound. The objective is measured at an average of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.structured.convergence import Record, Solution, Tell, silent
from riffler.structured.problem import Problem

LAZY = 100  # weights are scaled anew when the number of steps has grown by a part in this: a step costs its cut only
LATER_COUNTS = 3  # step t counts t to this power in the average: with a large C the first steps are far too long


@runtime_checkable
class SteppingProblem(Protocol):
    """A problem that makes many steps in one call."""

    def step_over(self, examples: IntArray, weights: FloatArray, step: float) -> float:
        """Ask one example after the other and add ``step`` times its slopes to the weights; give the sum of offsets.

        An example whose cut is not above 0 has no violation: no step, and an offset of 0.
        """
        ...


def step_over(problem: Problem, examples: IntArray, weights: FloatArray, step: float) -> float:
    """Make the steps in one call where the problem can, else one by one."""
    if isinstance(problem, SteppingProblem):
        return problem.step_over(examples, weights, step)
    offset = 0.0
    for example in examples:
        cut = problem.cut(int(example), weights)
        if cut.height(weights) > 0:
            cut.add_to(weights, step)
            offset += cut.offset
    return offset


class _Steps:
    """Weights after the steps so far, the sum of offsets, and a mean of the weights in which later steps count more."""

    def __init__(self, problem: Problem, C: float) -> None:
        self._problem, self._C = problem, C
        self.weights: FloatArray = np.zeros(problem.n_weights)
        self.average: FloatArray = np.zeros(problem.n_weights)
        self._offsets, self._n_steps, self._counted = 0.0, 0, 0.0

    @property
    def dual(self) -> float:
        """The bound; it holds after whole passes."""
        return self._C * self._offsets / self._n_steps - float(self.weights @ self.weights) / 2.0

    def go_over(self, order: IntArray) -> None:
        for examples in self._chunks(order):
            scaled_for = max(self._n_steps, 1)
            self._offsets += step_over(self._problem, examples, self.weights, self._C / scaled_for)
            self._n_steps += len(examples)
            self.weights *= scaled_for / self._n_steps
            count = len(examples) * float(self._n_steps) ** LATER_COUNTS
            self._counted += count
            self.average += (count / self._counted) * (self.weights - self.average)

    def _chunks(self, order: IntArray) -> Iterator[IntArray]:
        start = 0
        while start < len(order):
            stop = start + max(1, self._n_steps // LAZY)
            yield order[start:stop]
            start = stop


@dataclass(frozen=True, slots=True)
class Subgradient:
    """Steps down the slope of one example after the other; quick to a rough answer, slow to the last per cent.

    max_passes : passes over the examples at most
    """

    max_passes: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective.

        The objective costs another pass, so it is measured ever more rarely.
        """
        record, steps = Record(tol, tell), _Steps(problem, C)
        n_calls, next_check = 0, 1
        for n_passes in range(1, self.max_passes + 1):
            steps.go_over(rng.permutation(problem.n_examples))
            n_calls += problem.n_examples
            if n_passes < min(next_check, self.max_passes):
                continue
            next_check = n_passes + 1 + n_passes // 4
            n_calls += problem.n_examples
            weights = steps.average
            risk = max(0.0, problem.plane(weights).height(weights))
            if record.add(n_calls, weights, float(weights @ weights) / 2.0 + C * risk, steps.dual):
                break
        return record.solution()
