"""Forests over labels: given pairs are turned and checked, the most telling tree is that of all trees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from riffler.errors import InputError
from riffler.structured.label_forest import forest_of_pairs, most_telling_tree, mutual_information


def test_pairs_lead_away_from_the_roots_and_joints_hold_the_parts_together() -> None:
    forest = forest_of_pairs([(4, 3), (1, 5), (5, 0)], n_labels=6)
    assert forest.edges == ((0, 5), (5, 1), (3, 4))
    assert forest.roots == (0, 2, 3)
    assert forest.tree.n_joints == 2
    assert forest.tree.edges.tolist() == [[0, 2], [0, 3], [0, 5], [5, 1], [3, 4]]


@pytest.mark.parametrize("pairs", [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 0)], [(1, 1)]])
def test_circles_are_refused(pairs: list[tuple[int, int]]) -> None:
    with pytest.raises(InputError, match=r"go round in a circle, or one stands twice.*Leave out 1 of them"):
        forest_of_pairs(pairs, n_labels=3)


def test_a_label_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"The edge \(0, 3\) is about labels that are not there: they are 0 to 2"):
        forest_of_pairs([(0, 3)], n_labels=3)


def test_mutual_information_is_that_of_the_contingency_table() -> None:
    Y = (np.random.default_rng(0).random((40, 4)) < [0.5, 0.2, 0.9, 0.0]).astype(np.int8)  # the last is never on
    found = mutual_information(Y)
    for one in range(4):
        for other in range(4):
            assert found[one, other] == pytest.approx(mutual_info_score(Y[:, one], Y[:, other]), abs=1e-12)


def test_the_most_telling_tree_is_that_of_all_trees() -> None:
    rng = np.random.default_rng(1)
    Y = (rng.normal(size=(50, 4)) + rng.normal(size=(50, 1)) > 0).astype(np.int8)
    information, best = mutual_information(Y), -np.inf
    for pairs in combinations(combinations(range(4), 2), 3):
        try:
            forest_of_pairs(pairs, 4)
        except InputError:
            continue
        best = max(best, sum(information[pair] for pair in pairs))
    assert sum(information[pair] for pair in most_telling_tree(Y).edges) == pytest.approx(best)


def test_one_label_has_nothing_to_look_at() -> None:
    assert most_telling_tree(np.ones((3, 1), np.int8)).edges == ()
