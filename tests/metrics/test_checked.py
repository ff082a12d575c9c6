from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from riffler import metrics
from riffler.errors import InputError, LabelError

BINARY: dict[str, Callable[..., float]] = {
    "average_precision": metrics.average_precision,
    "partial_auc": partial(metrics.partial_auc, max_fpr=0.5),
    "prec_at_k_loss": partial(metrics.prec_at_k_loss, k=2),
    "precision_at_k": partial(metrics.precision_at_k, k=2),
    "recall_at_k": partial(metrics.recall_at_k, k=2),
    "reciprocal_rank": metrics.reciprocal_rank,
    "roc_auc": metrics.roc_auc,
    "winner_takes_all": metrics.winner_takes_all,
}
EVERY = BINARY | {"ndcg_at": partial(metrics.ndcg_at, n=2)}

every_binary_metric = pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY.keys())
every_metric = pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY.keys())


@every_binary_metric
def test_zeros_and_ones_booleans_and_signs_mean_the_same(metric: Callable[..., float]) -> None:
    labels, scores = np.array([0, 1, 0, 1, 1, 0]), [5, 4, 4, 2, 1, 0]
    same: list[Any] = [labels == 1, 2 * labels - 1, labels.astype(np.float32), labels.astype(object), labels.tolist()]
    assert {metric(other, scores) for other in same} == {metric(labels, scores)}


@every_binary_metric
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2, 3], "row 2 is 2"),
        ([0, 1, np.nan, 3], "row 2 is nan"),
        ([0.5, 1, 0, 1], r"row 0 is 0\.5"),
        (["ham", "spam", "ham", "spam"], "row 0 is 'ham'"),
        ([0, None, 1, 1], "row 1 is None"),
        ([1, -1, 0, 1], "row 1 is -1 and row 2 is 0"),
    ],
)
def test_labels_that_are_not_binary_name_their_row(metric: Callable[..., float], labels: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(LabelError, match=message):
        metric(labels, [4, 3, 2, 1])


@every_metric
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_name_their_row(metric: Callable[..., float], bad: float) -> None:
    with pytest.raises(InputError, match=r"scores must be finite; row 1 is"):
        metric([1, 0, 1], [0.5, bad, bad])


@every_metric
@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([1, 0, 1], [1, 2], "scores has 2 rows, labels have 3"),
        ([[1, 0, 1]], [1, 2, 3], r"labels must be one-dimensional, got shape \(1, 3\)"),
        ([1, 0, 1], [[1], [2], [3]], r"scores must be one-dimensional, got shape \(3, 1\)"),
        (1, 2, r"labels must be one-dimensional, got shape \(\)"),
        ([[1, 0], [1]], [1, 2], "nested lists of unequal length"),
        ([], [], "labels is empty"),
        ([1, 0, 1], ["a", "b", "c"], "scores must be real numbers"),
        ([1, 0, 1], [1j, 2, 3], "scores must be real numbers"),
    ],
)
def test_wrong_shapes_and_types_are_refused(
    metric: Callable[..., float], labels: ArrayLike, scores: ArrayLike, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        metric(labels, scores)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, 1], r"sample_weight must not be negative; row 1 is -2\.0"),
        ([1, np.nan, 1], "sample_weight must be finite; row 1"),
        ([0, 0, 0], "zero in every row"),
        ([1, 1], "sample_weight has 2 rows, labels have 3"),
    ],
)
@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "roc_auc"])
def test_weights_that_cannot_repeat_rows_are_refused(name: str, weight: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BINARY[name]([1, 0, 1], [1, 2, 3], sample_weight=weight)


@every_metric
def test_inputs_are_left_as_they_were(metric: Callable[..., float]) -> None:
    labels, scores = np.array([1, 0, 1, 0]), np.array([0.1, 0.4, 0.4, 0.2])
    labels.flags.writeable = scores.flags.writeable = False
    assert 0 <= metric(labels, scores) <= 2
