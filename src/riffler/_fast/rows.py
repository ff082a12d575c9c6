"""One row interface for dense and CSR data, so that every loop above it is written once.

``row_dot``, ``add_row`` and ``row_square`` are the only functions that know how a row is stored: numba picks the
dense or the sparse body from the type of ``rows`` when a loop is compiled. Sums run in float64 in a fixed order per
row, so a score does not depend on which other rows are scored with it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

# Reassociation lets the compiler use vector registers; NaN and inf keep their meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}

DenseRows = namedtuple("DenseRows", ["values"])
CsrRows = namedtuple("CsrRows", ["data", "indices", "indptr"])


def as_rows(X: Any) -> Any:
    """View a C-contiguous 2-D array or a CSR matrix as rows for the compiled loops; nothing is copied."""
    if isinstance(X, np.ndarray):
        return DenseRows(np.ascontiguousarray(X))
    return CsrRows(X.data, X.indices, X.indptr)


def row_dot(rows, i, w):
    """Inner product of row i with the weights w."""


def add_row(rows, i, step, w):
    """Add ``step`` times row i to w in place; return the change of the squared norm of w."""


def row_square(rows, i):
    """Squared Euclidean norm of row i."""


def _is_sparse(rows) -> bool:
    if not isinstance(rows, types.BaseNamedTuple):
        raise TypeError(f"rows must be DenseRows or CsrRows, got {rows}")
    return getattr(rows, "instance_class", None) is CsrRows


@overload(row_dot, jit_options={"fastmath": REORDER})
def _row_dot(rows, i, w):
    if _is_sparse(rows):

        def sparse(rows, i, w):
            total = 0.0
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                total += rows.data[p] * w[rows.indices[p]]
            return total

        return sparse

    def dense(rows, i, w):
        row = rows.values[i]
        total = 0.0
        for j in range(row.shape[0]):
            total += row[j] * w[j]
        return total

    return dense


@overload(add_row, jit_options={"fastmath": REORDER})
def _add_row(rows, i, step, w):
    if _is_sparse(rows):

        def sparse(rows, i, step, w):
            change = 0.0
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                j = rows.indices[p]
                old = w[j]
                w[j] = old + step * rows.data[p]
                change += w[j] * w[j] - old * old
            return change

        return sparse

    def dense(rows, i, step, w):
        row = rows.values[i]
        change = 0.0
        for j in range(row.shape[0]):
            old = w[j]
            w[j] = old + step * row[j]
            change += w[j] * w[j] - old * old
        return change

    return dense


@overload(row_square, jit_options={"fastmath": REORDER})
def _row_square(rows, i):
    if _is_sparse(rows):

        def sparse(rows, i):
            total = 0.0
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                total += rows.data[p] * rows.data[p]
            return total

        return sparse

    def dense(rows, i):
        row = rows.values[i]
        total = 0.0
        for j in range(row.shape[0]):
            total += row[j] * row[j]
        return total

    return dense


@njit(cache=True)
def scores_of_all(rows, n_rows, w, out):
    """Write the score of every row into ``out``."""
    for i in range(n_rows):
        out[i] = row_dot(rows, i, w)


@njit(cache=True)
def largest_square(rows, n_rows):
    """Largest squared row norm: R² in the mistake bounds."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, row_square(rows, i))
    return largest
