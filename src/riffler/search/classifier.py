"""The classifier step of a search: a linear model of the labelled rows, refitted from where it was.

Refitting costs the non-zeros of the labelled rows, whatever the size of the collection; then one pass scores the pool.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.errors import InputError, UnknownName
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

LOSSES = {"logistic": 1, "squared_hinge": 0}


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Weights of the columns and an intercept."""

    weights: FloatArray
    intercept: float

    def scores(self, engine: LocalEngine) -> FloatArray:
        """Score every row of the collection."""
        return engine.scores(self.weights, self.intercept)


class WarmClassifier:
    """L2 logistic regression or squared-hinge SVM by dual coordinate descent, started where the last labels left it.

    Parameters
    ----------
    engine : the collection's rows
    loss : "squared_hinge" or "logistic"
    C : float
        Price of a mistake, as in scikit-learn.
    ratio : float
        Total weight of the irrelevant rows is that of the relevant ones divided by this; large ratios chase the
        relevant ones. All weights are scaled to a mean of 1.
    tolerance : float
        Largest step, in units of a row's norm, at which a fit ends.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> model = WarmClassifier(LocalEngine([rows])).fit(np.array([0, 1]), np.array([1, 0]))
    >>> scores = model.scores(LocalEngine([rows]))
    >>> bool(scores[2] > scores[1])
    True
    """

    def __init__(
        self,
        engine: LocalEngine,
        *,
        loss: str = "squared_hinge",
        C: float = 0.11,
        ratio: float = 9.8,
        tolerance: float = 1e-2,
    ) -> None:
        if loss not in LOSSES:
            raise UnknownName.among("loss of a search classifier", loss, LOSSES)
        for name, value in (("C", C), ("ratio", ratio), ("tolerance", tolerance)):
            if not value > 0:
                raise InputError(f"{name} must be above 0, got {value!r}.")
        self._engine, self._loss, self._C, self._ratio, self._tolerance = engine, LOSSES[loss], C, ratio, tolerance
        self._numbers: IntArray = np.empty(0, dtype=np.int64)  # rows of the collection, in the order they joined
        self._rows: Matrix = engine.rows(self._numbers)
        self._alpha: FloatArray = np.empty(0)
        self._signs: FloatArray = np.empty(0)
        self._place: dict[int, int] = {}
        self._weights: FloatArray = np.zeros(engine.n_columns + 1)

    def fit(self, numbers: IntArray, labels: IntArray, presumed: IntArray | None = None) -> LinearModel:
        """Fit on labelled rows, and on some that are presumed irrelevant for this once."""
        from riffler._fast.dual import descend, rebuild, squares_of_all
        from riffler._fast.rows import as_rows

        presumed = np.empty(0, dtype=np.int64) if presumed is None else presumed
        places = self._places(np.concatenate([numbers, presumed]))
        signs = np.concatenate([np.where(labels > 0, 1.0, -1.0), -np.ones(presumed.size)])
        self._match(places, signs)
        cost = np.zeros(self._signs.size)
        cost[places] = self._C * balanced_weights(signs, self._ratio)
        # a cost that shrank leaves a logistic coefficient outside its box; a row that has left keeps none
        self._alpha = np.where(cost > 0, self._alpha, 0.0)
        if self._loss == LOSSES["logistic"]:
            self._alpha = np.minimum(self._alpha, cost)
        rows = as_rows(self._rows)
        squares = np.empty(self._signs.size)
        squares_of_all(rows, self._signs.size, squares)
        order = places.copy()
        rebuild(rows, self._signs, self._alpha, order, self._weights)
        descend(
            rows, self._signs, cost, squares, order, self._alpha, self._weights, self._loss, 50, self._tolerance,
            numbers.size,
        )  # fmt: skip
        return LinearModel(self._weights[:-1].copy(), float(self._weights[-1]))

    def _places(self, numbers: IntArray) -> IntArray:
        """Return where the rows stand among those gathered so far; new ones join."""
        new = np.array([number for number in numbers.tolist() if number not in self._place], dtype=np.int64)
        if new.size:
            start = self._numbers.size
            self._place |= {number: start + at for at, number in enumerate(new.tolist())}
            self._numbers = np.concatenate([self._numbers, new])
            gathered = self._engine.rows(new)
            stack = sparse.vstack([self._rows, gathered], format="csr") if is_sparse(gathered) else None
            self._rows = np.vstack([self._rows, gathered]) if stack is None else stack
            self._alpha = np.concatenate([self._alpha, np.zeros(new.size)])
            self._signs = np.concatenate([self._signs, np.zeros(new.size)])
        return np.array([self._place[number] for number in numbers.tolist()], dtype=np.int64)

    def _match(self, places: IntArray, signs: FloatArray) -> None:
        """A row whose label changed starts anew."""
        changed = places[self._signs[places] != signs]
        self._alpha[changed] = 0.0
        self._signs[places] = signs


def balanced_weights(signs: FloatArray, ratio: float) -> FloatArray:
    """Weights with a mean of 1 where the irrelevant rows together weigh as much as the relevant ones / ratio.

    >>> balanced_weights(np.array([1.0, -1.0, -1.0]), ratio=1.0)
    array([1.5 , 0.75, 0.75])
    """
    positive = signs > 0
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if n_positive == 0 or n_negative == 0:
        return np.ones(signs.size)
    weights = np.where(positive, 1.0, n_positive / (ratio * n_negative))
    balanced: FloatArray = weights * (signs.size / weights.sum())
    return balanced
