"""What the rankers share: the threshold of the top, and the working sets of kernel fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import UnknownName
from riffler.learners import ranker_from_name
from riffler.learners.checks import TrainingSet
from riffler.learners.ranker import threshold_of_top
from riffler.learners.working_set import hard_negatives, sampled_rows


@given(
    rows=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=15),
    share=st.floats(0.01, 1.0),
)
def test_threshold_lets_in_the_fewest_rows_that_reach_k(rows: list[tuple[int, int]], share: float) -> None:
    scores = np.array([float(score) for score, _ in rows])
    weight = np.array([float(mass) for _, mass in rows])
    if not weight.any():
        weight[0] = 1.0
    k = max(1.0, round(share * weight.sum()))
    threshold = threshold_of_top(scores, weight, k)
    inside = scores > threshold
    assert weight[inside].sum() >= k
    lowest = scores[inside & (weight > 0)].min()
    assert weight[scores > lowest].sum() < k  # one tie block less would not reach


def test_threshold_without_a_lower_row_is_just_below() -> None:
    threshold = threshold_of_top(np.array([2.0, 2.0]), np.ones(2), 1)
    assert threshold < 2.0
    assert threshold == pytest.approx(2.0)


def test_unknown_ranker_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No ranker called 'svm'. Known: 1pmb, active-pairs, crr, gradient-at-k"):
        ranker_from_name("svm")


def training_set(n_rows: int, n_positive: int) -> TrainingSet:
    rng = np.random.default_rng(0)
    labels = (rng.permutation(n_rows) < n_positive).astype(np.int8)
    return TrainingSet(rng.normal(size=(n_rows, 2)), labels, rng.integers(1, 4, n_rows).astype(float), np.array([0, 1]))


@pytest.mark.parametrize("n_positive", [50, 900])
def test_a_working_set_stands_for_all_rows(n_positive: int) -> None:
    data = training_set(1000, n_positive)
    rows, part = sampled_rows(data, np.random.RandomState(0), 200)
    assert len(rows) == len(part.labels) == 200
    np.testing.assert_array_equal(part.X, data.X[rows])
    for label in (0, 1):  # each class keeps its weight
        assert part.weight[part.labels == label].sum() == pytest.approx(data.weight[data.labels == label].sum())
    rows, part = sampled_rows(data, np.random.RandomState(0), 1000)
    assert part is data


def test_hard_negatives_join_and_the_weight_of_each_class_stays() -> None:
    data = training_set(1000, 50)
    working, _ = sampled_rows(data, np.random.RandomState(0), 200)
    scores = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    harder = hard_negatives(data, working, scores)
    assert len(harder.labels) == 300
    outside = np.setdiff1d(np.flatnonzero(data.labels == 0), working)
    hardest = outside[np.argsort(-scores[outside])[:100]]
    joined = {tuple(row) for row in harder.X}
    assert all(tuple(data.X[row]) in joined for row in hardest)
    for label in (0, 1):
        assert harder.weight[harder.labels == label].sum() == pytest.approx(data.weight[data.labels == label].sum())
