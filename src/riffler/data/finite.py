"""Finding the first NaN or infinity in a matrix, without a dense copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from riffler.errors import DataFileError
from riffler.records import Matrix

BLOCK = 65_536


def check_finite_matrix(X: Matrix, source: str, names: tuple[str, ...] | None = None) -> None:
    """Raise a DataFileError that names the row and column of the first value that is not finite.

    >>> check_finite_matrix(np.array([[0.0, 1.0], [np.nan, 2.0]]), "toy.npz")
    Traceback (most recent call last):
    riffler.errors.DataFileError: toy.npz: row 2, column 1 is nan; fill it in or leave the row out.
    """
    found = _first(X)
    if found is not None:
        row, column, value = found
        title = str(column + 1) if names is None else repr(names[column])
        raise DataFileError(f"{source}: row {row + 1}, column {title} is {value}; fill it in or leave the row out.")


def cast_matrix(X: Matrix, dtype: DTypeLike, source: str) -> Matrix:
    """Finite X as ``dtype`` without needless copies; a value too large for it is an error that names its place."""
    with np.errstate(over="ignore"):
        cast = X.astype(dtype, copy=False)
    found = None if cast is X else _first(cast)
    if found is not None:
        row, column, _ = found
        raise DataFileError(
            f"{source}: row {row + 1}, column {column + 1}: {X[row, column]} does not fit {np.dtype(dtype)}; "
            "pass dtype='float64' or scale the column."
        )
    return cast


def _first(X: Matrix) -> tuple[int, int, float] | None:
    return _first_sparse(X) if hasattr(X, "indptr") else _first_dense(X)


def _first_sparse(X: Matrix) -> tuple[int, int, float] | None:
    for start in range(0, X.nnz, BLOCK):
        bad = np.flatnonzero(~np.isfinite(X.data[start : start + BLOCK]))
        if len(bad):
            place = start + int(bad[0])
            row = int(np.searchsorted(X.indptr, place, side="right")) - 1
            return row, int(X.indices[place]), float(X.data[place])
    return None


def _first_dense(X: Matrix) -> tuple[int, int, float] | None:
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        bad = np.argwhere(~np.isfinite(X[start : start + step]))
        if len(bad):
            row, column = start + int(bad[0][0]), int(bad[0][1])
            return row, column, float(X[row, column])
    return None
