"""Cosines of rows to centres, each row by itself: the same bits whatever rows stand beside it, unlike BLAS."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def cosines_to(rows, directions, out):
    """Write the cosine of each dense row to each unit direction into ``out``; 0 for a row of zeros.

    directions : one a column, so that the inner loop runs over neighbours and needs no sum in another order
    """
    for i in range(rows.shape[0]):
        square = 0.0
        out[i] = 0.0
        for d in range(rows.shape[1]):
            value = rows[i, d]
            if value != 0.0:
                square += value * value
                for c in range(directions.shape[1]):
                    out[i, c] += value * directions[d, c]
        if square > 0.0:
            out[i] /= square**0.5
