"""Sequences of rows, all in one matrix: what chains learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.records import IntArray, Matrix, is_sparse


class Sequences(Sequence[Any]):
    """Matrices one below the other; item i is the matrix of sequence i, a view where rows are dense.

    >>> two = Sequences(np.arange(6.0).reshape(3, 2), lengths=[2, 1])
    >>> len(two), two[1].tolist()
    (2, [[4.0, 5.0]])
    """

    def __init__(self, rows: Matrix, lengths: ArrayLike) -> None:
        self.rows = rows.tocsr() if is_sparse(rows) else np.ascontiguousarray(rows)
        sizes = np.asarray(lengths, dtype=np.int64)
        if sizes.ndim != 1 or (sizes < 0).any() or sizes.sum() != self.rows.shape[0]:
            raise InputError(
                f"lengths must be counts that sum to the {self.rows.shape[0]} rows, they sum to {sizes.sum()}. "
                "Pass the number of rows of each sequence."
            )
        self.starts: IntArray = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @classmethod
    def of(cls, matrices: Sequence[Any]) -> Sequences:
        """Put matrices one below the other, dense or sparse; sequences of length 0 are allowed."""
        if isinstance(matrices, cls):
            return matrices
        checked = [_matrix(number, one) for number, one in enumerate(matrices)]
        widths = {one.shape[1] for one in checked if one.shape[0]}
        if len(widths) > 1:
            raise InputError(f"Sequences have {sorted(widths)} columns. All rows need the same columns.")
        filled = [one for one in checked if one.shape[0]] or [np.empty((0, 0))]
        if any(is_sparse(one) for one in filled):
            from scipy.sparse import vstack

            rows: Matrix = vstack(filled, format="csr")
        else:
            rows = np.vstack(filled)
        return cls(rows, [one.shape[0] for one in checked])

    @property
    def lengths(self) -> IntArray:
        """The number of rows of each sequence."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, number: int) -> Any: ...  # noqa: ANN401 - a matrix
    @overload
    def __getitem__(self, number: slice) -> Sequences: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return self.some(range(len(self))[number])
        if not -len(self) <= number < len(self):
            raise IndexError(f"There are {len(self)} sequences, number {number} is not among them.")
        place = number % len(self)
        return self.rows[self.starts[place] : self.starts[place + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))

    def some(self, numbers: Sequence[int] | IntArray) -> Sequences:
        """Give some of the sequences, in this order."""
        chosen = np.asarray(numbers, dtype=np.int64)
        rows = [np.arange(self.starts[number], self.starts[number + 1]) for number in chosen]
        every = np.concatenate(rows) if rows else np.empty(0, np.int64)
        return Sequences(self.rows[every], self.lengths[chosen])


def _matrix(number: int, one: Any) -> Matrix:  # noqa: ANN401 - whatever the user passed
    matrix = one if is_sparse(one) else np.asarray(one)
    if matrix.ndim == 1 and matrix.size == 0:
        return np.empty((0, 0))
    if matrix.ndim != 2:
        raise InputError(
            f"Sequence {number} has shape {matrix.shape}. Pass a matrix with a row for each position of the sequence."
        )
    return matrix
