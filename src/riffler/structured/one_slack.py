"""The 1-slack cutting plane method for structured problems: all examples together are one plane a turn."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from riffler.records import FloatArray
from riffler.structured.convergence import Record, Solution, Tell, silent
from riffler.structured.cuts import Cuts, cuts_of
from riffler.structured.cutting_plane import CuttingPlaneSolution, Plane, minimise_by_planes
from riffler.structured.one_by_one import OneByOne
from riffler.structured.problem import Problem


class CutCache:
    """The last cuts of every example; a plane of the highest of them asks no example (Joachims et al. 2009)."""

    def __init__(self, problem: Problem, depth: int) -> None:
        self._problem = problem
        self._last: deque[Cuts] = deque(maxlen=depth)

    def ask(self, weights: FloatArray) -> Plane:
        """Ask every example, and remember."""
        n = self._problem.n_examples
        self._last.append(cuts_of(self._problem, np.arange(n), weights))
        return self._last[-1].sum(np.full(n, 1.0 / n), self._problem.n_weights)

    def remembered(self, weights: FloatArray) -> Plane:
        """Give the mean over examples of the highest cut that is remembered, or of 0."""
        n = self._problem.n_examples
        heights = np.stack([cuts.heights(weights) for cuts in self._last])
        highest = np.where(heights.max(axis=0) > 0, heights.argmax(axis=0), -1)
        plane = Plane(np.zeros(self._problem.n_weights), 0.0)
        for place, cuts in enumerate(self._last):
            part = cuts.sum((highest == place) / n, self._problem.n_weights)
            plane = Plane(plane.slopes + part.slopes, plane.offset + part.offset)
        return plane


@dataclass(frozen=True, slots=True)
class OneSlack:
    """Asks all examples at once, and solves for the planes found so far.

    max_iter : planes asked for at most, each of which asks every example once
    cache : how many of its last cuts an example remembers, where a task is asked one example at a time; 0: none.
        Problems that give a whole plane in one call are quicker asked again
    """

    max_iter: int = 1000
    cache: int = 10

    def solve(
        self, problem: Problem, C: float, *, tol: float, rng: np.random.Generator, tell: Tell = silent
    ) -> Solution:
        """Minimise |w|^2 / 2 + C * risk(w) until the gap is at most ``tol`` times the objective."""
        record = Record(tol, tell)

        def take_down(found: CuttingPlaneSolution) -> None:
            record.add(found.n_planes * problem.n_examples, found.weights, found.value, found.bound)

        caches = self.cache > 0 and isinstance(problem, OneByOne)
        cache = CutCache(problem, self.cache) if caches else None
        minimise_by_planes(
            cache.ask if cache else problem.plane,
            problem.n_weights,
            C,
            tol=tol,
            max_iter=self.max_iter,
            remembered=cache.remembered if cache else None,
            tell=take_down,
        )
        return record.solution()
