"""The walks of the online learners: on to the next row that must be looked at, and no further.

A margin is ``row . v + offset``; centring, scaling and the weight of the constant are folded into v and offset.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from riffler._fast.rows import CsrRows, _kind, row_dot


def scaled_square(rows, i, center, scale):
    """Squared norm of row i after its columns were shifted by center and divided by scale; no shift if sparse."""


@overload(scaled_square)
def _scaled_square(rows, i, center, scale):
    if _kind(rows) is CsrRows:
        return lambda rows, i, center, scale: _sparse_square(rows.data, rows.indices, rows.indptr, i, scale)
    return lambda rows, i, center, scale: _dense_square(rows.values[i], center, scale)


@njit(cache=True)
def _dense_square(row, center, scale):
    total = 0.0
    for j in range(row.shape[0]):
        value = (row[j] - center[j]) / scale[j]
        total += value * value
    return total


@njit(cache=True)
def _sparse_square(data, indices, indptr, i, scale):
    total = 0.0
    for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        value = data[p] / scale[np.uint64(indices[p])]
        total += value * value
    return total


@njit(cache=True)
def scaled_squares(rows, center, scale, out):
    """Write the squared norm of every scaled row into ``out``."""
    for i in range(out.shape[0]):
        out[i] = scaled_square(rows, i, center, scale)


@njit(cache=True)
def next_drawn(rows, start, v, offset, b, growth, draws):
    """Walk from row ``start`` to the first whose draw lies below ``b / (b + |margin|)``, with b = growth * b[row].

    Returns that row (the number of rows if there is none), its margin and its probability.
    """
    for i in range(start, draws.shape[0]):
        margin = row_dot(rows, i, v) + offset
        # this form holds for an infinite b too
        probability = 1.0 / (1.0 + abs(margin) / (growth * b[i]))
        if draws[i] < probability:
            return i, margin, probability
    return draws.shape[0], 0.0, 0.0


@njit(cache=True)
def next_near(rows, start, v, offset, norms, threshold):
    """Walk from row ``start`` to the first whose margin, over its norm, is at most ``threshold`` in size.

    Returns that row (the number of rows if there is none) and its margin over its norm.
    """
    for i in range(start, norms.shape[0]):
        margin = (row_dot(rows, i, v) + offset) / norms[i]
        if abs(margin) <= threshold:
            return i, margin
    return norms.shape[0], 0.0


@njit(cache=True)
def next_mistake(rows, order, start, signs, v, offset):
    """Walk on from ``order[start]`` to the first row whose margin has not the sign of its label.

    Returns its place in ``order`` (the length of it if there is none) and its margin.
    """
    for a in range(start, order.shape[0]):
        margin = row_dot(rows, order[a], v) + offset
        if signs[order[a]] * margin <= 0.0:
            return a, margin
    return order.shape[0], 0.0
