"""What is run: ways of searching with every choice made, records that can be keys of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from riffler.search import ClusterThompson, Greedy, MaximalMarginalRelevance, Policy, WeightThompson

BUDGET = 0.4
"""Share of the collection that the paper's reviewers read at most."""

LIMIT = 0.7
"""Share after which a run that has not reached the last recall is given up; beyond the budget, so that means exist."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way of searching.

    policy : "greedy", "thompson" (over clusters), "mmr" or "weight-thompson"
    gamma, optimistic, draw, steepness : settings of ``thompson``; the scores are logits, so 1 is the paper's
    relevance : λ of ``mmr``
    n_clusters : topics of the LDA behind its arms
    batch : documents between two fits
    presumed : unread documents, drawn anew before each fit, that are taken for irrelevant
    limit : share of the collection after which a run is given up
    """

    name: str
    policy: str = "thompson"
    gamma: float = 0.99
    optimistic: bool = True
    draw: bool = True
    steepness: float | None = 1.0
    relevance: float = 0.8
    n_clusters: int | None = 200
    batch: int = 100
    presumed: int = 100
    limit: float = LIMIT

    def made(self) -> Policy:
        """Build the policy."""
        match self.policy:
            case "greedy":
                return Greedy()
            case "mmr":
                return MaximalMarginalRelevance(self.relevance)
            case "weight-thompson":
                return WeightThompson(items_per_draw=20)
            case _:
                return ClusterThompson(
                    gamma=self.gamma, optimistic=self.optimistic, draw=self.draw, steepness=self.steepness
                )


GREEDY = Way("greedy", "greedy", n_clusters=None)
THOMPSON = Way("thompson")
CALIBRATED = Way("thompson-calibrated", steepness=None)
MAIN = (GREEDY, THOMPSON, CALIBRATED)
MMR = Way("mmr", "mmr", n_clusters=None)
MILD_MMR = Way("mmr-0.95", "mmr", relevance=0.95, n_clusters=None)
WEIGHTS = Way("weight-thompson", "weight-thompson", n_clusters=None, limit=BUDGET)
ABLATIONS = (
    Way("thompson-as-drawn", optimistic=False),
    Way("thompson-gamma-1", gamma=1.0),
    Way("thompson-mean", draw=False),
    Way("thompson-50", n_clusters=50),
    Way("thompson-100", n_clusters=100),
)
WEAK = (MMR, MILD_MMR, WEIGHTS)
READINGS = (
    Way("greedy-batch-25", "greedy", n_clusters=None, batch=25),
    Way("thompson-batch-25", batch=25),
    Way("greedy-presumed-1000", "greedy", n_clusters=None, presumed=1000),
    Way("thompson-presumed-1000", presumed=1000),
)
ALL = (*MAIN, *ABLATIONS, *WEAK, *READINGS)

WORDS = {
    "greedy": "the best scores",
    "thompson": "the paper's method",
    "thompson-as-drawn": "rates as they are drawn, not at least their mean",
    "thompson-gamma-1": "nothing is forgotten",
    "thompson-mean": "the mean rates and no draw: nothing is explored",
    "thompson-50": "50 clusters",
    "thompson-100": "100 clusters",
    "mmr": "relevant, and unlike what was found; λ = 0.8",
    "mmr-0.95": "the same, λ = 0.95",
    "weight-thompson": "classifier weights drawn from their posterior, anew for every 20 documents",
    "greedy-batch-25": "greedy in batches of 25",
    "thompson-batch-25": "Thompson in batches of 25",
    "greedy-presumed-1000": "greedy with 1,000 presumed negatives",
    "thompson-presumed-1000": "Thompson with 1,000 presumed negatives",
    "thompson-calibrated": "chances calibrated by the answers (Platt)",
}
"""What each way is, in words."""


def smaller(ways: tuple[Way, ...]) -> tuple[Way, ...]:
    """The same ways for a collection of some hundred documents.

    >>> smaller((THOMPSON,))[0].batch, smaller((THOMPSON,))[0].n_clusters, smaller((GREEDY,))[0].n_clusters
    (20, 10, None)
    """
    return tuple(replace(way, batch=20, n_clusters=None if way.n_clusters is None else 10) for way in ways)
