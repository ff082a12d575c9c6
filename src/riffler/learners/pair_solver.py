"""A linear model on pairs that grows: pairs join, and dual coordinate descent goes on from where it was."""

from __future__ import annotations

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


class PairSolver:
    """Minimise |w|^2 / 2 + C * (weighted mean of the losses of all pairs that joined), over w.

    X : the rows that pairs are made of; start : weights that earlier pairs, of rows that are gone, have left;
    earlier : the weight of those pairs
    """

    def __init__(
        self, X: Matrix, C: float, loss: str, seed: int, start: FloatArray | None = None, earlier: float = 0.0
    ) -> None:
        from riffler._fast.rows import as_rows

        self._rows, self._C, self._loss, self._seed = as_rows(X), C, loss_code(loss), seed
        self.weights: FloatArray = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=np.float64)
        self.total = earlier
        self._work = np.zeros(X.shape[1])
        self.upper, self.lower = np.empty(0, np.int32), np.empty(0, np.int32)
        self._share, self._squares, self.alpha = np.empty(0), np.empty(0), np.empty(0)

    def add(self, upper: IntArray, lower: IntArray, weight: FloatArray) -> None:
        """Let pairs join; -1 stands for the zero vector.

        A mean over more pairs gives each less: what the pairs so far have to say shrinks, and so do the weights.
        """
        from riffler._fast.pair_dual import pair_squares

        squares = np.empty(len(upper))
        pair_squares(self._rows, upper, lower, self._work, squares)
        total = self.total + float(weight.sum())
        shrink = self.total / total if total > 0 else 1.0
        self.weights *= shrink
        self.alpha = np.concatenate([self.alpha * shrink, np.zeros(len(upper))])
        self.upper, self.lower = np.concatenate([self.upper, upper]), np.concatenate([self.lower, lower])
        self._share = np.concatenate([self._share, weight])
        self._squares = np.concatenate([self._squares, squares])
        self.total = total

    def descend(self, tol: float, n_passes: int) -> int:
        """Pass over the pairs until no margin is further than ``tol`` from where it is wanted; give the passes made."""
        from riffler._fast.pair_dual import descend_pairs

        self._seed += 1
        cost = self._share * (self._C / self.total)
        pairs = self._rows, self.upper, self.lower, cost, self._squares, np.arange(len(self.upper))
        made = descend_pairs(*pairs, self.alpha, self.weights, self._loss, n_passes, tol, self._seed)
        return int(made)
