"""The 1-slack cutting plane method (Joachims, Finley and Yu 2009) for |w|^2 / 2 + C * risk(w), risk convex.

An oracle gives a plane below the risk that touches it at w: risk(v) >= offset - slopes . v for all v. The planes found
so far are a smaller problem, solved in its dual; its value is a lower bound, the objective at w an upper one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riffler._fast.simplex_qp import climb_simplex
from riffler.errors import InputError
from riffler.records import FloatArray

IDLE_ROUNDS = 50  # a plane without a say for this long is dropped
QP_ROUNDS = 10_000  # far more than were ever needed
SHORTEST_STRIDE = 0.1  # on the way from the best weights to those that the planes suggest
AS_HOPED = 0.9  # of the gain that a convex objective promises at least: then the planes can be trusted further
REMEMBERED_IN_A_ROW = 20
NEWS = 0.2  # of the gap that a remembered plane must lie above the others


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """risk(v) >= offset - slopes . v, with equality at the weights that were asked about."""

    slopes: FloatArray
    offset: float

    def height(self, weights: FloatArray) -> float:
        """The bound at some weights."""
        return self.offset - float(self.slopes @ weights)


Oracle = Callable[[FloatArray], Plane]


@dataclass(frozen=True, slots=True, eq=False)
class CuttingPlaneSolution:
    """The best weights seen, the objective there, and a proven lower bound of the optimum."""

    weights: FloatArray
    value: float
    bound: float
    n_planes: int  # asked of the oracle

    @property
    def gap(self) -> float:
        """How much could be left to gain."""
        return self.value - self.bound


class _Planes:
    """The planes that are kept, with the dual of the problem they make up: alpha >= 0, sum of alpha <= C."""

    def __init__(self, C: float, n_weights: int) -> None:
        self._C = C
        self.weights: FloatArray = np.zeros(n_weights)  # best for these planes
        self.value = 0.0  # of the dual: no objective is lower
        self._planes: list[Plane] = []
        self._idle: list[int] = []
        self._gram: FloatArray = np.empty((0, 0))
        self._alpha: FloatArray = np.empty(0)

    def add(self, plane: Plane) -> None:
        column = np.array([float(plane.slopes @ other.slopes) for other in self._planes])
        n = len(self._planes)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n], gram[n, :n], gram[:n, n] = self._gram, column, column
        gram[n, n] = float(plane.slopes @ plane.slopes)
        self._gram, self._alpha = gram, np.append(self._alpha, 0.0)
        self._planes.append(plane)
        self._idle.append(0)

    def solve(self, tol: float) -> None:
        """Find the best weights for these planes, to within ``tol``."""
        offsets = np.array([plane.offset for plane in self._planes])
        self._alpha = solve_dual(self._gram, offsets, self._C, self._alpha, tol)
        self.value = float(offsets @ self._alpha - self._alpha @ self._gram @ self._alpha / 2.0)
        self.weights = np.zeros_like(self.weights)
        for plane, share in zip(self._planes, self._alpha, strict=True):
            if share > 0:
                self.weights += share * plane.slopes
        self._drop_idle()

    def solve_with(self, remembered: Oracle, tol: float, value: float) -> None:
        """Add planes that cost nothing, as long as each would close a good part of the gap to ``value``."""
        for _ in range(REMEMBERED_IN_A_ROW):
            plane = remembered(self.weights)
            above = objective(self.weights, plane, self._C) - self.value
            if above <= NEWS * (value - self.value):
                break
            self.add(plane)
            self.solve(tol)

    def _drop_idle(self) -> None:
        self._idle = [0 if share > 0 else idle + 1 for idle, share in zip(self._idle, self._alpha, strict=True)]
        kept = [place for place, idle in enumerate(self._idle) if idle < IDLE_ROUNDS]
        self._planes = [self._planes[place] for place in kept]
        self._idle = [self._idle[place] for place in kept]
        self._gram, self._alpha = self._gram[np.ix_(kept, kept)], self._alpha[kept]


def solve_dual(gram: FloatArray, offsets: FloatArray, C: float, start: FloatArray, tol: float) -> FloatArray:
    """Maximise offsets . a - a' G a / 2 over a >= 0 with sum C or less, to within ``tol`` or rounding.

    What is not given to a plane rests on one of slope and offset 0.

    >>> solve_dual(np.eye(2), np.array([3.0, 1.0]), C=2.0, start=np.zeros(2), tol=1e-9)
    array([2., 0.])
    """
    n = len(offsets)
    padded = np.zeros((n + 1, n + 1))
    padded[:n, :n] = gram
    a = np.append(start, max(C - start.sum(), 0.0))
    climb_simplex(padded, np.append(offsets, 0.0), a, tol, QP_ROUNDS)
    spent = float(a[:n].sum())
    return a[:n] if spent <= C else a[:n] * (C / spent)  # by rounding


def _silent(found: CuttingPlaneSolution) -> None:
    """Tell nobody."""


def objective(weights: FloatArray, plane: Plane, C: float) -> float:
    """Give |w|^2 / 2 + C * the height of a plane there, or of 0 where that is higher."""
    return float(weights @ weights) / 2.0 + C * max(0.0, plane.height(weights))


def minimise_by_planes(
    oracle: Oracle,
    n_weights: int,
    C: float,
    *,
    tol: float,
    max_iter: int = 1000,
    remembered: Oracle | None = None,
    tell: Callable[[CuttingPlaneSolution], None] = _silent,
) -> CuttingPlaneSolution:
    """Minimise |w|^2 / 2 + C * risk(w) until the proven gap is at most ``tol`` times the value.

    The next question is asked on the way from the best weights to those that the planes suggest (Franc and Sonnenburg
    2009): far from the best, where few planes are known, the answers say little. ``remembered`` gives planes below the
    risk, if need be lower than those of the oracle, that cost nothing.

    >>> def absolute(w):  # risk |w - 1|
    ...     return Plane(np.array([1.0]), 1.0) if w[0] < 1 else Plane(np.array([-1.0]), -1.0)
    >>> minimise_by_planes(absolute, 1, C=0.5, tol=1e-6).weights
    array([0.5])
    """
    if not (C > 0 and tol > 0 and max_iter > 0):
        raise InputError(f"C, tol and max_iter must be above 0, got {C!r}, {tol!r} and {max_iter!r}.")
    planes, stride = _Planes(C, n_weights), 1.0
    best = CuttingPlaneSolution(planes.weights, np.inf, 0.0, 0)
    while best.n_planes < max_iter and not best.gap <= tol * best.value < np.inf:
        weights: FloatArray = best.weights + stride * (planes.weights - best.weights)
        plane = oracle(weights)
        value = objective(weights, plane, C)
        as_hoped = best.value - value >= AS_HOPED * stride * (best.value - planes.value)
        stride = min(1.0, 2.0 * stride) if as_hoped else max(SHORTEST_STRIDE, stride / 2.0)
        weights, value = (weights, value) if value < best.value else (best.weights, best.value)
        planes.add(plane)
        planes.solve(0.1 * tol * value)
        if remembered is not None:
            planes.solve_with(remembered, 0.1 * tol * value, value)
        best = CuttingPlaneSolution(weights, value, max(best.bound, planes.value), best.n_planes + 1)
        tell(best)
    return best
