"""The plain policies: the best first, the least certain first, any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.records import IntArray
from riffler.search.view import SearchView


@dataclass(frozen=True, slots=True)
class Greedy:
    """The highest scores first: continuous active learning."""

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return the best n."""
        return view.best(n)


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The scores nearest to the border between relevant and irrelevant first."""

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return the n least certain."""
        return view.nearest(n)


@dataclass(frozen=True, slots=True)
class Random:
    """Any item: what reading in no order costs."""

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return n items at random."""
        free = np.flatnonzero(~view.reviewed)
        if view.ties is not None:  # so that the order of the collection makes no difference
            free = free[np.argsort(view.ties[free])]
        return view.rng.permutation(free)[:n]
