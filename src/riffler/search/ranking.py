"""The present scores of all items, kept or made when somebody asks: what is best, and what some have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from riffler.engine import Engine, best_of
from riffler.records import BoolArray, FloatArray, IntArray

AT_LEAST = 200  # of the best that are looked for in a pass


class Ranking(Protocol):
    """Scores of every item, the higher the more relevant; it never changes."""

    @property
    def is_kept(self) -> bool:
        """Whether the scores of all items lie in memory anyway."""
        ...

    def all(self) -> FloatArray:
        """Return the score of every item."""
        ...

    def of(self, rows: IntArray) -> FloatArray:
        """Return the scores of some items."""
        ...

    def best(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the highest scores that are not excluded, the best first."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores that are kept.

    >>> Scores(np.array([0.5, 2.0, 1.0])).best(2, np.array([False, True, False]), None).tolist()
    [2, 0]
    """

    values: FloatArray
    is_kept: ClassVar[bool] = True

    def all(self) -> FloatArray:
        """Return the score of every item."""
        return self.values

    def of(self, rows: IntArray) -> FloatArray:
        """Return the scores of some items."""
        some: FloatArray = self.values[rows]
        return some

    def best(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the highest scores that are not excluded, the best first."""
        return best_of(self.values, n, excluded, ties).rows


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a pass over all rows found: the ``n`` best of those that were not excluded."""

    n: int
    excluded: IntArray
    rows: IntArray


class LinearScores:
    """Scores that the rows of an engine have under some weights: nothing as long as all items is kept.

    A pass looks for more than are asked for, so that whoever asks for a few more does not pay for another one.

    >>> from riffler.engine import LocalEngine
    >>> ranking = LinearScores(LocalEngine([np.eye(3)]), np.array([0.5, 2.0, 1.0]), -1.0)
    >>> ranking.best(2, np.array([False, True, False]), None).tolist(), ranking.of(np.array([1])).tolist()
    ([2, 0], [1.0])
    """

    is_kept = False

    def __init__(self, engine: Engine, weights: FloatArray, intercept: float) -> None:
        self._engine, self._weights, self._intercept = engine, weights, intercept
        self._found: _Found | None = None

    def all(self) -> FloatArray:
        """Score every item: one pass over the rows."""
        return self._engine.scores(self._weights, self._intercept)

    def of(self, rows: IntArray) -> FloatArray:
        """Score some items."""
        from riffler._fast.rows import as_rows, scores_of_all

        scores = np.empty(rows.size)
        if rows.size:
            scores_of_all(as_rows(self._engine.rows(rows)), rows.size, self._weights, scores)
        return scores + self._intercept

    def best(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the highest scores that are not excluded; ``ties`` are always the same."""
        numbers = np.flatnonzero(excluded)
        found = self._found
        if found is None or found.n < n or not np.array_equal(found.excluded, numbers):
            wanted = max(n, AT_LEAST)
            rows = self._engine.best(self._weights, wanted, numbers, self._intercept, ties).rows
            self._found = found = _Found(wanted, numbers, rows)
        return found.rows[:n]
