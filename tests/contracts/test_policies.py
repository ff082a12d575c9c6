"""What every search policy keeps: unreviewed items, each once, at most n, the same for the same view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.errors import UnknownName
from riffler.search import POLICIES, SearchView, policy_from
from riffler.search.ranking import Scores
from tests.search.views import random_view

every_policy = pytest.mark.parametrize("name", sorted(POLICIES))
STATES: dict[str, dict[str, Any]] = {
    "as usual": {},
    "dense rows": {"dense": True},
    "no clusters": {"clustered": False},
    "no scores": {"scored": False},
    "nothing relevant": {"scored": False, "relevant": False},
    "nothing answered": {"n_answered": 0, "scored": False},
    "one cluster": {"n_clusters": 1},
}


def proposed(name: str, view: SearchView, n: int) -> list[int]:
    rows = policy_from(name).propose(view, n)
    assert rows.dtype.kind == "i"
    assert rows.ndim == 1
    rows_listed: list[int] = rows.tolist()
    return rows_listed


@every_policy
@pytest.mark.parametrize("state", STATES)
def test_unreviewed_items_each_once_and_at_most_n(name: str, state: str) -> None:
    for n in (1, 7, 1000):
        view = random_view(1, **STATES[state])
        rows = proposed(name, view, n)
        assert len(rows) == min(n, int((~view.reviewed).sum()))
        assert len(set(rows)) == len(rows)
        assert not view.reviewed[rows].any()


@every_policy
@pytest.mark.parametrize("state", STATES)
def test_the_same_view_gives_the_same_proposal_the_best_first(name: str, state: str) -> None:
    ten = proposed(name, random_view(2, **STATES[state]), 10)
    assert proposed(name, random_view(2, **STATES[state]), 10) == ten
    assert proposed(name, random_view(2, **STATES[state]), 4) == ten[:4]


@every_policy
def test_nothing_left_is_nothing_proposed(name: str) -> None:
    view = random_view(3)
    assert proposed(name, replace(view, reviewed=np.ones(60, dtype=bool)), 5) == []


@every_policy
def test_the_view_is_left_as_it_was(name: str) -> None:
    view, fresh = random_view(4), random_view(4)
    proposed(name, view, 10)
    np.testing.assert_array_equal(view.scores, fresh.scores)
    np.testing.assert_array_equal(view.reviewed, fresh.reviewed)
    np.testing.assert_array_equal(view.answers, fresh.answers)


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"random", "mix"}))
def test_the_order_of_the_collection_is_nothing(name: str) -> None:
    view = random_view(5)
    mixed = np.random.default_rng(6).permutation(60)  # item i of the mixed collection is item mixed[i] of the first
    place = np.argsort(mixed)
    assert view.memberships is not None
    assert view.ties is not None
    moved = replace(
        random_view(5),
        engine=LocalEngine([sparse.csr_matrix(view.engine.rows(mixed))]),
        ranking=Scores(view.scores[mixed]),
        reviewed=view.reviewed[mixed],
        items=place[view.items],
        ties=view.ties[mixed],
        memberships=view.memberships[mixed],
    )
    rows = proposed(name, view, 10)
    assert mixed[proposed(name, moved, 10)].tolist() == rows


@every_policy
def test_a_table_entry_makes_what_its_name_says(name: str) -> None:
    assert policy_from(name) == POLICIES[name]()


def test_an_unknown_policy_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No search policy called 'best'\. Known: .*greedy, mix, mmr"):
        policy_from("best")
