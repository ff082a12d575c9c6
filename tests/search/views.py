"""Views of made-up searches, for the tests of policies."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.records import IntArray
from riffler.search import SearchView
from riffler.search.ranking import Scores


def random_memberships(rng: np.random.Generator, n_items: int, n_clusters: int) -> sparse.csr_matrix:
    """Rows that sum to 1 with about half of the clusters; some rows have one cluster alone."""
    shares = rng.random((n_items, n_clusters)) * (rng.random((n_items, n_clusters)) < 0.5)
    alone = rng.random(n_items) < 0.3
    shares[alone] = 0.0
    empty = ~shares.any(axis=1)
    shares[empty, rng.integers(n_clusters, size=int(empty.sum()))] = 1.0
    return sparse.csr_matrix((shares / shares.sum(axis=1, keepdims=True)).astype(np.float32))


def random_view(
    seed: int = 0,
    n_items: int = 60,
    n_answered: int = 12,
    n_clusters: int = 5,
    *,
    clustered: bool = True,
    scored: bool = True,
    relevant: bool = True,
    dense: bool = False,
) -> SearchView:
    """Give a view of a search in its fifth round; the same arguments give the same view, random numbers included."""
    rng = np.random.default_rng(seed)
    rows = np.abs(rng.normal(size=(n_items, 8))) * (rng.random((n_items, 8)) < 0.5)
    items: IntArray = rng.permutation(n_items)[:n_answered]
    answers = rng.integers(-1, 2, size=n_answered)
    answers[:1] = 1
    reviewed = np.zeros(n_items, dtype=bool)
    reviewed[items] = True
    scores = np.round(rng.normal(size=n_items), 1)  # some are equal
    memberships = random_memberships(rng, n_items, n_clusters)
    return SearchView(
        engine=LocalEngine([rows if dense else sparse.csr_matrix(rows.astype(np.float32))]),
        ranking=Scores(scores if scored else np.zeros(n_items)),
        reviewed=reviewed,
        items=items,
        answers=answers if relevant else np.minimum(answers, 0),
        rounds=np.sort(rng.integers(0, 4, size=n_answered)),
        round=4,
        rng=np.random.default_rng([seed, 5]),
        ties=rng.permutation(n_items),
        memberships=memberships if clustered else None,
    )
