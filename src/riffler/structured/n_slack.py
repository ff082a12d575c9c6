"""The n-slack cutting plane method: each example has cuts of its own (Tsochantaridis et al. 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.structured.convergence import Record, Solution, Tell, silent
from riffler.structured.frank_wolfe import SparseBlocks

if TYPE_CHECKING:
    from riffler.structured.problem import Problem


@dataclass(frozen=True, slots=True)
class NSlack:
    """Keeps the cuts of each example, and solves for all of them.

    max_rounds : times that all examples are asked at most
    """

    max_rounds: int = 1000

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        record, blocks = Record(tol, tell), SparseBlocks(problem, C)
        for n_rounds in range(1, self.max_rounds + 1):
            blocks.go_over(rng.permutation(problem.n_examples))
            square = float(blocks.weights @ blocks.weights) / 2.0
            primal = square + C * max(0.0, problem.plane(blocks.weights).height(blocks.weights))
            if record.add(2 * n_rounds * problem.n_examples, blocks.weights, primal, blocks.offset - square):
                break
        return record.solution()
