"""Thompson sampling over soft clusters: each cluster's share of relevant items is drawn, not assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riffler.engine import best_of
from riffler.errors import InputError
from riffler.ledger import IRRELEVANT, RELEVANT
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.chances import chances_of
from riffler.search.selection import best_for_draws, live_clusters
from riffler.search.view import SearchView

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True)
class ClusterThompson:
    """Items that look relevant in clusters that may pay: non-stationary Thompson sampling (Renders 2017).

    A cluster k has a conversion rate θ_k ~ Beta(S_k, F_k). After each round, with rewards r_i and memberships μ_ik,

        S_k ← γ S_k + Σ_i r_i μ_ik        F_k ← γ F_k + Σ_i (1 − r_i) μ_ik        S_k = F_k = prior at first.

    For each item of a batch all rates are drawn anew, θ*_k = max(S_k / (S_k + F_k), θ_k), and the item of the largest
    π_i Σ_k μ_ik θ*_k is taken, where π_i is its chance by the classifier. A cluster without members left to
    choose is not drawn. Every answer counts, those known at the start too. While there are no clusters the best scores
    win.

    Parameters
    ----------
    gamma : float in (0, 1]
        Share of the past that a round keeps; 1 forgets nothing.
    optimistic : bool
        Whether a drawn rate is never below its mean.
    prior : float
        S_k and F_k before any answer.
    floor : float
        Least S_k and F_k, as a cluster that is never visited forgets its prior too.
    keep_prior : bool
        Whether the prior is never forgotten.
    draw : bool
        Whether rates are drawn; if not, the mean is taken for all items (nothing is explored).
    steepness : float or None
        π_i = 1 / (1 + exp(−steepness · score)); None calibrates it by the answers (:func:`chances_of`), as margins are
        no logits. With a logistic classifier 1 is the paper's.

    Of six equal scores in three clusters the first was read and is irrelevant, so its cluster waits:

    >>> from scipy import sparse
    >>> from riffler.engine import LocalEngine
    >>> from riffler.search.ranking import Scores
    >>> clusters = sparse.csr_matrix(np.repeat(np.eye(3), 2, axis=0))
    >>> none, first = np.zeros(6), np.array([0])
    >>> view = SearchView(
    ...     LocalEngine([np.eye(6)]), ranking=Scores(none), reviewed=np.arange(6) == 0, items=first, answers=first,
    ...     rounds=first, round=1, rng=np.random.default_rng(0), memberships=clusters,
    ... )
    >>> ClusterThompson(draw=False).propose(view, 4).tolist()
    [2, 3, 4, 5]
    """

    uses_clusters: ClassVar[bool] = True

    gamma: float = 0.99
    optimistic: bool = True
    prior: float = 0.5
    floor: float = 1e-3
    keep_prior: bool = False
    draw: bool = True
    steepness: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1:
            raise InputError(f"gamma must be above 0 and at most 1, got {self.gamma!r}.")
        for name, value in (("prior", self.prior), ("floor", self.floor), ("steepness", self.steepness)):
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value!r}.")

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items, in the order of their draws."""
        if view.memberships is None:
            return view.best(n)
        pool = view.pool(n)
        chances, memberships = chances_of(view, pool, self.steepness), pool.members_of(view.memberships)
        n = min(n, int((~pool.excluded).sum()))
        successes, failures = self.counts(view, view.memberships)
        if not self.draw:
            mean = successes / (successes + failures)
            return pool.items_of(best_of(chances * (memberships @ mean), n, pool.excluded, pool.ties).rows)
        rates = self._rates(successes, failures, n, live_clusters(memberships, pool.excluded), view.rng)
        return pool.items_of(best_for_draws(memberships, chances, rates, pool.excluded, pool.ties))

    def counts(self, view: SearchView, memberships: sparse.csr_matrix) -> tuple[FloatArray, FloatArray]:
        """Return S_k and F_k of every cluster before the view's round."""
        # answers of the last round count in full, each earlier round is discounted once more
        weight = self.gamma ** np.maximum(view.round - 1 - view.rounds, 0)
        prior = self.prior if self.keep_prior else self.prior * self.gamma**view.round
        members = memberships[view.items]
        successes, failures = (
            np.maximum(prior + members.T @ (weight * (view.answers == label)), self.floor)
            for label in (RELEVANT, IRRELEVANT)
        )
        return successes, failures

    def _rates(
        self, successes: FloatArray, failures: FloatArray, n: int, live: BoolArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw the rates of all clusters, a row for each item to come; 0 for exhausted ones."""
        rates = np.zeros((n, live.size))
        drawn = rng.beta(successes[live], failures[live], size=(n, int(live.sum())))
        mean = successes[live] / (successes[live] + failures[live])
        rates[:, live] = np.maximum(drawn, mean) if self.optimistic else drawn
        return rates
