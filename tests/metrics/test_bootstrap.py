from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from riffler import metrics
from riffler.errors import InputError, LabelError
from riffler.metrics import bootstrap_interval, ndcg_at, paired_bootstrap, precision_at_k, recall_at_k, roc_auc
from riffler.records import BoolArray, FloatArray

BLOCK_METRICS: list[tuple[Callable[..., float], dict[str, Any]]] = [
    (precision_at_k, {"k": 0.25}),
    (precision_at_k, {"k": 10}),
    (metrics.prec_at_k_loss, {"k": 10}),
    (recall_at_k, {"k": 10}),
    (roc_auc, {}),
    (metrics.partial_auc, {"max_fpr": 0.3}),
    (metrics.average_precision, {}),
    (metrics.reciprocal_rank, {}),
    (metrics.winner_takes_all, {}),
]


def ranked(n_rows: int, seed: int, strength: float = 1.0) -> tuple[BoolArray, FloatArray]:
    """Noisy scores of rare positives, rounded so that some tie."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n_rows) < 0.2
    return labels, np.round(strength * labels + rng.normal(size=n_rows), 1)


@pytest.mark.parametrize(("metric", "options"), BLOCK_METRICS)
def test_the_fast_way_equals_calling_the_metric_on_the_drawn_rows(
    metric: Callable[..., float], options: dict[str, Any]
) -> None:
    labels, scores = ranked(80, seed=1)
    fast = bootstrap_interval(metric, labels, scores, n_resamples=60, seed=3, **options)
    slow = bootstrap_interval(lambda y, s: metric(y, s, **options), labels, scores, n_resamples=60, seed=3)
    assert (fast.value, fast.low, fast.high) == pytest.approx((slow.value, slow.low, slow.high), abs=1e-12)
    assert fast.value == pytest.approx(metric(labels, scores, **options), abs=1e-12)
    assert fast.n_resamples == slow.n_resamples == 60


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    truth = 0.7602  # P(N(1,1) > N(0,1)) = Phi(1 / sqrt(2))
    covered = 0
    for seed in range(200):
        labels, scores = ranked(150, seed=seed)
        found = bootstrap_interval(roc_auc, labels, scores, n_resamples=150, level=0.9, seed=seed)
        covered += found.low <= truth <= found.high
    assert 0.83 <= covered / 200 <= 0.96


def test_a_seed_repeats_the_interval_in_any_row_order() -> None:
    labels, scores = ranked(200, seed=2)
    other = np.random.default_rng(0).permutation(200)
    first = bootstrap_interval(precision_at_k, labels, scores, n_resamples=50, k=20)
    assert first == bootstrap_interval(precision_at_k, labels[other], scores[other], n_resamples=50, k=20)
    assert first != bootstrap_interval(precision_at_k, labels, scores, n_resamples=50, k=20, seed=1)


def test_any_callable_and_graded_labels_take_the_general_way() -> None:
    rng = np.random.default_rng(4)
    found = bootstrap_interval(ndcg_at, rng.integers(0, 4, 60), rng.random(60), n_resamples=40, n=10)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_resamples_without_a_positive_are_left_out_and_not_counted() -> None:
    found = bootstrap_interval(roc_auc, [1, 0, 0, 0, 0], [5, 4, 3, 2, 1], n_resamples=200)
    assert found.low == found.high == 1.0
    assert 100 < found.n_resamples < 170  # a resample misses the positive with chance 0.8^5 = 0.33


def test_a_better_scoring_is_told_from_a_worse_one_and_the_sign_turns_with_the_sides() -> None:
    labels, poor = ranked(600, seed=6)
    good = poor + labels
    found = paired_bootstrap(roc_auc, labels, good, poor, n_resamples=300)
    turned = paired_bootstrap(roc_auc, labels, poor, good, n_resamples=300)
    assert found.difference == pytest.approx(roc_auc(labels, good) - roc_auc(labels, poor))
    assert 0 < found.low < found.difference < found.high
    assert found.p_value == pytest.approx(2 / 301)
    assert (found.value_a, found.value_b) == (turned.value_b, turned.value_a)
    assert turned.high < 0
    assert turned.p_value == found.p_value


def test_equal_rankings_do_not_differ() -> None:
    labels, scores = ranked(100, seed=7)
    found = paired_bootstrap(precision_at_k, labels, scores, np.exp(scores), n_resamples=50, k=10)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_under_no_difference_small_p_values_are_rare() -> None:
    small = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        labels = rng.random(150) < 0.3
        a, b = (labels + rng.normal(size=150) for _ in range(2))
        small += paired_bootstrap(roc_auc, labels, a, b, n_resamples=100, seed=seed).p_value <= 0.1
    assert small / 150 <= 0.17


def test_the_paired_comparison_uses_the_same_resamples_for_both() -> None:
    labels, scores = ranked(200, seed=8)
    nearly = scores.copy()
    nearly[0] += 0.01
    paired = paired_bootstrap(roc_auc, labels, scores, nearly, n_resamples=100)
    alone = bootstrap_interval(roc_auc, labels, scores, n_resamples=100)
    assert paired.high - paired.low < 0.1 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"level": 95}, "level must be between 0 and 1"),
        ({"sample_weight": [1, 1, 1]}, "takes no sample_weight"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap_interval(roc_auc, [1, 0, 1], [1, 2, 3], **settings)


def test_input_the_metric_refuses_is_refused_before_resampling() -> None:
    with pytest.raises(LabelError, match="at least one negative"):
        bootstrap_interval(roc_auc, [1, 1, 1], [1, 2, 3])
    with pytest.raises(InputError, match="max_fpr must be in"):
        bootstrap_interval(metrics.partial_auc, [1, 0, 1], [1, 2, 3], max_fpr=2)
    with pytest.raises(LabelError, match="row 2 is 7"):
        bootstrap_interval(roc_auc, [1, 0, 7], [3, 2, 1])
    with pytest.raises(InputError, match="scores_b must be finite; row 2"):
        paired_bootstrap(roc_auc, [1, 0, 1], [1, 2, 3], [1, 2, np.nan])
