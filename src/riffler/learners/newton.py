"""Trust-region Newton steps for |w|^2 / 2 + C * loss(X w); the loss gives value, slope and curvature in the scores.

Each step solves the quadratic model by conjugate gradients (Steihaug): one product with X and one with its transpose a
turn. A step is taken where the loss falls as the model says; else the region shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.features.blocked_rows import BlockedRows, has_sparse_rows, whole_blocks
from riffler.records import FloatArray, Matrix

ENOUGH = 0.3  # a model far from the end is solved until a turn adds less than this share of the mean fall of the turns
SOLVED = 0.5  # near the end, until no more than this share of what may be left in the end can be left of the model
DAMPED = 0.1  # of what the loss bends in the metric: the pairs that count change from step to step
MOST_TURNS = 3  # a column: rounding makes the turns more than the columns
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

    @property
    def stiffness(self) -> FloatArray:
        """The diagonal of its second derivative; where it is 0, so is the slope."""
        ...

    def bend(self, moves: FloatArray, out: FloatArray) -> None:
        """Write the second derivative of the loss times ``moves``."""
        ...


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
    converged: bool  # else max_iter came first


class Products:
    """X w and X' s: sums in float64, X is not copied whatever its precision."""

    def __init__(self, X: Matrix | BlockedRows) -> None:
        self.n_rows, self.n_columns = int(X.shape[0]), int(X.shape[1])
        self._X = X
        # a short dense row is added to the sum sooner by BLAS; of single precision it would sum in single precision
        self._by_blas = not has_sparse_rows(X) and X.dtype == np.float64
        self.n_done = 0

    def scores(self, weights: FloatArray, out: FloatArray) -> FloatArray:
        """Write X w into ``out``."""
        from riffler._fast.rows import as_rows, scores_of_all

        for start, stop, block in whole_blocks(self._X):
            scores_of_all(as_rows(block), stop - start, weights, out[start:stop])
        self.n_done += 1
        return out

    def moments(self, slopes: FloatArray, stiffness: FloatArray) -> FloatArray:
        """Give the sums over rows x of slope x, stiffness x, and stiffness x^2, in one pass; shape (3, n_columns)."""
        from riffler._fast.rows import as_rows, moments_of_rows

        totals = np.zeros((3, self.n_columns))
        for start, stop, block in whole_blocks(self._X):
            moments_of_rows(as_rows(block), slopes[start:stop], stiffness[start:stop], totals)
        self.n_done += 1
        return totals

    def pull_back(self, slopes: FloatArray) -> FloatArray:
        """Give X' s."""
        from riffler._fast.rows import as_rows, sum_of_rows

        self.n_done += 1
        total = np.zeros(self.n_columns)
        for start, stop, block in whole_blocks(self._X):
            if self._by_blas:
                total += slopes[start:stop] @ block
            else:
                sum_of_rows(as_rows(block), stop - start, slopes[start:stop], total)
        return total


def minimise(
    X: Matrix | BlockedRows, loss: ScoreLoss, C: float, start: FloatArray, *, tol: float, max_iter: int
) -> Solution:
    """Minimise |w|^2 / 2 + C * loss(X w) until about ``tol`` of its value is left to gain."""
    products = Products(X)
    w, scores = start, products.scores(start, np.empty(X.shape[0]))
    point = loss.at(scores)
    value = float(w @ w) / 2.0 + C * point.value
    here = _slope_at(products, point, C, w)
    radius, trial_scores, n_steps = np.inf, np.empty(X.shape[0]), 0
    # |slope|^2 / 2 bounds what is left
    while not (converged := float(here.slope @ here.slope) / 2.0 <= tol * value) and n_steps < max_iter:
        step = _solve_model(products, point, C, here, radius, tol * value)
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
        if max(step.left, ENOUGH * step.promised) + abs(1.0 - ratio) * step.promised <= tol * abs(value):
            converged = True
            break
        if ratio > ACCEPT:
            here = _slope_at(products, point, C, w)
    return Solution(w, value, n_steps, products.n_done, converged)


@dataclass(frozen=True, slots=True, eq=False)
class _Slope:
    """The slope of the objective in w, and the diagonal of its Hessian (about: see ``_slope_at``)."""

    slope: FloatArray
    diagonal: FloatArray


def _slope_at(products: Products, point: LossPoint, C: float, w: FloatArray) -> _Slope:
    """One pass gives both. A shift of a column changes no loss, so its spread around its mean is what bends."""
    stiffness = point.stiffness
    pull, mean, square = products.moments(point.slope, stiffness)
    total = float(stiffness.sum())
    spread = np.maximum(square - mean * mean / total, 0.0) if total > 0 else square
    return _Slope(w + C * pull, 1.0 + DAMPED * C * spread)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    step: FloatArray
    moves: FloatArray  # of the scores
    promised: float  # fall of the model
    left: float  # more turns would add no more than this to it
    length: float  # in the metric


def _solve_model(products: Products, point: LossPoint, C: float, here: _Slope, radius: float, wanted: float) -> _Step:
    """Minimise slope . p + p' H p / 2 over p in the region, by conjugate gradients in the metric of the diagonal M.

    What is left is at most reach |residual|^2 / 2 in the metric (a Gauss-Radau rule: Meurant and Tichy 2013), since no
    eigenvalue of the Hessian in the metric is below 1 / max(M). A turn that adds little proves nothing: where columns
    are nearly the same, the next may add much.
    """
    slope, metric = here.slope, 1.0 / here.diagonal
    step, moves = np.zeros_like(slope), np.zeros(products.n_rows)
    residual = -slope
    direction = metric * residual
    square = first = float(residual @ direction)
    direction_scores, bent = np.empty(products.n_rows), np.zeros(products.n_rows)
    # p' M p, p' M d and d' M d follow from one turn to the next
    of_step, of_both, of_direction = 0.0, 0.0, square
    fall, farthest = 0.0, float(here.diagonal.max())
    reach = farthest
    for turn in range(1, MOST_TURNS * len(slope) + 1):
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
        solved = metric * residual
        new_square = float(residual @ solved)
        # H p = -slope - residual
        before, fall = fall, float(step @ (residual - slope)) / 2.0
        spare = max(reach - length, 0.0)
        reach = spare / (spare / farthest + new_square / square) if new_square > 0 else 0.0
        left = reach * new_square / 2.0 if inside else np.inf
        slow = turn * (fall - before) <= ENOUGH * fall and ENOUGH * fall > wanted
        if not inside or slow or left <= SOLVED * wanted or new_square <= 1e-20 * first:
            break
        of_both = new_square / square * (of_both + length * of_direction)
        of_direction = new_square + (new_square / square) ** 2 * of_direction
        direction *= new_square / square
        direction += solved
        square = new_square
    return _Step(step, moves, fall, left, float(np.sqrt(of_step)))


def _next_radius(radius: float, length: float, ratio: float) -> float:
    if ratio < POOR:
        return 0.25 * min(radius, length)
    return max(radius, 4.0 * length) if ratio > GOOD else radius
