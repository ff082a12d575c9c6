"""A 95 % interval is to hold the truth about 95 times in 100: a simulation with a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.metrics import bootstrap_interval, precision_at_k, roc_auc
from riffler.records import FloatArray, IntArray


def draw(rng: np.random.Generator, n_items: int) -> tuple[IntArray, FloatArray]:
    """Items of which 30 % are positive, scored a standard deviation higher."""
    labels = (rng.random(n_items) < 0.3).astype(np.int64)
    return labels, labels + rng.normal(size=n_items)


@pytest.mark.soak
@pytest.mark.parametrize(("metric", "options"), [(precision_at_k, {"k": 0.5}), (roc_auc, {})])
def test_intervals_hold_the_truth_about_as_often_as_they_say(metric: object, options: dict[str, float]) -> None:
    assert callable(metric)
    truth = metric(*draw(np.random.default_rng(0), 2_000_000), **options)
    rng = np.random.default_rng(1)
    n_trials = 400
    held = 0
    for seed in range(n_trials):
        found = bootstrap_interval(metric, *draw(rng, 400), n_resamples=500, seed=seed, **options)
        held += found.low <= truth <= found.high
    assert 0.90 <= held / n_trials <= 0.98
