"""Rows that may be among the best, and how they are put in order: by score, then by tie rank, then by number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from riffler.engine.base import Best
from riffler.records import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Some rows in no order, their scores and tie ranks."""

    rows: IntArray
    scores: FloatArray
    ties: IntArray

    @classmethod
    def room_for(cls, n: int) -> Candidates:
        """Arrays to be filled."""
        return cls(np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))

    @classmethod
    def none(cls) -> Candidates:
        """No rows."""
        return cls.room_for(0)

    @classmethod
    def together(cls, parts: Iterable[Candidates]) -> Candidates:
        """The rows of all parts."""
        all_of = [cls.none(), *parts]
        arrays = ([getattr(part, name) for part in all_of] for name in ("rows", "scores", "ties"))
        return cls(*(np.concatenate(array) for array in arrays))

    def first(self, n: int) -> Candidates:
        """The first n entries."""
        return Candidates(self.rows[:n], self.scores[:n], self.ties[:n])

    def moved(self, by: int) -> Candidates:
        """The same where rows are counted from elsewhere."""
        return Candidates(self.rows + by, self.scores, self.ties)

    def best(self, n: int) -> Best:
        """The n best, the best first; a row that is there twice counts once."""
        order = np.lexsort((self.rows, self.ties, -self.scores))
        order = order[np.diff(self.rows[order], prepend=-1) != 0][: max(n, 0)]  # the same rows are neighbours
        return Best(self.rows[order], self.scores[order])


def best_of(scores: FloatArray, n: int, excluded: BoolArray, ties: IntArray | None = None) -> Best:
    """Return the rows of the n highest scores that are not excluded; a row without a score (NaN) is none of them.

    Of equal scores the one with the lower number in ``ties`` comes first, or the earlier row without them.

    >>> best_of(np.array([1.0, 3.0, 2.0, 3.0]), 2, np.array([False, True, False, False])).rows.tolist()
    [3, 2]
    """
    free = np.flatnonzero(~(excluded | np.isnan(scores)))
    n = min(n, free.size)
    if n <= 0:
        return Best(free[:0], scores[:0])
    values = scores[free]
    cut = np.partition(values, free.size - n)[free.size - n]
    high = free[values >= cut]
    rows = high[np.lexsort((high if ties is None else ties[high], -scores[high]))][:n]
    return Best(rows, scores[rows])
