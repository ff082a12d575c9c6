"""Trust-region Newton steps for |w|^2 / 2 + C * loss(X w); the loss gives value, slope and curvature in the scores.

Each step solves the quadratic model by conjugate gradients (Steihaug): one product with X and one with its transpose a
turn. A step is taken where the loss falls as the model says; else the region shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.records import FloatArray, Matrix

ENOUGH = 0.3  # the model is solved until a turn adds less than this share of the mean fall of the turns so far
ACCEPT, POOR, GOOD = 1e-4, 0.25, 0.75  # actual by predicted fall: to take a step, to shrink the region, to widen it


class LossPoint(Protocol):
    """A loss at some scores."""

    @property
    def value(self) -> float:
        """The loss."""
        ...

    @property
    def slope(self) -> FloatArray:
        """Its slope in the scores."""
        ...

    def bend(self, moves: FloatArray, out: FloatArray) -> None:
        """Write the second derivative of the loss times ``moves``."""
        ...


Metric = Callable[[FloatArray], FloatArray]
"""Multiplies a slope by a guess of the inverse Hessian."""


class ScoreLoss(Protocol):
    """A convex function of the scores of all rows."""

    def at(self, scores: FloatArray) -> LossPoint:
        """Value, slope and curvature at these scores."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Where the steps ended; ``n_products`` counts products with X or its transpose."""

    weights: FloatArray
    value: float
    n_steps: int
    n_products: int


class Products:
    """X w and X' s: sums in float64, X is not copied whatever its precision."""

    def __init__(self, X: Matrix) -> None:
        from riffler._fast.rows import as_rows

        self.n_rows, self.n_columns = X.shape
        self._rows = as_rows(X)
        # a short dense row is added to the sum sooner by BLAS; of single precision it would sum in single precision
        self._dense = X if isinstance(X, np.ndarray) and X.dtype == np.float64 else None
        self.n_done = 0

    def scores(self, weights: FloatArray, out: FloatArray) -> FloatArray:
        """Write X w into ``out``."""
        from riffler._fast.rows import scores_of_all

        scores_of_all(self._rows, self.n_rows, weights, out)
        self.n_done += 1
        return out

    def pull_back(self, slopes: FloatArray) -> FloatArray:
        """Give X' s."""
        from riffler._fast.rows import sum_of_rows

        self.n_done += 1
        if self._dense is not None:
            product: FloatArray = slopes @ self._dense
            return product
        total = np.zeros(self.n_columns)
        sum_of_rows(self._rows, self.n_rows, slopes, total)
        return total


def minimise(
    X: Matrix,
    loss: ScoreLoss,
    C: float,
    start: FloatArray,
    *,
    tol: float,
    max_iter: int,
    metric: Metric = np.copy,
) -> Solution:
    """Minimise |w|^2 / 2 + C * loss(X w) until about ``tol`` of its value is left to gain.

    metric : a guess of the inverse Hessian; a good one saves most of the products
    """
    products = Products(X)
    w, scores = start, products.scores(start, np.empty(X.shape[0]))
    point = loss.at(scores)
    value = float(w @ w) / 2.0 + C * point.value
    slope = w + C * products.pull_back(point.slope)
    radius, trial_scores, n_steps = np.inf, np.empty(X.shape[0]), 0
    while n_steps < max_iter and float(slope @ slope) / 2.0 > tol * value:  # |slope|^2 / 2 bounds what is left
        step = _solve_model(products, point, C, slope, radius, metric)
        n_steps += 1
        np.add(scores, step.moves, out=trial_scores)
        trial = loss.at(trial_scores)
        trial_value = float((w + step.step) @ (w + step.step)) / 2.0 + C * trial.value
        ratio = (value - trial_value) / step.promised if step.promised > 0 else 0.0
        radius = _next_radius(radius, step.length, ratio)
        if ratio > ACCEPT:
            w, value, point = w + step.step, trial_value, trial
            scores, trial_scores = trial_scores, scores
        # what a step leaves: the part of its model that was not solved, and what the model did not foresee
        if (ENOUGH + abs(1.0 - ratio)) * step.promised <= tol * abs(value):
            break
        if ratio > ACCEPT:
            slope = w + C * products.pull_back(point.slope)
    return Solution(w, value, n_steps, products.n_done)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    step: FloatArray
    moves: FloatArray  # of the scores
    promised: float  # fall of the model
    length: float  # in the metric


def _solve_model(
    products: Products, point: LossPoint, C: float, slope: FloatArray, radius: float, metric: Metric
) -> _Step:
    """Minimise slope . p + p' H p / 2 over p in the region, by conjugate gradients in the metric M."""
    step, moves = np.zeros_like(slope), np.zeros(products.n_rows)
    residual = -slope
    direction = metric(residual)
    square = first = float(residual @ direction)
    direction_scores, bent = np.empty(products.n_rows), np.zeros(products.n_rows)
    # p' M p, p' M d and d' M d follow from one turn to the next
    of_step, of_both, of_direction = 0.0, 0.0, square
    fall = 0.0
    for turn in range(1, len(slope) + 1):
        products.scores(direction, direction_scores)
        point.bend(direction_scores, bent)
        curved = direction + C * products.pull_back(bent)
        length = square / float(direction @ curved)
        inside = of_step + 2 * length * of_both + length**2 * of_direction < radius**2
        if not inside:
            gap = radius**2 - of_step
            length = (-of_both + float(np.sqrt(of_both**2 + of_direction * gap))) / of_direction
        step += length * direction
        moves += length * direction_scores
        residual -= length * curved
        of_step += 2 * length * of_both + length**2 * of_direction
        solved = metric(residual)
        new_square = float(residual @ solved)
        # H p = -slope - residual
        before, fall = fall, float(step @ (residual - slope)) / 2.0
        if not inside or turn * (fall - before) <= ENOUGH * fall or new_square <= 1e-12 * first:
            break
        of_both = new_square / square * (of_both + length * of_direction)
        of_direction = new_square + (new_square / square) ** 2 * of_direction
        direction *= new_square / square
        direction += solved
        square = new_square
    return _Step(step, moves, fall, float(np.sqrt(of_step)))


def _next_radius(radius: float, length: float, ratio: float) -> float:
    if ratio < POOR:
        return 0.25 * min(radius, length)
    return max(radius, 4.0 * length) if ratio > GOOD else radius
