"""Graded NDCG is the weighted mean of the NDCGs of its thresholds, and the mean of their hinges is above the loss."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.metrics import ndcg_at
from riffler.structured.graded_order import gains_of, graded_examples
from riffler.structured.order_losses import OrderLoss
from tests.naive import partial_order as naive


@pytest.mark.parametrize("n", [None, 1, 3])
@pytest.mark.parametrize("pairs", [0.0, 1.0])
def test_the_hinge_is_that_of_the_thresholds_and_bounds_the_loss(n: int | None, pairs: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        grades = np.sort(np.append(rng.integers(0, 4, 4), 0)).astype(float)
        if grades[0] == grades[-1]:
            continue
        scores = rng.normal(size=5)
        loss = OrderLoss("ndcg", n, pairs)
        examples = graded_examples(np.arange(5), np.array([0, 5]), grades, loss)
        moves = np.zeros(5)
        hinge = examples.worst(loss, scores, moves) - moves @ scores
        assert examples.share.sum() == pytest.approx(1.0)
        levels = np.unique(grades)[1:]
        expected = sum(
            share * naive.hinge("ndcg", n, pairs, scores, grades >= level)
            for share, level in zip(examples.share, levels, strict=True)
        )
        assert hinge == pytest.approx(expected, abs=1e-12)
        in_order = np.argsort(-scores)
        of_levels = sum(
            share * naive.loss("ndcg", n, (grades >= level)[in_order])
            for share, level in zip(examples.share, levels, strict=True)
        )
        assert 1 - ndcg_at(grades, scores, n or 5) == pytest.approx(of_levels)
        assert hinge >= of_levels - 1e-12


def test_queries_count_alike_and_grades_may_be_large() -> None:
    grades = np.array([0.0, 1.0, 5000.0, 5001.0, 5002.0])
    loss = OrderLoss("ndcg", 2)
    examples = graded_examples(np.arange(5), np.array([0, 2, 5]), grades, loss)
    assert examples.starts.tolist() == [[0, 2], [2, 5], [2, 5]]
    assert examples.n_good.tolist() == [1, 2, 1]
    assert examples.share[0] == 0.5
    assert examples.share.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(gains_of(grades[2:]), [0, 1 / 3, 1])
    assert gains_of(np.ones(2)).tolist() == [0, 0]
