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

    def nearest(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the scores nearest to 0 that are not excluded, the nearest first."""
        ...

    def candidates(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray | None:
        """Return n items or more, not excluded, to choose among; None for all that are not excluded."""
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

    def nearest(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the scores nearest to 0 that are not excluded, the nearest first."""
        return best_of(-np.abs(self.values), n, excluded, ties).rows

    def candidates(self, n: int, excluded: BoolArray, ties: IntArray | None) -> None:
        """Choose among all items."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a pass over all rows found: the first ``n`` of those that were not excluded, in some order."""

    n: int
    excluded: IntArray
    rows: IntArray

    def serves(self, n: int, excluded: IntArray) -> bool:
        """Tell whether the first n are among them."""
        return self.n >= n and np.array_equal(self.excluded, excluded)


class LinearScores:
    """Scores that the rows of an engine have under some weights: nothing as long as all items is kept.

    A pass looks for more than are asked for, so that whoever asks for a few more does not pay for another one. Weights
    are rounded to single precision, sums are not: half the cache is all that a pass over hashed columns waits for.

    >>> from riffler.engine import LocalEngine
    >>> ranking = LinearScores(LocalEngine([np.eye(3)]), np.array([0.5, 2.0, 1.0]), -1.0)
    >>> ranking.best(2, np.array([False, True, False]), None).tolist(), ranking.of(np.array([1])).tolist()
    ([2, 0], [1.0])
    """

    is_kept = False

    def __init__(self, engine: Engine, weights: FloatArray, intercept: float) -> None:
        self._engine, self._intercept = engine, intercept
        self._weights = weights.astype(np.float32)
        self._best: _Found | None = None
        self._nearest: _Found | None = None

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
        if self._best is None or not self._best.serves(n, numbers):
            wanted = max(n, AT_LEAST)
            rows = self._engine.best(self._weights, wanted, numbers, self._intercept, ties).rows
            self._best = _Found(wanted, numbers, rows)
        return self._best.rows[:n]

    def nearest(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n items of the scores nearest to 0 that are not excluded; ``ties`` are always the same."""
        numbers = np.flatnonzero(excluded)
        if self._nearest is None or not self._nearest.serves(n, numbers):
            wanted = max(n, AT_LEAST)
            self._nearest = _Found(wanted, numbers, Scores(self.all()).nearest(wanted, excluded, ties))
        return self._nearest.rows[:n]

    def candidates(self, n: int, excluded: BoolArray, ties: IntArray | None) -> None:
        """Choose among all items."""
