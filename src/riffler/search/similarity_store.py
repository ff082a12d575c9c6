"""Rows gathered for training as similarities to every item: no pass over the features is left in a fit or a scoring.

A small collection has room for the inner products of each labelled row with all items. The scores of all items are then
kept up to date by each step of the descent itself, which makes a search that learns after every answer several times
faster. It costs 4 bytes for each labelled row and item.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from riffler.engine import Engine
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.search.row_store import appended

MOST_BYTES = 128 * 2**20
COMMON = 0.5  # share of the rows that must have a column for it to be kept dense


class SimilarityStore:
    """Gathers rows of similarities at the end of buffers that double when they are full.

    >>> from riffler.engine import LocalEngine
    >>> store = SimilarityStore(LocalEngine([np.array([[1.0, 2.0], [3.0, 4.0]])]))
    >>> store.places(np.array([1])).tolist(), store.rows.values[0].tolist()
    ([0], [11.0, 25.0])
    """

    def __init__(self, engine: Engine) -> None:
        from riffler._fast.rows import SimilarRows

        self._common, self._rare = _parted(engine.rows(np.arange(engine.n_rows)))
        self._items = None if self._rare is None else self._rare.tocsc()
        self._place: IntArray = np.full(engine.n_rows, -1, dtype=np.int32)
        self.n_rows, self.n_weights = 0, engine.n_rows
        self._squares: FloatArray = np.empty(0)
        self._rows: Any = SimilarRows(np.empty((0, engine.n_rows), dtype=np.float32), np.empty(0, dtype=np.int64))

    @property
    def rows(self) -> Any:  # noqa: ANN401 - a tuple of arrays for the compiled loops
        """The rows gathered so far, in the order in which they came."""
        return self._rows

    @property
    def numbers(self) -> IntArray:
        """Rows of the collection that are gathered."""
        numbers: IntArray = self._rows.numbers[: self.n_rows]
        return numbers

    @property
    def squares(self) -> FloatArray:
        """Squared norm of each row gathered."""
        return self._squares[: self.n_rows]

    @property
    def full(self) -> bool:
        """Whether the rows have outgrown their room."""
        return 4 * self.n_rows * self.n_weights > MOST_BYTES

    def places(self, numbers: IntArray) -> IntArray:
        """Return where rows of the collection stand here; new ones join at the end."""
        new = numbers[self._place[numbers] < 0]
        if new.size:
            before, self.n_rows = self.n_rows, self.n_rows + new.size
            similar = self._similar(new)
            self._place[new] = np.arange(before, self.n_rows)
            self._squares = appended(self._squares, before, similar[np.arange(new.size), new].astype(float))
            self._rows = self._rows._replace(
                values=appended(self._rows.values, before, similar),
                numbers=appended(self._rows.numbers, before, new),
            )
        return self._place[numbers].astype(np.int64)

    def copy(self) -> SimilarityStore:
        """Return a store that goes on by itself; rows are shared, as they never change."""
        twin = copy(self)
        twin._place, twin._squares = self._place.copy(), self._squares[: self.n_rows]
        # buffers without room: what the twin gathers goes into new ones
        twin._rows = self._rows._replace(
            values=self._rows.values[: self.n_rows], numbers=self._rows.numbers[: self.n_rows]
        )
        return twin

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return the scores of all items: here they are the weights."""
        scores: FloatArray = weights[:-1] + weights[-1]
        return scores

    def _similar(self, new: IntArray) -> FloatArray:
        """Inner products of some rows with all: of common columns one by one, of rare ones by who has them."""
        from riffler._fast.rows import add_similarities, write_products

        out: FloatArray = np.empty((new.size, self.n_weights), dtype=np.float32)
        write_products(np.ascontiguousarray(self._common[:, new].T), self._common, out)
        if self._rare is not None and self._items is not None:
            rows, items = self._rare[new], self._items
            add_similarities(rows.data, rows.indices, rows.indptr, items.data, items.indices, items.indptr, out)
        return out


def _parted(X: Matrix) -> tuple[FloatArray, Matrix | None]:
    """Columns that most rows have, dense and float32, a row for each; and the others, None where X is dense."""
    if not is_sparse(X):
        return np.ascontiguousarray(X.T, dtype=np.float32), None
    by_column = X.tocsc()
    common = np.diff(by_column.indptr) > X.shape[0] * COMMON
    dense = np.ascontiguousarray(by_column[:, common].toarray().T, dtype=np.float32)
    return dense, by_column[:, ~common].tocsr()
