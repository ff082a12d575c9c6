"""Several policies that share a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riffler.errors import InputError
from riffler.records import IntArray
from riffler.search.policies import Greedy, Random
from riffler.search.view import Policy, SearchView

GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, slots=True)
class Mix:
    """Each policy chooses its share of the items, interleaved; what one has chosen the others skip.

    The t-th item of the review is chosen by the policy on whose piece of [0, 1) the point t · 0.618... (mod 1) falls:
    these points spread evenly, so shares are kept over any stretch of the review and with batches of one item too.

    Parameters
    ----------
    parts : pairs of a policy and its share
        Shares are above 0; only their ratios count.

    >>> from riffler.engine import LocalEngine
    >>> from riffler.search.ranking import Scores
    >>> none = np.empty(0, dtype=np.int64)
    >>> view = SearchView(
    ...     LocalEngine([np.eye(9)]), ranking=Scores(np.arange(9.0)), reviewed=np.arange(9) == 8, items=none,
    ...     answers=none, rounds=none, round=0, rng=np.random.default_rng(0),
    ... )
    >>> Mix([(Greedy(), 0.8), (Random(), 0.2)]).propose(view, 5).tolist()  # the third is anybody's
    [7, 6, 3, 5, 4]
    """

    parts: Sequence[tuple[Policy, float]] = ((Greedy(), 0.9), (Random(), 0.1))

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("A mix needs at least one policy, got none.")
        for policy, share in self.parts:
            if not 0 < share < float("inf"):
                raise InputError(f"The share of a policy must be above 0, got {share!r} for {policy!r}.")

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items, each by the policy whose turn it is."""
        # with n from each, a policy has enough left whatever the others take; each has random numbers of its own
        waiting = [
            policy.propose(replace(view, rng=rng), n).tolist()[::-1]
            for (policy, _), rng in zip(self.parts, view.rng.spawn(len(self.parts)), strict=True)
        ]
        chosen: dict[int, None] = {}
        for turn in self._turns(view.items.size, n).tolist():
            # where a policy has nothing more to propose, the others take its turn
            for rows in [waiting[turn], *waiting]:
                while rows and rows[-1] in chosen:
                    rows.pop()
                if rows:
                    chosen[rows.pop()] = None
                    break
        return np.array(list(chosen), dtype=np.int64)

    def _turns(self, start: int, n: int) -> IntArray:
        """Which policy chooses each of the n items after the first ``start``."""
        shares = np.array([share for _, share in self.parts])
        ends = np.cumsum(shares)[:-1] / shares.sum()
        turns: IntArray = np.searchsorted(ends, np.arange(start + 1, start + n + 1) * GOLDEN % 1.0, side="right")
        return turns
