"""Clusters of a search: fitted in the background, joined at a recorded round, and joined there again by a replay."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from riffler import InputError, UnknownName
from riffler.features.clusters import METHODS, soft_clusters
from riffler.ledger import Event, Ledger
from riffler.search.arms import search_clusters
from riffler.search.features import search_features
from riffler.search.loop import ActiveSearch
from tests.search.test_loop import library, reviewed


def joined(search: ActiveSearch) -> Event:
    """Ask for suggestions until the clusters are there."""
    for _ in range(600):
        search.suggest(1)
        if search.ledger.events:
            return search.ledger.events[0]
        time.sleep(0.1)
    raise AssertionError("The clusters did not join within a minute.")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_clusters_join_at_a_recorded_round_and_a_replay_is_exact(method: str) -> None:
    collection, truth = library()
    settings: dict[str, Any] = {"policy": "thompson", "clusters": method, "seed": 2}
    search = ActiveSearch(collection, **settings)
    reviewed(search, truth, n_rounds=1)
    before = len(search.ledger)
    event = joined(search)
    assert event.name == "clusters"
    assert event.round <= 1  # answers of rounds before it came without clusters
    reviewed(search, truth, n_rounds=4)
    assert len(search.ledger) == before + 20
    again = ActiveSearch.replay(collection, search.ledger, **settings)
    assert again.ledger.events == search.ledger.events
    assert again.suggest(20) == search.suggest(20)


def test_a_replay_ends_with_clusters_that_joined_after_the_last_answer() -> None:
    collection, truth = library()
    search = ActiveSearch(collection, policy="thompson", clusters="kmeans", seed=2)
    reviewed(search, truth, n_rounds=2)
    joined(search)
    again = ActiveSearch.replay(collection, search.ledger, policy="thompson", clusters="kmeans", seed=2)
    assert again.ledger.events == search.ledger.events
    assert again.suggest(9) == search.suggest(9)


def test_clusters_do_not_depend_on_the_order_of_the_collection() -> None:
    collection, truth = library()
    walks = []
    start = Ledger()
    start.note(Event(0, "clusters"))  # both wait for their clusters before the first round
    for one in (collection, collection.take(np.random.default_rng(5).permutation(collection.n_items))):
        search = ActiveSearch.replay(one, start, policy="thompson", clusters="kmeans", seed=1)
        walks.append(reviewed(search, truth, n_rounds=12))
    assert walks[0] == walks[1]


def test_topics_are_those_of_words_and_not_of_latent_directions() -> None:
    X = search_features(library()[0])
    assert X.min() < 0
    words = X[:, X.min(axis=0).toarray().ravel() >= 0]
    expected = soft_clusters(words, method="lda", seed=3).memberships
    assert abs(search_clusters(X, "lda", seed=3).memberships - expected).max() == 0
    with pytest.raises(InputError, match="needs values of at least 0"):
        search_clusters(-np.eye(9), "nmf")


def test_bad_clusters_are_refused_before_the_first_suggestion() -> None:
    collection, _ = library()
    with pytest.raises(UnknownName, match=r"No method of clustering called 'ldda'. Known: kmeans, lda, nmf"):
        ActiveSearch(collection, clusters="ldda")
    with pytest.raises(InputError, match="those of the 300 items, got memberships of 10"):
        ActiveSearch(collection, clusters=soft_clusters(np.eye(10), n_clusters=3))


def test_clusters_that_fail_are_told_once_and_the_search_goes_on() -> None:
    collection, _ = library()
    search = ActiveSearch(collection, features=-np.ones((collection.n_items, 2)), policy="thompson", clusters="lda")
    with pytest.raises(InputError, match="needs values of at least 0"):
        joined(search)
    assert len(search.suggest(3)) == 3
