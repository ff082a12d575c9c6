"""Full-batch subgradient descent on a precision-at-k surrogate (GD@k): slow, deterministic, the yardstick."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.learners.batches import mean_square
from riffler.learners.checks import checked_training, clipped_k
from riffler.learners.ranker import LinearRanker
from riffler.losses import Surrogate, surrogate_from
from riffler.records import FloatArray, Matrix


class GradientAtK(LinearRanker):
    """Minimise ``surrogate / k + alpha / 2 * |w|^2`` over all rows at once.

    With ``surrogate="struct"`` this is the objective of SVMperf for precision at k. Steps fall as 1 / sqrt(t); the
    best iterate seen is kept, so ``loss_`` never ends above an earlier value.

    Parameters
    ----------
    k : int or float
        Rows at the top that matter: a number of rows, or a share of the positives.
    surrogate : "avg", "max", "ramp", "struct" or an object with ``value_and_slope``
    learning_rate : float
        Step size in units of 1 / (mean squared row norm).
    alpha : float
    max_iter : int
    tol : float
        Stop when the objective has not fallen by this share within 20 steps.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_
    loss_ : float
        The objective at the returned weights.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> GradientAtK(k=0.25).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        k: int | float = 0.25,
        *,
        surrogate: str | Surrogate = "avg",
        learning_rate: float = 1.0,
        alpha: float = 1e-4,
        max_iter: int = 200,
        tol: float = 1e-3,
    ) -> None:
        self.k = k
        self.surrogate = surrogate
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows."""
        if not (self.learning_rate > 0 and self.max_iter > 0 and self.alpha >= 0):
            raise InputError(
                "learning_rate and max_iter must be above 0 and alpha at least 0, got "
                f"{self.learning_rate!r}, {self.max_iter!r} and {self.alpha!r}."
            )
        surrogate = surrogate_from(self.surrogate)
        data = checked_training(self, X, y, sample_weight)
        self.classes_ = data.classes
        k = clipped_k(self.k, data.n_positive)
        step = self.learning_rate / mean_square(data.X, data.weight)
        coef = np.zeros(data.X.shape[1], dtype=data.X.dtype)
        best: FloatArray = coef
        best_value, last_check = np.inf, np.inf
        for n_iter in range(1, self.max_iter + 1):
            scores = np.asarray(data.X @ coef, dtype=np.float64)
            value, slopes = surrogate.value_and_slope(scores, data.labels, k, data.weight)
            value = value / k + self.alpha / 2 * float(coef @ coef)
            if value < best_value:
                best, best_value = coef, value
            if n_iter % 20 == 0:
                if last_check - best_value <= self.tol * abs(best_value):
                    break
                last_check = best_value
            slope = data.X.T @ (slopes / k).astype(data.X.dtype) + float(self.alpha) * coef
            # a plain float: a NumPy one would turn float32 weights, and with them a copy of X, into float64
            coef = coef - float(step / np.sqrt(n_iter)) * slope
        self.n_iter_, self.loss_ = n_iter, float(best_value)
        self.coef_ = best.reshape(1, -1)
        self._set_threshold(self._raw_scores(data.X), data.weight, k)
        return self
