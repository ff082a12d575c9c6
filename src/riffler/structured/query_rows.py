"""The documents of all queries in one matrix, and those of each query by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import IntArray, Matrix, is_sparse
from riffler.structured.row_products import RowProducts


class QueryRows:
    """Rows of queries, checked: one label a row, the same columns, finite values."""

    def __init__(self, X: Sequence[Matrix], Y: Sequence[ArrayLike]) -> None:
        self._parts = rows_of_each(X, Y, "query")
        self.n_columns = self._parts[0].n_columns
        self.starts: IntArray = np.concatenate([[0], np.cumsum([part.n_rows for part in self._parts])])
        self.all = RowProducts(_stacked(X))

    def of(self, query: int) -> RowProducts:
        """Give the rows of one query."""
        return self._parts[query]


def rows_of_each(X: Sequence[Matrix], Y: Sequence[ArrayLike], noun: str) -> list[RowProducts]:
    """Give the rows of each query or set, checked: one label a row, the same columns, finite values."""
    need_one_matrix_each(X, noun)
    need_labels_of_each(Y, noun)
    parts = [RowProducts(x, f"{noun.capitalize()} {number}") for number, x in enumerate(X)]
    for number, (part, y) in enumerate(zip(parts, Y, strict=True)):
        name, n_labels = f"{noun.capitalize()} {number}", len(np.asarray(y))
        if part.n_rows != n_labels:
            raise InputError(f"{name} has {part.n_rows} rows and {n_labels} labels. Label each row.")
        if part.n_columns != parts[0].n_columns:
            raise InputError(f"{name} has {part.n_columns} columns, {noun} 0 has {parts[0].n_columns}.")
        part.need_finite()
    return parts


def need_one_matrix_each(X: Any, noun: str) -> None:  # noqa: ANN401 - what should be a list of matrices
    """Raise where X is a single matrix: its rows would be taken for matrices."""
    if is_sparse(X) or getattr(X, "ndim", 3) == 2:
        raise InputError(f"X is a single matrix, of shape {X.shape}. {_wanted(noun)}")


def need_labels_of_each(Y: Any, noun: str) -> None:  # noqa: ANN401 - what should be a list of label vectors
    """Raise where Y holds single labels."""
    for number, y in enumerate(Y):
        if np.ndim(y) == 0:
            raise InputError(f"The labels of {noun} {number} are a single value, {y!r}. {_wanted(noun)}")


def _wanted(noun: str) -> str:
    return f"Pass a list with one matrix per {noun} and a list with its labels: [X] and [y] where there is one {noun}."


def _stacked(X: Sequence[Matrix]) -> Matrix:
    if all(is_sparse(x) for x in X):
        from scipy import sparse

        return sparse.vstack(list(X), format="csr")
    return np.vstack([x.toarray() if is_sparse(x) else x for x in X])
