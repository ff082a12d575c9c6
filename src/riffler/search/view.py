"""What a policy sees: scores, what is known, the round, and random numbers; and what it does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riffler.engine import LocalEngine
from riffler.records import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SearchView:
    """The state of a search before a suggestion.

    engine : feature rows of the collection
    scores : of every item, the higher the more relevant; all 0 while nothing relevant is known
    reviewed : items that have an answer, or are out of the question
    relevant : items that were found relevant
    round : number of answers given before, in batches
    rng : random numbers keyed by seed and round
    """

    engine: LocalEngine
    scores: FloatArray
    reviewed: BoolArray
    relevant: IntArray
    round: int
    rng: np.random.Generator


class Policy(Protocol):
    """Says which items to review next."""

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items that are not reviewed, the most urgent first."""
        ...
