"""The policy that a user gets: the best first, and other ways where the answers show that the best is not good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT
from riffler.records import BoolArray, IntArray
from riffler.search.view import SearchView


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Greedy, with two escapes that cost nothing while it goes well.

    *Blank items* (no words that anything shares) all have the same score, so no ranking finds the relevant ones among
    them. They are an arm of their own. Its yield is estimated by the finds among the last ``window`` of it that were
    read, and by the prevalence found so far, which counts as ``doubt`` items. It is served once that is more than what
    the last ``window`` other items yielded.

    *A bad start.* While nothing relevant is known and ``patience`` answers were in vain, every other item is drawn at
    random instead of by the description.

    >>> from riffler.engine import LocalEngine
    >>> from riffler.search.ranking import Scores
    >>> answers = np.zeros(60, dtype=int)
    >>> answers[:10] = 1
    >>> rows = np.ones((100, 1))
    >>> rows[90:] = 0.0
    >>> view = SearchView(
    ...     LocalEngine([rows]), ranking=Scores(np.zeros(100)), reviewed=np.arange(100) < 60, items=np.arange(60),
    ...     answers=answers, rounds=np.arange(60), round=60, rng=np.random.default_rng(0),
    ... )
    >>> Adaptive().propose(view, 3).tolist()  # the last 50 found nothing
    [90, 91, 92]
    """

    window: int = 50
    doubt: float = 2.0
    patience: int = 10

    def __post_init__(self) -> None:
        if self.window < 1 or self.patience < 0:
            raise InputError(
                f"window must be at least 1 and patience at least 0, got {self.window!r} and {self.patience!r}."
            )
        if not self.doubt > 0:
            raise InputError(f"doubt must be above 0, got {self.doubt!r}.")

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return the best n of the arm that yields most, or some at random while nothing is found."""
        if view.relevant.size == 0 and view.items.size >= self.patience:
            return self._half_at_random(view, n)
        blank = view.engine.blank_rows
        open_blanks = blank & ~view.reviewed
        first, others = (blank, ~blank) if self._blanks_yield_more(view, blank) else (~blank, blank)
        if not open_blanks.any():
            return view.best(n)
        chosen = view.best(n, view.reviewed | ~first)
        if chosen.size < n:
            rest = view.best(n - chosen.size, view.reviewed | ~others)
            chosen = np.concatenate([chosen, rest])
        return chosen

    def _blanks_yield_more(self, view: SearchView, blank: BoolArray) -> bool:
        found, in_blanks = view.answers == RELEVANT, blank[view.items]
        ranked = found[~in_blanks][-self.window :]
        if ranked.size < self.window:
            return False
        drawn = found[in_blanks][-self.window :]
        prevalence = view.relevant.size / view.reviewed.size
        return bool((drawn.sum() + self.doubt * prevalence) / (drawn.size + self.doubt) > ranked.mean())

    def _half_at_random(self, view: SearchView, n: int) -> IntArray:
        """Alternate between the scores and a random order; which comes first depends on how many are answered."""
        n = min(n, int((~view.reviewed).sum()))
        sides = [view.best(n), self._at_random(view, n)]
        if view.items.size % 2:
            sides.reverse()
        alternating = np.column_stack(sides).ravel().tolist()
        return np.array(list(dict.fromkeys(alternating))[:n], dtype=np.int64)

    def _at_random(self, view: SearchView, n: int) -> IntArray:
        """The first n in the order of the ties."""
        free = np.flatnonzero(~view.reviewed)
        if view.ties is None or n == 0:
            return free[:n]
        first = free[np.argpartition(view.ties[free], n - 1)[:n]]
        return first[np.argsort(view.ties[first])]
