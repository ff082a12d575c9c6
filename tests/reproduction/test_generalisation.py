"""Held-out precision is exact, rises with n, and slopes are those of the data."""

from __future__ import annotations

import numpy as np
import pytest

from riffler import precision_at_k
from riffler.reproduction.at_k_methods import K
from riffler.reproduction.generalisation import Trained, draw, expected_precision, rates, simulate


def test_expected_precision_is_the_mean_over_drawn_labels() -> None:
    rng = np.random.default_rng(0)
    X, chance = draw(20_000, rng)
    scores = X[:, 0] + X[:, 1]
    drawn = [precision_at_k(rng.random(len(chance)) < chance, scores, K) for _ in range(60)]
    assert expected_precision(scores, chance) == pytest.approx(np.mean(drawn), abs=0.01)
    assert expected_precision(scores, chance) < expected_precision(X[:, 0], chance)


def test_precision_rises_with_n_and_stays_below_the_best() -> None:
    runs = simulate((500, 8_000), (0, 1))
    for method in {run.method for run in runs}:
        few, many = (np.mean([r.held_out for r in runs if (r.method, r.n) == (method, n)]) for n in (500, 8_000))
        assert few < many <= runs[0].best + 1e-9


def test_rates_recover_a_power_of_n() -> None:
    runs = [Trained("one", n, 0, 0.5 + n**-0.5, 0.5, 0.5 + n**-0.25) for n in (100, 1_000, 10_000)]
    assert [(rate.what, rate.slope) for rate in rates(runs)] == [("gap", -0.5), ("excess", -0.25)]
