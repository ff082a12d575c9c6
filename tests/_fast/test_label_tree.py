"""Inference over labels on a forest is that of looking at all labellings."""

from __future__ import annotations

import numpy as np
import pytest

from riffler._fast import label_tree
from riffler.records import FloatArray, IntArray
from riffler.structured.label_forest import LabelForest, forest_of_pairs
from tests.naive import label_tree as naive


def random_forest(rng: np.random.Generator, n_labels: int) -> LabelForest:
    pairs = [(int(rng.integers(label)), label) for label in range(1, n_labels) if rng.random() < 0.75]
    names = rng.permutation(n_labels)
    return forest_of_pairs([(int(names[a]), int(names[b])) for a, b in pairs], n_labels)


def random_case(seed: int) -> tuple[LabelForest, FloatArray, FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 7))
    forest = random_forest(rng, n_labels)
    gains, tables = rng.normal(size=n_labels), rng.normal(size=(len(forest.edges), 2, 2))
    return forest, gains, tables, rng.integers(0, 2, n_labels).astype(np.int8)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_labels_are_the_best_of_all(seed: int) -> None:
    forest, gains, tables, _ = random_case(seed)
    found = np.empty((1, len(gains)), np.int8)
    label_tree.best_labels_of_all(gains[None], tables.ravel(), forest.tree, found)
    best = max(naive.score(y, gains, tables, list(forest.edges)) for y in naive.all_labellings(len(gains)))
    assert naive.score(found[0], gains, tables, list(forest.edges)) == pytest.approx(best)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("seed", range(60))
def test_the_labels_that_violate_most_are_those_of_all(seed: int, rescaling: str) -> None:
    forest, gains, tables, truth = random_case(seed)
    costs = np.full(len(truth), 1 / len(truth))
    if rescaling == "margin":
        costs = np.random.default_rng(seed).random(len(truth))
    differences, losses = np.empty((1, len(gains) + tables.size)), np.empty(1)
    code = label_tree.SLACK if rescaling == "slack" else label_tree.MARGIN
    label_tree.violations_of_all(
        gains[None], tables.ravel(), forest.tree, truth[None], costs, code, differences, losses
    )  # fmt: skip
    violation = losses[0] - differences[0] @ np.concatenate([gains, tables.ravel()])
    assert violation == pytest.approx(naive.best_violation(truth, gains, tables, list(forest.edges), costs, rescaling))


def test_a_tie_leaves_labels_off() -> None:
    found = np.empty((1, 3), np.int8)
    label_tree.best_labels_of_all(np.zeros((1, 3)), np.zeros(4), forest_of_pairs([(0, 2)], 3).tree, found)
    assert not found.any()
