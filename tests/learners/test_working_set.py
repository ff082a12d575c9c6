"""A working set stands for all rows: its weights sum to theirs, class by class."""

from __future__ import annotations

import numpy as np
import pytest

from riffler import SGDAtK, TopKRanker
from riffler.learners.checks import TrainingSet
from riffler.learners.working_set import hard_negatives, sampled_rows


def training_set(n_positive: int, n_negative: int) -> TrainingSet:
    rng = np.random.default_rng(0)
    n = n_positive + n_negative
    labels = np.repeat([1, 0], [n_positive, n_negative]).astype(np.int8)
    return TrainingSet(rng.normal(size=(n, 3)), labels, rng.integers(0, 3, n).astype(float), np.array([0, 1]))


def class_weights(data: TrainingSet) -> list[float]:
    return [float(data.weight[data.labels == label].sum()) for label in (0, 1)]


@pytest.mark.parametrize("n_positive", [30, 3000])
def test_a_sample_keeps_the_weight_of_both_classes_and_no_absent_row(n_positive: int) -> None:
    data = training_set(n_positive, 2000)
    rows, part = sampled_rows(data, np.random.RandomState(0), 400)
    assert len(rows) == len(part.labels) <= 400
    assert (part.weight > 0).all()
    assert class_weights(part) == pytest.approx(class_weights(data))


@pytest.mark.parametrize("distinct", [1, 5, 10**6])
def test_hard_negatives_keep_the_weight_also_when_scores_tie(distinct: int) -> None:
    data = training_set(100, 3900)
    working, _ = sampled_rows(data, np.random.RandomState(0), 400)
    scores = np.random.default_rng(1).integers(distinct, size=4000).astype(np.float32)
    part = hard_negatives(data, working, scores)
    assert class_weights(part) == pytest.approx(class_weights(data))
    assert len(part.labels) > len(working)


def test_shares_as_weights_are_taken_by_their_proportions() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    for ranker in (TopKRanker(random_state=0), SGDAtK(random_state=0)):
        plain = ranker.fit(X, y).decision_function(X)
        shares = ranker.fit(X, y, sample_weight=np.full(300, 1 / 300)).decision_function(X)
        np.testing.assert_allclose(shares, plain, rtol=1e-6, atol=1e-9)


def test_constant_columns_can_be_ranked_by_a_kernel() -> None:
    y = np.arange(60) % 3 == 0
    assert np.isfinite(TopKRanker(kernel="rbf", n_components=20, random_state=0).fit(np.ones((60, 2)), y).coef_).all()
