"""Scores of rows, and sums of rows, in float64 whatever their precision; rows are read, not copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler.errors import FeatureMismatch, InputError
from riffler.records import FloatArray, Matrix, is_sparse


class RowProducts:
    """The products X w and X' v of a dense or CSR matrix; ``whose`` names it in errors.

    >>> rows = RowProducts(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.scores(np.array([1.0, 1.0])), rows.pull_back(np.array([1.0, -1.0]))
    (array([3., 7.]), array([-2., -2.]))
    """

    def __init__(self, X: Matrix, whose: str = "X") -> None:
        from riffler._fast.rows import as_rows

        self._X: Any = _of_floats(X.tocsr() if is_sparse(X) else np.asarray(X), whose)
        self._whose = whose
        self.n_rows, self.n_columns = self._X.shape
        self._rows = as_rows(self._X)
        # BLAS is sooner on dense rows; of single precision it would sum in single precision
        self._blas = isinstance(self._X, np.ndarray) and self._X.dtype == np.float64

    def scores(self, weights: FloatArray) -> FloatArray:
        """Give X w."""
        from riffler._fast.rows import scores_of_all

        # the loops check nothing: they would read beyond the end
        if np.shape(weights) != (self.n_columns,):
            raise FeatureMismatch(
                f"{self._whose} has {self.n_columns} columns, there are {np.size(weights)} weights. "
                "Pass the columns that were learned from."
            )
        if self._blas:
            found: FloatArray = self._X @ weights
            return found
        scores: FloatArray = np.empty(self.n_rows)
        scores_of_all(self._rows, self.n_rows, weights, scores)
        return scores

    def pull_back(self, moves: FloatArray) -> FloatArray:
        """Give X' v; rows of weight 0 are not read."""
        from riffler._fast.rows import sum_of_rows

        if np.shape(moves) != (self.n_rows,):
            raise InputError(
                f"{self._whose} has {self.n_rows} rows, the output is about {np.size(moves)}. Pass one value for each."
            )
        total: FloatArray = np.zeros(self.n_columns)
        sum_of_rows(self._rows, self.n_rows, moves, total)
        return total

    def need_finite(self) -> None:
        """Raise where a value is not finite."""
        values = self._X.data if is_sparse(self._X) else self._X
        if not np.isfinite(values).all():
            raise InputError(f"{self._whose} holds NaN or infinity. Fill or drop such values first.")


def finite_scores(X: Matrix, weights: FloatArray, whose: str) -> FloatArray:
    """Give X w; raises where a value of X is not finite."""
    rows = RowProducts(X, whose)
    rows.need_finite()
    return rows.scores(weights)


def _of_floats(X: Any, whose: str) -> Any:  # noqa: ANN401 - an array or a CSR matrix
    """Give a matrix in single or double precision, which the loops are compiled for; other numbers become double."""
    if X.ndim != 2:
        raise InputError(
            f"{whose} must be a matrix with rows and columns, got shape {X.shape}. "
            "Pass a list with one matrix per set or query."
        )
    if X.dtype in (np.float32, np.float64):
        return X
    try:
        return X.astype(np.float64, casting="unsafe" if X.dtype.kind in "fiubO" else "safe")
    except (TypeError, ValueError):
        raise InputError(f"{whose} must hold numbers, got {X.dtype}. Turn words into numbers first.") from None
