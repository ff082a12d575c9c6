"""The streams have the margin they say, the bound is that of the library, and the adversary nearly reaches it."""

from __future__ import annotations

import numpy as np
import pytest

from riffler import mistake_bound
from riffler.reproduction.mistake_bounds import (
    COMPARED_NORMS,
    _noisy_batches,
    mistake_curve,
    random_batches,
    separable_runs,
)


def test_random_streams_have_unit_rows_and_the_margin() -> None:
    for X, labels in random_batches(k=3, gamma=0.2, n_batches=5, seed=0):
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
        along = X[:, 0]
        lowest = np.sort(along[labels == 1])[: labels.sum() - 3 + 1]
        assert lowest.mean() - along[labels == 0].max() == pytest.approx(0.2)


@pytest.mark.parametrize("k", [1, 4])
def test_separable_runs_end_within_the_bound_and_the_adversary_nearly_meets_it(k: int) -> None:
    runs = separable_runs(gammas=(0.3, 0.15), ks=(k,), seeds=(0, 1))
    assert len(runs) == 6
    for run in runs:
        assert run.bound == pytest.approx(4 * k / run.gamma**2)
        assert run.updates <= run.mistakes <= run.bound
    for run in runs:
        if run.stream == "adversary":
            assert run.mistakes > 0.9 * run.bound
            assert run.mistakes > run.without_square  # the version without the square fails


def test_the_curve_ends_at_the_librarys_bound() -> None:
    curve = mistake_curve(k=3, n_batches=80, seed=2)
    batches = list(_noisy_batches(3, 80, 2))
    directions = [norm * np.eye(10)[0] for norm in COMPARED_NORMS]
    assert curve.bound[-1] == pytest.approx(min(mistake_bound(w, batches, 3) for w in directions))
    assert all(m <= b for m, b in zip(curve.mistakes, curve.bound, strict=True))
    assert curve.mistakes[-1] > curve.without_square[-1]
