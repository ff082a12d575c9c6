"""Counts of terms to weights: the same numbers as ``terms.write_rows`` makes, from rows that are there already."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def weigh_rows(indptr, indices, counts, idf, sublinear, unit_length, values):
    """Write (1 + log count, or the count) * idf of each entry; rows are divided by their length on request."""
    for row in range(indptr.shape[0] - 1):
        square = 0.0
        for e in range(indptr[row], indptr[row + 1]):
            column = indices[e]
            count = int(counts[e])
            weight = float(count) * idf[column]
            if sublinear:
                weight = idf[column] if count == 1 else (1.0 + math.log(count)) * idf[column]
            values[e] = weight
            square += weight * weight
        if unit_length and square > 0.0:
            scale = 1.0 / math.sqrt(square)
            for e in range(indptr[row], indptr[row + 1]):
                values[e] *= scale


@njit(cache=True, nogil=True)
def count_columns(indices, n_rows):
    """Add to ``n_rows`` the number of rows that each column is in; a row has a column once."""
    for e in range(indices.shape[0]):
        n_rows[indices[e]] += 1
