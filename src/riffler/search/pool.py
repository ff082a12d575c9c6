"""What a policy chooses among: all items, or between two full scorings the candidates of the last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.ranking import Ranking

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Members of a pool, numbered from 0 in the order of the collection, with what is known of each.

    items : of the collection; None where every item is a member, so that nothing is copied
    scores : of the members
    excluded : members that are not to be chosen
    ties : of the members, as in a view
    """

    ranking: Ranking
    items: IntArray | None
    scores: FloatArray
    excluded: BoolArray
    ties: IntArray | None

    @classmethod
    def of_all(cls, ranking: Ranking, excluded: BoolArray, ties: IntArray | None) -> Pool:
        """Every item; of a collection on disk that is a pass over all rows."""
        return cls(ranking, None, ranking.all(), excluded, ties)

    @classmethod
    def of_some(cls, ranking: Ranking, items: IntArray, ties: IntArray | None) -> Pool:
        """Some items, all of which may be chosen."""
        items = np.sort(items)
        chosen = None if ties is None else ties[items]
        return cls(ranking, items, ranking.of(items), np.zeros(items.size, dtype=bool), chosen)

    def items_of(self, members: IntArray) -> IntArray:
        """Return which items some members are."""
        return members if self.items is None else self.items[members]

    def scores_of(self, items: IntArray) -> FloatArray:
        """Return the scores of any items, members or not."""
        found: FloatArray = self.scores[items] if self.items is None else self.ranking.of(items)
        return found

    def members_of(self, table: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return the members' rows of a table with a row for each item."""
        return table if self.items is None else table[self.items]
