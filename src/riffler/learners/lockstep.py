"""L-BFGS on several independent problems at once, so that one pass over the data serves all of them.

Every round, each unfinished problem proposes one point, all points are evaluated together, and each problem accepts
its point or shortens its step (Armijo). A problem that has converged leaves the round. ``Metric`` is a guess of the
inverse Hessian that all share; a good one saves most of the rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from riffler.records import FloatArray, IntArray

Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]
"""(points of shape (n_params, m), which problems) -> (values (m,), slopes (n_params, m))"""

Metric = Callable[[FloatArray], FloatArray]
"""Multiplies a slope (n_params,) by a guess of the inverse Hessian."""

MEMORY = 8
SUFFICIENT = 1e-4  # of the decrease that the slope promises


@dataclass(slots=True)
class _Problem:
    point: FloatArray
    metric: Metric
    value: float = np.inf
    slope: FloatArray = field(default_factory=lambda: np.empty(0))
    direction: FloatArray = field(default_factory=lambda: np.empty(0))
    step: float = 1.0
    moves: list[FloatArray] = field(default_factory=list)
    bends: list[FloatArray] = field(default_factory=list)
    rounds: int = 0
    shortenings: int = 0
    done: bool = False

    def trial(self) -> FloatArray:
        return self.point + self.step * self.direction

    def choose_direction(self) -> None:
        """Two-loop recursion; falls back to the plain metric when it does not go down."""
        q = self.slope.copy()
        shares = []
        for move, bend in zip(reversed(self.moves), reversed(self.bends), strict=True):
            share = float(move @ q) / float(move @ bend)
            shares.append(share)
            q -= share * bend
        q = self.metric(q)
        if self.moves:
            bend = self.bends[-1]
            q *= float(self.moves[-1] @ bend) / float(bend @ self.metric(bend))
        for move, bend, share in zip(self.moves, self.bends, reversed(shares), strict=True):
            q += (share - float(bend @ q) / float(move @ bend)) * move
        self.step = 1.0
        if not self.moves or float(q @ self.slope) <= 0.0:
            self.moves.clear()
            self.bends.clear()
            q = self.metric(self.slope)
        self.direction = -q

    def take(self, value: float, slope: FloatArray, tol: float, max_iter: int) -> None:
        """Accept the trial point if it goes down enough, else shorten the step."""
        promised = self.step * float(self.slope @ self.direction)
        if not value <= self.value + SUFFICIENT * promised:
            # the parabola through both values and the slope has its lowest point here
            curve = 2.0 * (value - self.value - promised)
            shrink = -promised / curve if np.isfinite(curve) and curve > 0 else 0.1
            self.step *= min(max(shrink, 0.1), 0.5)
            self.shortenings += 1
            self.done = self.shortenings > 25
            return
        move, bend = self.step * self.direction, slope - self.slope
        fall = self.value - value
        self.point, self.slope, self.shortenings = self.trial(), slope, 0
        self.value = value
        if float(move @ bend) > 1e-10 * float(bend @ bend):
            self.moves.append(move)
            self.bends.append(bend)
            if len(self.moves) > MEMORY:
                self.moves.pop(0)
                self.bends.pop(0)
        self.rounds += 1
        flat = float(np.max(np.abs(slope), initial=0.0))
        self.done = self.rounds >= max_iter or flat <= tol * 1e-2 or fall <= tol * 1e-3 * max(abs(value), 1e-3)
        if not self.done:
            self.choose_direction()


def minimise(
    evaluate: Evaluate, starts: FloatArray, metric: Metric, *, tol: float, max_iter: int
) -> tuple[FloatArray, FloatArray]:
    """Minimise each column's problem from its start; return the points (n_params, m) and their values (m,)."""
    problems = [_Problem(np.array(column), metric) for column in starts.T]
    everyone = np.arange(len(problems))
    values, slopes = evaluate(starts, everyone)
    for problem, value, slope in zip(problems, values, slopes.T, strict=True):
        problem.value, problem.slope = float(value), np.array(slope)
        problem.done = not np.max(np.abs(slope), initial=0.0) > tol * 1e-2
        if not problem.done:
            problem.choose_direction()
    while active := [which for which, problem in enumerate(problems) if not problem.done]:
        trials = np.stack([problems[which].trial() for which in active], axis=1)
        values, slopes = evaluate(trials, np.array(active))
        for which, value, slope in zip(active, values, slopes.T, strict=True):
            problems[which].take(float(value), np.array(slope), tol, max_iter)
    return np.stack([problem.point for problem in problems], axis=1), np.array([p.value for p in problems])
