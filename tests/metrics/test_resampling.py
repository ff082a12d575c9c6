"""Joined blocks give every measure the value that the rows themselves give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riffler.metrics import precision_at_k, roc_auc
from riffler.metrics.bootstrap import bootstrap
from riffler.metrics.resampling import FROM_BLOCKS, Measure, Runs, resampled, times_drawn
from riffler.metrics.ties import Ranking
from tests.metrics.rankings import REPEATABLE

OPTIONS: dict[str, dict[str, Any]] = {
    "precision_at_k": {"k": 2},
    "prec_at_k_loss": {"k": 3},
    "recall_at_k": {"k": 0.5},
    "partial_auc": {"max_fpr": 0.4},
}


@pytest.mark.parametrize("metric", list(FROM_BLOCKS))
@settings(REPEATABLE)
@given(rows=st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 3)), min_size=3, max_size=30))
def test_joining_pure_neighbours_changes_no_measure(
    metric: Callable[..., float], rows: list[tuple[bool, int, int]]
) -> None:
    rows = [*rows, (True, 3, 2), (False, 2, 2)]  # one of each class at least, so that every measure is defined
    labels, scores, counts = (np.array(column) for column in zip(*rows, strict=True))
    weight = counts.astype(np.float64)
    options = OPTIONS.get(metric.__name__, {})
    from_rows = FROM_BLOCKS[metric](Ranking.of(labels, scores).blocks(weight), **options)
    from_runs = FROM_BLOCKS[metric](Runs.of(labels, scores).blocks(weight), **options)
    repeated = metric(np.repeat(labels, counts), np.repeat(scores, counts), **options)
    assert from_runs == pytest.approx(from_rows, abs=1e-12)
    assert from_runs == pytest.approx(repeated, abs=1e-12)


def test_only_a_change_of_class_or_a_tie_of_both_begins_a_block() -> None:
    labels = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0], dtype=bool)
    scores = np.array([9, 8, 7, 6, 5, 5, 4, 3, 2])
    blocks = Runs.of(labels, scores).blocks(np.ones(9))
    assert blocks.weight.tolist() == [2, 2, 2, 1, 2]
    assert blocks.positive.tolist() == [2, 0, 1, 1, 0]


def test_measures_of_both_kinds_are_taken_on_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    labels, scores = rng.random(50) < 0.4, rng.random(50)
    measures: list[Measure] = [(roc_auc, {}), (lambda y, s: roc_auc(y, s), {}), (precision_at_k, {"k": 5})]
    values = resampled(measures, labels, [scores, -scores], n_resamples=20, seed=1)
    assert values.shape == (20, 2, 3)
    np.testing.assert_allclose(values[:, :, 0], values[:, :, 1], atol=1e-12)
    np.testing.assert_allclose(values[:, 0, 0], 1 - values[:, 1, 0], atol=1e-12)


def test_a_measure_undefined_on_a_resample_leaves_the_others_theirs() -> None:
    found = bootstrap([(roc_auc, {}), (precision_at_k, {"k": 1})], [1, 0, 0, 0], {"any": [4, 3, 2, 1]}, n_resamples=100)
    assert found.interval(0, 0).n_resamples < found.interval(0, 1).n_resamples == 100


def test_times_drawn_add_up_to_the_rows() -> None:
    drawn = np.random.default_rng(0).integers(30, size=30)
    assert times_drawn(drawn).sum() == 30
    assert times_drawn(drawn)[drawn[0]] == (drawn == drawn[0]).sum()
