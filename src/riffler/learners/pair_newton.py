"""Newton's method on pairs that grow in number, for rows of few columns: the Hessian is made, from blocks of pairs.

Descent on one pair after the other takes many passes where columns go together, and most of its time; a Newton step is
one pass, and few are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from riffler.learners.pair_solver import GrowingPairs
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

BLOCK = 2048  # pairs whose differences are made at a time
FALL = 1e-4  # share of the fall that the slope promises, below which a step is halved
HALVINGS = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The objective at some weights: value, slope, Hessian, and the margins of the pairs."""

    value: float
    slope: FloatArray
    hessian: FloatArray
    margins: FloatArray


class PairNewton(GrowingPairs):
    """Minimise |w - c|^2 / 2 + C * (weighted mean of max(0, 1 - w . (x_i - x_j))^2), over w.

    X : rows of few columns; start : weights that earlier pairs, of rows that are gone, have left. Their share of the
    mean times these weights is c, 0 where there are none.
    """

    def __init__(self, X: Matrix, C: float, start: FloatArray | None = None, earlier: float = 0.0) -> None:
        super().__init__(X.shape[1], C, start, earlier)
        self._X, self._centre = X, self.weights.copy()

    def shrink(self, factor: float) -> None:
        """What earlier pairs had to say becomes a smaller share of the mean."""
        self._centre *= factor

    def descend(self, tol: float, n_passes: int) -> bool:
        """Make steps until one moves no margin by more than ``tol``, or none leads down."""
        cost = self.share * (self.C / self.total)
        here = self._model(self.weights, cost)
        n_made = 1
        while n_made < max(n_passes, 2):  # one step at least
            step = -cho_solve(cho_factor(here.hessian, check_finite=False), here.slope, check_finite=False)
            promised = -float(here.slope @ step)
            for _ in range(HALVINGS):
                there = self._model(self.weights + step, cost)
                n_made += 1
                if there.value <= here.value - FALL * promised:
                    break
                step, promised = step / 2.0, promised / 2.0
            else:
                return True
            moved = float(np.abs(there.margins - here.margins).max(initial=0.0))
            self.weights += step
            here = there
            if moved <= tol:
                return True
        return False

    def _model(self, w: FloatArray, cost: FloatArray) -> _Model:
        slope = w - self._centre
        value, hessian, margins = float(slope @ slope) / 2.0, np.eye(len(w)), np.empty(len(cost))
        for start in range(0, len(cost), BLOCK):
            block = slice(start, start + BLOCK)
            differences = self._rows(self.upper[block]) - self._rows(self.lower[block])
            margins[block] = differences @ w
            active = np.flatnonzero(margins[block] < 1.0)
            short, weight, differences = 1.0 - margins[block][active], cost[block][active], differences[active]
            value += float(weight @ np.square(short))
            slope -= (2.0 * weight * short) @ differences
            differences *= np.sqrt(2.0 * weight)[:, None]
            hessian += differences.T @ differences
        return _Model(value, slope, hessian, margins)

    def _rows(self, numbers: IntArray) -> FloatArray:
        """Rows in double precision; -1 stands for the zero vector."""
        stored = self._X[numbers]
        rows: FloatArray = (stored.toarray() if is_sparse(stored) else stored).astype(np.float64, copy=False)
        rows[numbers < 0] = 0.0
        return rows
