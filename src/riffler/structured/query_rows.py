"""The documents of all queries in one matrix, and those of each query by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riffler.errors import InputError
from riffler.records import IntArray, Matrix, is_sparse
from riffler.structured.row_products import RowProducts


class QueryRows:
    """Rows of queries, checked: one label a row, the same columns, finite values."""

    def __init__(self, X: Sequence[Matrix], n_labels: Sequence[int]) -> None:
        self._parts = [RowProducts(x) for x in X]
        self.n_columns = self._parts[0].n_columns
        for number, (part, n) in enumerate(zip(self._parts, n_labels, strict=True)):
            if part.n_rows != n:
                raise InputError(f"Query {number} has {part.n_rows} rows and {n} labels. Label each row.")
            if part.n_columns != self.n_columns:
                raise InputError(f"Query {number} has {part.n_columns} columns, query 0 has {self.n_columns}.")
            part.need_finite(f"Query {number}")
        self.starts: IntArray = np.concatenate([[0], np.cumsum(n_labels)])
        self.all = RowProducts(_stacked(X))

    def of(self, query: int) -> RowProducts:
        """Give the rows of one query."""
        return self._parts[query]


def _stacked(X: Sequence[Matrix]) -> Matrix:
    if all(is_sparse(x) for x in X):
        from scipy import sparse

        return sparse.vstack(list(X), format="csr")
    return np.vstack([x.toarray() if is_sparse(x) else x for x in X])
