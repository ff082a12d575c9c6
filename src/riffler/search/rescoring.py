"""Two-stage scoring: all items are scored now and then, and between two times only the best of the last time are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Rescoring:
    """When all items are scored.

    every : turns of the policy between two times; 1 scores all items for every proposal, and is exact
    candidates : items, the best of the last time, that are scored between
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
    """All items as they stood when all were scored; their best are looked up when they are first needed.

    seen : items that had an answer then
    """

    def __init__(self, ranking: Ranking, seen: IntArray, candidates: int) -> None:
        self._ranking, self._seen, self._n = ranking, seen, candidates
        self._rows: IntArray | None = None

    def candidates(self, n_items: int, ties: IntArray | None) -> IntArray:
        """Return the best of then."""
        if self._rows is None:
            excluded = np.zeros(n_items, dtype=bool)
            excluded[self._seen] = True
            self._rows = self._ranking.best(self._n, excluded, ties)
        return self._rows


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
        rows = self.stage.candidates(excluded.size, ties)
        rows = rows[~excluded[rows]]
        if rows.size < n:
            return self.present.best(n, excluded, ties)
        order = np.lexsort((rows if ties is None else ties[rows], -self.present.of(rows)))
        return rows[order[:n]]
