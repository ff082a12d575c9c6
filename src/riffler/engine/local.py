"""The heavy steps of a search on this machine: score every row, keep the best that are not excluded, sum over rows.

A collection is a sequence of blocks of rows; a file is one block. Nothing above knows how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, is_sparse

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """Rows of the highest scores, best first, and their scores."""

    rows: IntArray
    scores: FloatArray


class LocalEngine:
    """Blocks of feature rows, numbered through from 0.

    >>> engine = LocalEngine([np.eye(2), np.ones((1, 2))])
    >>> engine.scores(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0, 3.0]
    >>> engine.best(np.array([1.0, 2.0]), n=1, excluded=np.array([False, False, True])).rows.tolist()
    [1]
    """

    def __init__(self, blocks: Sequence[Matrix]) -> None:
        if not blocks:
            raise InputError("An engine needs at least one block of rows, got none.")
        widths = {block.shape[1] for block in blocks}
        if len(widths) > 1:
            raise InputError(f"All blocks must have the same columns; got blocks of {sorted(widths)} columns.")
        self.blocks = tuple(blocks)
        self.n_columns: int = widths.pop()
        self.starts: IntArray = np.cumsum([0, *(block.shape[0] for block in blocks)])

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return int(self.starts[-1])

    @cached_property
    def blank_rows(self) -> BoolArray:
        """Which rows have no feature at all."""

        def blank(block: Matrix) -> BoolArray:
            none: BoolArray = np.diff(block.indptr) == 0 if is_sparse(block) else ~np.any(block, axis=1)
            return none

        return np.concatenate(self.map(blank))

    def map(self, work: Callable[[Matrix], Part]) -> list[Part]:
        """Apply a function to every block."""
        return [work(block) for block in self.blocks]

    def sum(self, work: Callable[[int, Matrix], FloatArray]) -> FloatArray:
        """Add up what a function makes of each block; it is told the number of the block's first row."""
        parts = [work(int(start), block) for start, block in zip(self.starts[:-1], self.blocks, strict=True)]
        total: FloatArray = np.sum(parts, axis=0)
        return total

    def scores(self, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        """Score every row, by the one compiled row loop: the same whatever blocks the rows lie in."""
        from riffler._fast.rows import as_rows, scores_of_all

        scores = np.empty(self.n_rows)
        for start, stop, block in zip(self.starts[:-1], self.starts[1:], self.blocks, strict=True):
            scores_of_all(as_rows(block), block.shape[0], weights, scores[start:stop])
        scores += intercept
        return scores

    def best(self, weights: FloatArray, n: int, excluded: BoolArray, intercept: float = 0.0) -> Best:
        """Return the n rows of the highest scores that are not excluded."""
        return best_of(self.scores(weights, intercept), n, excluded)

    def rows(self, numbers: IntArray) -> Matrix:
        """Gather some rows, in the order given."""
        if len(self.blocks) == 1 or numbers.size == 0:
            return self.blocks[0][numbers]
        from scipy import sparse

        home = np.searchsorted(self.starts, numbers, side="right") - 1
        order = np.argsort(home, kind="stable")
        pieces = [
            self.blocks[block][numbers[order[home[order] == block]] - self.starts[block]] for block in np.unique(home)
        ]
        together = sparse.vstack(pieces, format="csr") if is_sparse(pieces[0]) else np.vstack(pieces)
        return together[np.argsort(order, kind="stable")]


def best_of(scores: FloatArray, n: int, excluded: BoolArray, ties: IntArray | None = None) -> Best:
    """Return the rows of the n highest scores that are not excluded.

    Of equal scores the one with the lower number in ``ties`` comes first, or the earlier row without them.

    >>> best_of(np.array([1.0, 3.0, 2.0, 3.0]), 2, np.array([False, True, False, False])).rows.tolist()
    [3, 2]
    """
    free = np.flatnonzero(~excluded)
    n = min(n, free.size)
    if n == 0:
        return Best(free[:0], scores[:0])
    values = scores[free]
    cut = np.partition(values, free.size - n)[free.size - n]
    high = free[values >= cut]
    rows = high[np.lexsort((high if ties is None else ties[high], -scores[high]))][:n]
    return Best(rows, scores[rows])
