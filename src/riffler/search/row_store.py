"""Rows of a collection gathered for training: each is copied once, however often the model is fitted on it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from riffler.engine import Engine
from riffler.records import FloatArray, IntArray, is_sparse


class RowStore:
    """Gathers rows at the end of buffers that double when they are full.

    >>> from riffler.engine import LocalEngine
    >>> store = RowStore(LocalEngine([np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])]))
    >>> store.places(np.array([2, 0])).tolist(), store.places(np.array([0, 1])).tolist(), store.n_rows
    ([0, 1], [1, 2], 3)
    >>> store.squares.tolist()
    [61.0, 5.0, 25.0]
    """

    def __init__(self, engine: Engine) -> None:
        from riffler._fast.rows import CsrRows, DenseRows

        self._engine = engine
        self.n_weights = engine.n_columns
        self._numbers: IntArray = np.empty(0, dtype=np.int64)  # of the rows gathered, rising
        self._places: IntArray = np.empty(0, dtype=np.int64)  # where each stands
        self.n_rows = 0
        self._squares: FloatArray = np.empty(0)
        none = engine.rows(np.empty(0, dtype=np.int64))
        self._rows: Any = DenseRows(none) if not is_sparse(none) else None
        if is_sparse(none):
            self._rows = CsrRows(none.data, none.indices.astype(np.int32), np.zeros(1, dtype=np.int64))

    @property
    def rows(self) -> Any:  # noqa: ANN401 - a tuple of arrays for the compiled loops
        """The rows gathered so far, in the order in which they came."""
        return self._rows

    @property
    def squares(self) -> FloatArray:
        """Squared norm of each row gathered."""
        return self._squares[: self.n_rows]

    def places(self, numbers: IntArray) -> IntArray:
        """Return where rows of the collection stand here; new ones join at the end."""
        numbers = numbers.astype(np.int64)
        after = np.searchsorted(self._numbers, numbers, side="right")
        is_here = np.concatenate([[-1], self._numbers])[after] == numbers
        if not is_here.all():
            self._gather(numbers[~is_here])
            after = np.searchsorted(self._numbers, numbers, side="right")
        return self._places[after - 1]

    def copy(self) -> RowStore:
        """Return a store that goes on by itself; rows are shared, as they never change."""
        twin = copy(self)
        twin._squares = self._squares[: self.n_rows]
        # buffers without room: what the twin gathers goes into new ones
        if hasattr(self._rows, "indptr"):
            filled = int(self._rows.indptr[self.n_rows])
            data, indices, indptr = self._rows
            twin._rows = self._rows._replace(
                data=data[:filled], indices=indices[:filled], indptr=indptr[: self.n_rows + 1]
            )
        else:
            twin._rows = self._rows._replace(values=self._rows.values[: self.n_rows])
        return twin

    def scores(self, weights: FloatArray) -> FloatArray:
        """Score every row of the collection; the last weight is the intercept."""
        return self._engine.scores(weights[:-1], float(weights[-1]))

    def _gather(self, new: IntArray) -> None:
        from riffler._fast.dual import squares_of_all
        from riffler._fast.rows import as_rows

        block = self._engine.rows(new)
        squares = np.empty(new.size)
        squares_of_all(as_rows(block), new.size, squares)
        before, self.n_rows = self.n_rows, self.n_rows + new.size
        self._squares = appended(self._squares, before, squares)
        rising = np.argsort(new)
        gaps = np.searchsorted(self._numbers, new[rising])
        self._numbers, self._places = (
            np.insert(self._numbers, gaps, new[rising]),
            np.insert(self._places, gaps, before + rising),
        )
        if not is_sparse(block):
            self._rows = self._rows._replace(values=appended(self._rows.values, before, block))
            return
        filled = int(self._rows.indptr[before])
        self._rows = self._rows._replace(
            data=appended(self._rows.data, filled, block.data),
            indices=appended(self._rows.indices, filled, block.indices),
            indptr=appended(self._rows.indptr, before + 1, filled + block.indptr[1:].astype(np.int64)),
        )


def appended(buffer: Any, n_filled: int, more: Any) -> Any:  # noqa: ANN401 - arrays of any kind
    """Write ``more`` behind the first ``n_filled`` entries; into a larger buffer where it does not fit."""
    needed = n_filled + len(more)
    if needed > len(buffer):
        larger = np.empty((max(needed, 2 * len(buffer)), *buffer.shape[1:]), dtype=buffer.dtype)
        larger[:n_filled] = buffer[:n_filled]
        buffer = larger
    buffer[n_filled:needed] = more
    return buffer
