"""What a policy sees: features, scores, clusters, history, the round and random numbers; and what it does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riffler.engine import Engine
from riffler.ledger import RELEVANT
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.pool import Pool
from riffler.search.ranking import Ranking

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class SearchView:
    """The state of a search before a suggestion.

    engine : feature rows of the collection
    ranking : scores of every item, the higher the more relevant; all 0 while nothing relevant is known
    reviewed : items that have an answer, or are out of the question
    items, answers, rounds : what was answered, in the order of the answers; -1 means "don't know"
    round : number of batches that the policy learned from
    rng : random numbers keyed by seed and round
    ties : rank of every item in a random order, by which equal scores are told apart
    hint : scores of every item by the description of what is sought; None without one, or for a collection on disk
    memberships : of every item in soft clusters, rows sum to 1; None while there are none
    """

    engine: Engine
    ranking: Ranking
    reviewed: BoolArray
    items: IntArray
    answers: IntArray
    rounds: IntArray
    round: int
    rng: np.random.Generator
    ties: IntArray | None = None
    hint: FloatArray | None = None
    memberships: sparse.csr_matrix | None = None

    @property
    def scores(self) -> FloatArray:
        """Score of every item; of a collection on disk that is a pass over all rows, and an array as long."""
        return self.ranking.all()

    def best(self, n: int, excluded: BoolArray | None = None) -> IntArray:
        """Return the n items of the highest scores that are not excluded, or not reviewed where nothing is said."""
        return self.ranking.best(n, self.reviewed if excluded is None else excluded, self.ties)

    def nearest(self, n: int) -> IntArray:
        """Return the n items that are not reviewed whose scores are nearest to the border, the nearest first."""
        return self.ranking.nearest(n, self.reviewed, self.ties)

    def pool(self, n: int) -> Pool:
        """Return the items to choose n among: all, or the candidates of the last full scoring."""
        items = self.ranking.candidates(n, self.reviewed, self.ties)
        if items is None:
            return Pool.of_all(self.ranking, self.reviewed, self.ties)
        return Pool.of_some(self.ranking, items, self.ties)

    @property
    def relevant(self) -> IntArray:
        """Items that were found relevant, the first found first."""
        found: IntArray = self.items[self.answers == RELEVANT]
        return found


class Policy(Protocol):
    """Says which items to review next. It keeps no state: the same view gives the same proposal."""

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items that are not reviewed, the most urgent first."""
        ...
