"""One row interface for dense and CSR data, so that every loop above it is written once.

``row_dot`` and those after it are the only functions that know how a row is stored: numba picks the dense or the sparse
body from the type of ``rows`` when a loop is compiled. Sums run in float64 in a fixed order per row, so a score does
not depend on which other rows are scored with it. The loops over all rows let other threads run.
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
SimilarRows = namedtuple("SimilarRows", ["values", "numbers"])
"""A row is what it is to every item: its inner products with all of them. ``w`` then holds the scores of all items, and
``numbers[i]`` says which item row i is."""


def as_rows(X: Any) -> Any:
    """View a C-contiguous 2-D array or a CSR matrix as rows for the compiled loops; nothing is copied."""
    if isinstance(X, np.ndarray):
        return DenseRows(np.ascontiguousarray(X))
    return CsrRows(X.data, X.indices, X.indptr)


def part_of_rows(rows: Any, start: int, stop: int) -> Any:
    """View neighbouring rows as rows again."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[start:stop])
    return CsrRows(rows.data, rows.indices, rows.indptr[start : stop + 1])


def row_dot(rows, i, w):
    """Inner product of row i with the weights w."""


def add_row(rows, i, step, w):
    """Add ``step`` times row i to w in place; return the change of the squared norm of w."""


def add_multiple(rows, i, step, w):
    """Add ``step`` times row i to w in place, and no more."""


def row_square(rows, i):
    """Squared Euclidean norm of row i."""


def row_product(rows, i, j, work):
    """Inner product of two rows; ``work`` is n_columns zeros, and is zeros again afterwards."""


def add_moments(rows, slopes, stiffness, out):
    """Add, over all rows x, slope times x, stiffness times x, and stiffness times x squared to the rows of ``out``."""


def _kind(rows):
    if not isinstance(rows, types.BaseNamedTuple):
        raise TypeError(f"rows must be DenseRows, CsrRows or SimilarRows, got {rows}")
    return getattr(rows, "instance_class", None)


@overload(row_dot)
def _row_dot(rows, i, w):
    if _kind(rows) is CsrRows:
        return lambda rows, i, w: _sparse_dot(rows.data, rows.indices, rows.indptr, i, w)
    if _kind(rows) is SimilarRows:
        return lambda rows, i, w: w[rows.numbers[i]]
    return lambda rows, i, w: _dense_dot(rows.values[i], w)


@overload(add_row)
def _add_row(rows, i, step, w):
    if _kind(rows) is CsrRows:
        return lambda rows, i, step, w: _sparse_add(rows.data, rows.indices, rows.indptr, i, step, w)
    return lambda rows, i, step, w: _dense_add(rows.values[i], step, w)


@overload(add_multiple)
def _add_multiple(rows, i, step, w):
    if _kind(rows) is CsrRows:
        return lambda rows, i, step, w: _sparse_add_only(rows.data, rows.indices, rows.indptr, i, step, w)
    return lambda rows, i, step, w: _dense_add_only(rows.values[i], step, w)


@overload(row_square)
def _row_square(rows, i):
    if _kind(rows) is CsrRows:
        return lambda rows, i: _sparse_square(rows.data, rows.indptr, i)
    if _kind(rows) is SimilarRows:
        return lambda rows, i: rows.values[i, rows.numbers[i]]
    return lambda rows, i: _dense_dot(rows.values[i], rows.values[i])


@overload(row_product)
def _row_product(rows, i, j, work):
    if _kind(rows) is CsrRows:
        return lambda rows, i, j, work: _sparse_product(rows.data, rows.indices, rows.indptr, i, j, work)
    if _kind(rows) is SimilarRows:
        return lambda rows, i, j, work: rows.values[i, rows.numbers[j]]
    return lambda rows, i, j, work: _dense_dot(rows.values[i], rows.values[j])


@overload(add_moments)
def _add_moments(rows, slopes, stiffness, out):
    if _kind(rows) is CsrRows:
        return lambda rows, slopes, stiffness, out: _sparse_moments(
            rows.data, rows.indices, rows.indptr, slopes, stiffness, out
        )
    return lambda rows, slopes, stiffness, out: _dense_moments(rows.values, slopes, stiffness, out)


@njit(cache=True, fastmath=REORDER)
def _dense_dot(row, w):
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j] * w[j]
    return total


@njit(cache=True, fastmath=REORDER)
def _dense_add(row, step, w):
    change = 0.0
    for j in range(row.shape[0]):
        old = w[j]
        new = old + step * row[j]
        w[j] = new
        change += new * new - old * old
    return change


@njit(cache=True, fastmath=REORDER)
def _dense_add_only(row, step, w):
    for j in range(row.shape[0]):
        w[j] += step * row[j]


@njit(cache=True, fastmath=REORDER)
def _dense_moments(values, slopes, stiffness, out):
    pull, mean, square = out[0], out[1], out[2]
    for i in range(values.shape[0]):
        slope, stiff = slopes[i], stiffness[i]
        if stiff > 0.0:  # else the slope is 0 too
            row = values[i]
            for j in range(row.shape[0]):
                pull[j] += slope * row[j]
                mean[j] += stiff * row[j]
                square[j] += stiff * row[j] * row[j]


# Sparse rows are summed in order: vector gathers are slower than plain loads. Unsigned positions spare a test for
# negative ones at every entry. Products are in double precision whatever the weights are in: those in single precision
# need half the cache. What loops over all rows call for each of them is made a part of the loop: a call can take half
# as long as a row.
@njit(cache=True, forceinline=True)
def _sparse_dot(data, indices, indptr, i, w):
    total = 0.0
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        total += np.float64(data[p]) * w[np.uint64(indices[p])]
    return total


@njit(cache=True)
def _sparse_add(data, indices, indptr, i, step, w):
    change = 0.0
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        j = np.uint64(indices[p])
        old = w[j]
        new = old + step * data[p]
        w[j] = new
        change += new * new - old * old
    return change


@njit(cache=True, forceinline=True)
def _sparse_add_only(data, indices, indptr, i, step, w):
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        w[np.uint64(indices[p])] += step * data[p]


@njit(cache=True)
def _sparse_product(data, indices, indptr, i, j, work):
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        work[np.uint64(indices[p])] += data[p]
    total = _sparse_dot(data, indices, indptr, j, work)
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        work[np.uint64(indices[p])] = 0.0
    return total


@njit(cache=True)
def _sparse_square(data, indptr, i):
    total = 0.0
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        total += data[p] * data[p]
    return total


@njit(cache=True)
def _sparse_moments(data, indices, indptr, slopes, stiffness, out):
    beside = np.zeros((out.shape[1], 3))  # the three sums of a column share a line of the cache
    for i in range(slopes.shape[0]):
        slope, stiff = slopes[i], stiffness[i]
        if stiff > 0.0:
            for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                j, value = np.uint64(indices[p]), data[p]
                beside[j, 0] += slope * value
                beside[j, 1] += stiff * value
                beside[j, 2] += stiff * value * value
    out += beside.T


@njit(cache=True, nogil=True)
def scores_of_all(rows, n_rows, w, out):
    """Write the score of every row into ``out``."""
    for i in range(n_rows):
        out[i] = row_dot(rows, i, w)


@njit(cache=True, nogil=True)
def count_wanted(indices, indptr, is_wanted, out):
    """Write how many of the wanted columns each CSR row has."""
    for i in range(indptr.shape[0] - 1):
        n = 0
        for at in range(indptr[i], indptr[i + 1]):
            n += is_wanted[indices[at]]
        out[i] = n


@njit(cache=True, nogil=True)
def copy_rows(data, indices, indptr, numbers, starts, data_out, indices_out):
    """Copy some sparse rows to where they start in other arrays."""
    for a in range(numbers.shape[0]):
        q = np.uint64(starts[a])
        for p in range(np.uint64(indptr[numbers[a]]), np.uint64(indptr[numbers[a] + 1])):
            data_out[q] = data[p]
            indices_out[q] = indices[p]
            q += np.uint64(1)


@njit(cache=True, nogil=True)
def sum_of_rows(rows, n_rows, slopes, out):
    """Add slope times row to ``out`` for every row; rows of slope 0 are not read."""
    for i in range(n_rows):
        if slopes[i] != 0.0:
            add_multiple(rows, i, slopes[i], out)


@njit(cache=True, nogil=True)
def moments_of_rows(rows, slopes, stiffness, out):
    """Add the sums of slope times row, stiffness times row and stiffness times row squared to the rows of ``out``.

    Rows of stiffness 0 have no slope, and are not read.
    """
    add_moments(rows, slopes, stiffness, out)


@njit(cache=True)
def write_products(rows, columns, out):
    """Write inner products of some dense float32 rows with all items into ``out``, column by column.

    Each is the same sum wherever the two items stand: in a matrix product of BLAS its last digits depend on that, and
    copies of one text would no longer be equal. The items are the inner loop, which the compiler vectorises as it is.
    """
    n_items = out.shape[1]
    for i in range(out.shape[0]):
        for q in range(n_items):
            out[i, q] = 0.0
        for j in range(columns.shape[0]):
            value = rows[i, j]
            if value != 0.0:
                for q in range(n_items):
                    out[i, q] += value * columns[j, q]


@njit(cache=True)
def add_similarities(data, indices, indptr, term_data, term_items, term_starts, out):
    """Add inner products of some sparse rows with all items to ``out``, by the items that hold each term."""
    for i in range(out.shape[0]):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j, value = indices[p], data[p]
            for q in range(np.uint64(term_starts[j]), np.uint64(term_starts[j + 1])):
                out[i, np.uint64(term_items[q])] += value * term_data[q]


@njit(cache=True)
def largest_square(rows, n_rows):
    """Largest squared row norm: R² in the mistake bounds."""
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, row_square(rows, i))
    return largest
