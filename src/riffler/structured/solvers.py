"""The solvers by name; all minimise |w|^2 / 2 + C * risk(w) and report objective, bound, oracle calls and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from riffler.errors import UnknownName
from riffler.structured.block_descent import BlockDescent
from riffler.structured.convergence import Solution, Tell, silent
from riffler.structured.frank_wolfe import FrankWolfe
from riffler.structured.n_slack import NSlack
from riffler.structured.one_slack import OneSlack
from riffler.structured.problem import Problem
from riffler.structured.subgradient import Subgradient


class Solver(Protocol):
    """Minimises |w|^2 / 2 + C * risk(w) of a problem."""

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Give weights whose gap is at most ``tol`` times the objective, or the best there were turns for."""
        ...


SOLVERS: dict[str, Callable[[], Solver]] = {
    "block-descent": BlockDescent,
    "frank-wolfe": FrankWolfe,
    "n-slack": NSlack,
    "one-slack": OneSlack,
    "subgradient": Subgradient,
}


def solver_from_name(name: str) -> Solver:
    """Make the solver of that name.

    >>> solver_from_name("frank-wolfe")
    FrankWolfe(max_passes=1000)
    """
    if name not in SOLVERS:
        raise UnknownName.among("solver", name, SOLVERS)
    return SOLVERS[name]()
