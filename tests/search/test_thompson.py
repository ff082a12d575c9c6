"""Thompson sampling over clusters: the paper's counts, the exact selection, and what its parameters switch off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.errors import InputError
from riffler.search import ClusterThompson, Greedy, SearchView
from riffler.search.ranking import Scores
from riffler.search.selection import best_for_draws, live_clusters
from tests.naive import cluster_thompson as naive
from tests.search.views import random_memberships, random_view


@given(
    seed=st.integers(0, 2**32 - 1),
    n_items=st.integers(1, 40),
    n_clusters=st.integers(1, 8),
    n_draws=st.integers(0, 45),
    digits=st.sampled_from([0, 1, 2, 17]),
)
def test_selection_by_bounds_equals_weighing_all(
    seed: int, n_items: int, n_clusters: int, n_draws: int, digits: int
) -> None:
    rng = np.random.default_rng(seed)
    memberships = random_memberships(rng, n_items, n_clusters)
    # few digits make many items worth the same; a chance and a rate may be 0
    chances = np.round(rng.random(n_items), digits)
    draws = np.round(rng.beta(0.5, 0.5, size=(n_draws, n_clusters)), digits)
    reviewed = rng.random(n_items) < 0.3
    ties = rng.permutation(n_items)
    fast = best_for_draws(memberships, chances, draws, reviewed, ties)
    assert fast.tolist() == naive.best_for_draws(memberships.toarray(), chances, draws, reviewed, ties)
    rows = best_for_draws(memberships, chances, draws, reviewed)
    assert rows.tolist() == naive.best_for_draws(memberships.toarray(), chances, draws, reviewed, np.arange(n_items))


def test_a_large_pool_is_selected_the_same() -> None:
    rng = np.random.default_rng(0)
    memberships = random_memberships(rng, 3000, 20)
    chances = rng.beta(1, 4, 3000)
    draws = rng.beta(rng.random(20) * 5, 5.0, size=(60, 20))
    reviewed = rng.random(3000) < 0.1
    picked = best_for_draws(memberships, chances, draws, reviewed)
    worth = chances[:, None] * (memberships.toarray().astype(float) @ draws.T)
    worth[reviewed] = -1.0
    for place, row in enumerate(picked):
        assert row == worth[:, place].argmax()
        worth[row] = -1.0


@pytest.mark.parametrize(("gamma", "prior"), [(0.99, 0.5), (0.5, 2.0), (1.0, 0.5)])
def test_counts_are_those_of_the_update_round_by_round(gamma: float, prior: float) -> None:
    view = random_view(7)
    assert view.memberships is not None
    rounds = [
        [(int(item), int(answer)) for item, answer in zip(view.items[at], view.answers[at], strict=True)]
        for at in (view.rounds == number for number in range(view.round))
    ]
    slow = naive.counts(view.memberships.toarray().astype(float), rounds, gamma, prior)
    fast = ClusterThompson(gamma=gamma, prior=prior, floor=1e-9).counts(view, view.memberships)
    np.testing.assert_allclose(fast, slow, rtol=1e-6)
    kept = ClusterThompson(gamma=gamma, prior=prior, keep_prior=True).counts(view, view.memberships)
    for with_prior, without in zip(kept, slow, strict=True):
        np.testing.assert_allclose(with_prior, without + prior - prior * gamma**view.round, rtol=1e-6)


def test_a_cluster_that_is_never_visited_keeps_the_floor() -> None:
    view = replace(random_view(7, n_answered=0), round=5000)
    assert view.memberships is not None
    successes, failures = ClusterThompson().counts(view, view.memberships)
    assert (successes == 1e-3).all()
    assert (failures == 1e-3).all()
    assert len(ClusterThompson().propose(view, 20)) == 20


def two_clusters(n_each: int, answers: list[int], rng: np.random.Generator) -> SearchView:
    """Items of equal score in two clusters; the answers are those of the first cluster's first items."""
    memberships = sparse.csr_matrix(np.repeat(np.eye(2, dtype=np.float32), n_each, axis=0))
    items = np.arange(len(answers))
    reviewed = np.zeros(2 * n_each, dtype=bool)
    reviewed[items] = True
    return SearchView(
        engine=LocalEngine([np.ones((2 * n_each, 1))]),
        ranking=Scores(np.zeros(2 * n_each)),
        reviewed=reviewed,
        items=items,
        answers=np.array(answers, dtype=np.int64),
        rounds=np.zeros(len(answers), dtype=np.int64),
        round=1,
        rng=rng,
        memberships=memberships,
    )


def share_of_second(policy: ClusterThompson, answers: list[int]) -> float:
    rows = [policy.propose(two_clusters(500, answers, np.random.default_rng(seed)), 50) for seed in range(20)]
    return float((np.concatenate(rows) >= 500).mean())


def test_a_cluster_is_taken_as_often_as_its_rate_wins_the_draw() -> None:
    answers = [1] * 3 + [0] * 9
    rng = np.random.default_rng(1)
    first, second = rng.beta(0.5 + 3, 0.5 + 9, 100_000), rng.beta(0.5, 0.5, 100_000)
    expected = (second > first).mean()
    plain = share_of_second(ClusterThompson(gamma=1.0, optimistic=False), answers)
    assert plain == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 1000))
    optimistic = share_of_second(ClusterThompson(gamma=1.0), answers)
    expected = (np.maximum(second, 0.5) > np.maximum(first, 3.5 / 13)).mean()
    assert optimistic == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 1000))
    assert optimistic > plain


def test_without_draws_the_mean_decides() -> None:
    assert share_of_second(ClusterThompson(draw=False), [1, 1, 1]) == 0.0
    assert share_of_second(ClusterThompson(draw=False), [0, 0, 0]) == 1.0


def test_exhausted_clusters_are_not_drawn() -> None:
    view = two_clusters(3, [0, 0, 0], np.random.default_rng(0))
    assert view.memberships is not None
    assert live_clusters(view.memberships, view.reviewed).tolist() == [False, True]
    assert ClusterThompson().propose(view, 9).tolist() == [3, 4, 5]
    # one cluster is left: one number for each item, whatever is gone
    assert view.rng.random() == _after_beta(np.random.default_rng(0), 3)


def _after_beta(rng: np.random.Generator, n: int) -> float:
    rng.beta(np.array([0.5 * 0.99]), np.array([0.5 * 0.99]), size=(n, 1))
    return float(rng.random())


def test_without_clusters_it_is_greedy() -> None:
    view = random_view(8, clustered=False)
    np.testing.assert_array_equal(ClusterThompson().propose(view, 30), Greedy().propose(view, 30))


def test_bad_parameters_are_named() -> None:
    with pytest.raises(InputError, match=r"gamma must be above 0 and at most 1, got 1\.1"):
        ClusterThompson(gamma=1.1)
    with pytest.raises(InputError, match="prior must be above 0, got 0"):
        ClusterThompson(prior=0)
