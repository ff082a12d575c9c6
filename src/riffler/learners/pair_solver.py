"""A linear model on pairs that grows: pairs join, and dual coordinate descent goes on from where it was."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from riffler.errors import UnknownName
from riffler.records import FloatArray, IntArray, Matrix

LOSSES: dict[str, int] = {"hinge": 0, "squared_hinge": 1, "logistic": 2}
"""Codes of the losses in the compiled loops."""


def loss_code(name: str) -> int:
    """Turn the name of a loss of a margin into its code.

    >>> loss_code("hinge")
    0
    """
    if name not in LOSSES:
        raise UnknownName.among("loss", name, LOSSES)
    return LOSSES[name]


class GrowingPairs(ABC):
    """Pairs that join, what each counts, and the weights learned from them.

    start : weights that earlier pairs, of rows that are gone, have left; earlier : the weight of those pairs
    """

    def __init__(self, n_columns: int, C: float, start: FloatArray | None, earlier: float) -> None:
        self.weights: FloatArray = np.zeros(n_columns) if start is None else np.array(start, dtype=np.float64)
        self.C, self.total = C, earlier
        self.upper, self.lower, self.share = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)

    def add(self, upper: IntArray, lower: IntArray, weight: FloatArray, stand_for: float | None = None) -> None:
        """Let pairs join; -1 stands for the zero vector. A mean over more pairs gives each less.

        stand_for : weight of all that the pairs were drawn from, those without a loss included (None: their own)
        """
        total = self.total + (float(weight.sum()) if stand_for is None else stand_for)
        self.shrink(self.total / total if total > 0 else 1.0)
        self.upper, self.lower = np.concatenate([self.upper, upper]), np.concatenate([self.lower, lower])
        self.share = np.concatenate([self.share, weight])
        self.total = total

    @abstractmethod
    def shrink(self, factor: float) -> None:
        """Multiply what the pairs so far have to say."""

    @abstractmethod
    def descend(self, tol: float, n_passes: int) -> bool:
        """Learn from the pairs that are there; tell whether so many passes over them were enough."""


class PairSolver(GrowingPairs):
    """Minimise |w|^2 / 2 + C * (weighted mean of the losses of all pairs that joined), over w, in the dual.

    X : the rows that pairs are made of
    """

    def __init__(
        self, X: Matrix, C: float, loss: str, seed: int, start: FloatArray | None = None, earlier: float = 0.0
    ) -> None:
        from riffler._fast.rows import as_rows

        super().__init__(X.shape[1], C, start, earlier)
        self._rows, self._loss, self._seed = as_rows(X), loss_code(loss), seed
        self._work = np.zeros(X.shape[1])
        self._squares, self.alpha = np.empty(0), np.empty(0)

    def add(self, upper: IntArray, lower: IntArray, weight: FloatArray, stand_for: float | None = None) -> None:
        """Let pairs join, with nothing to say yet."""
        from riffler._fast.pair_dual import pair_squares

        super().add(upper, lower, weight, stand_for)
        squares = np.empty(len(upper))
        pair_squares(self._rows, upper, lower, self._work, squares)
        self.alpha = np.concatenate([self.alpha, np.zeros(len(upper))])
        self._squares = np.concatenate([self._squares, squares])

    def shrink(self, factor: float) -> None:
        """The weights are the sum of what all pairs say."""
        self.weights *= factor
        self.alpha *= factor

    def descend(self, tol: float, n_passes: int) -> bool:
        """Pass over the pairs until no margin is further than ``tol`` from where it is wanted."""
        from riffler._fast.pair_dual import descend_pairs

        self._seed += 1
        cost = self.share * (self.C / self.total)
        pairs = self._rows, self.upper, self.lower, cost, self._squares, np.arange(len(self.upper))
        made = descend_pairs(*pairs, self.alpha, self.weights, self._loss, n_passes, tol, self._seed)
        return bool(made <= n_passes)
