"""Scores of rows, and sums of rows, in float64 whatever their precision; rows are read, not copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray, Matrix, is_sparse


class RowProducts:
    """The products X w and X' v of a dense or CSR matrix.

    >>> rows = RowProducts(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.scores(np.array([1.0, 1.0])), rows.pull_back(np.array([1.0, -1.0]))
    (array([3., 7.]), array([-2., -2.]))
    """

    def __init__(self, X: Matrix) -> None:
        from riffler._fast.rows import as_rows

        X = X.tocsr() if is_sparse(X) else np.asarray(X)
        if X.dtype.kind != "f":
            X = X.astype(np.float64)
        self._X: Any = X
        self.n_rows, self.n_columns = X.shape
        self._rows = as_rows(X)
        # BLAS is sooner on dense rows; of single precision it would sum in single precision
        self._blas = isinstance(X, np.ndarray) and X.dtype == np.float64

    def scores(self, weights: FloatArray) -> FloatArray:
        """Give X w."""
        from riffler._fast.rows import scores_of_all

        if self._blas:
            found: FloatArray = self._X @ weights
            return found
        scores: FloatArray = np.empty(self.n_rows)
        scores_of_all(self._rows, self.n_rows, weights, scores)
        return scores

    def pull_back(self, moves: FloatArray) -> FloatArray:
        """Give X' v; rows of weight 0 are not read."""
        from riffler._fast.rows import sum_of_rows

        total: FloatArray = np.zeros(self.n_columns)
        sum_of_rows(self._rows, self.n_rows, moves, total)
        return total

    def need_finite(self, whose: str) -> None:
        """Raise where a value is not finite."""
        values = self._X.data if is_sparse(self._X) else self._X
        if not np.isfinite(values).all():
            raise InputError(f"{whose} holds NaN or infinity. Fill or drop such values first.")
