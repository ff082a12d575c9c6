"""The 1-slack cutting plane method for structured problems: all examples together are one plane a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.structured.convergence import Record, Solution, Tell, silent
from riffler.structured.cutting_plane import CuttingPlaneSolution, minimise_by_planes

if TYPE_CHECKING:
    from riffler.structured.problem import Problem


@dataclass(frozen=True, slots=True)
class OneSlack:
    """Asks all examples at once, and solves for the planes found so far.

    max_iter : planes asked for at most, each of which asks every example once
    """

    max_iter: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        record = Record(tol, tell)

        def take_down(found: CuttingPlaneSolution) -> None:
            record.add(found.n_planes * problem.n_examples, found.weights, found.value, found.bound)

        minimise_by_planes(problem.plane, problem.n_weights, C, tol=tol, max_iter=self.max_iter, tell=take_down)
        return record.solution()
