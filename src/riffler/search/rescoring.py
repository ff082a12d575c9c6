"""Two-stage scoring: all items are scored now and then, and between two times only the best of the last time are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.engine.candidates import Candidates
from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Rescoring:
    """When all items are scored.

    every : turns of the policy between two times; 1 scores all items for every proposal, and is exact
    candidates : items, the best of the last time, that are scored between; "uncertainty" takes those that were then
        nearest to the border. "mmr" and "thompson" weigh candidates against one another alone. "random" needs no
        scores, and "weight-thompson" goes over all items whatever is said here.
    """

    every: int = 1
    candidates: int = 10_000

    def __post_init__(self) -> None:
        if self.every < 1 or self.candidates < 1:
            raise InputError(
                f"every and candidates of a rescoring must be at least 1, got {self.every!r} and {self.candidates!r}."
            )

    def is_due(self, turn: int) -> bool:
        """Tell whether all items are scored for the proposals of a turn."""
        return turn % self.every == 0


class Stage:
    """All items as they stood when all were scored; what stood out among them is looked up when it is first needed.

    seen : items that had an answer then
    """

    def __init__(self, ranking: Ranking, seen: IntArray, candidates: int) -> None:
        self._ranking, self._seen, self._n = ranking, seen, candidates
        self._best: IntArray | None = None
        self._nearest: IntArray | None = None

    def best(self, n_items: int, ties: IntArray | None) -> IntArray:
        """Return the best of then."""
        if self._best is None:
            self._best = self._ranking.best(self._n, self._excluded(n_items), ties)
        return self._best

    def nearest(self, n_items: int, ties: IntArray | None) -> IntArray:
        """Return those that were nearest to the border then."""
        if self._nearest is None:
            self._nearest = self._ranking.nearest(self._n, self._excluded(n_items), ties)
        return self._nearest

    def _excluded(self, n_items: int) -> BoolArray:
        excluded = np.zeros(n_items, dtype=bool)
        excluded[self._seen] = True
        return excluded


@dataclass(frozen=True, slots=True, eq=False)
class CandidateScores:
    """Present scores, of which only those of some candidates are compared while enough of these are left."""

    present: Ranking
    stage: Stage

    @property
    def is_kept(self) -> bool:
        """Whether the scores of all items lie in memory anyway."""
        return self.present.is_kept

    def all(self) -> FloatArray:
        """Return the score of every item."""
        return self.present.all()

    def of(self, rows: IntArray) -> FloatArray:
        """Return the scores of some items."""
        return self.present.of(rows)

    def best(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n candidates of the highest scores that are not excluded; of all items where they are too few."""
        rows = _left(self.stage.best(excluded.size, ties), excluded)
        if rows.size < n:
            return self.present.best(n, excluded, ties)
        return _highest(n, rows, self.present.of(rows), ties)

    def nearest(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray:
        """Return the n candidates nearest to the border that are not excluded; of all items where they are too few."""
        rows = _left(self.stage.nearest(excluded.size, ties), excluded)
        if rows.size < n:
            return self.present.nearest(n, excluded, ties)
        return _highest(n, rows, -np.abs(self.present.of(rows)), ties)

    def candidates(self, n: int, excluded: BoolArray, ties: IntArray | None) -> IntArray | None:
        """Return the candidates that are not excluded; None, which stands for all items, where they are too few."""
        rows = _left(self.stage.best(excluded.size, ties), excluded)
        return None if rows.size < n else rows


def _left(rows: IntArray, excluded: BoolArray) -> IntArray:
    return rows[~excluded[rows]]


def _highest(n: int, rows: IntArray, values: FloatArray, ties: IntArray | None) -> IntArray:
    return Candidates(rows, values, rows if ties is None else ties[rows]).best(n).rows
