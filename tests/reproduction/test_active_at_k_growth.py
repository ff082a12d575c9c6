"""Exponents are those of the made-up counts; k log n is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction.active_at_k_cases import Case, Feed
from riffler.reproduction.active_at_k_growth import Growth, exponents

N = Growth("k = 50", "n", Feed("set", share=0.1), (1_000, 10_000, 100_000), (50,))
K = Growth("n = 1,000", "k", Feed("set"), (1_000,), (10, 100))


def counted(case: Case) -> list[ActiveRun]:
    """All labels grow as k n^0.5; below the top, k^2 are bought whatever n is."""
    n_asked, below = case.k * float(case.feed.n_rows or 0) ** 0.5, case.k**2
    return [ActiveRun(np.ones(2), np.array([0.0, n_asked]), np.array([0, below]), np.ones(2), 1.0)]


def test_slopes_are_those_of_the_counts() -> None:
    results = {case: counted(case) for study in (N, K) for case in study.all_cases()}
    found = exponents([N, K], results)
    assert len(found) == 8
    against_n, against_k = found[0], found[4]
    assert against_n.in_all == pytest.approx((0.5, 0), abs=1e-3)
    assert against_n.below == pytest.approx((0, 0), abs=1e-6)
    assert (against_k.in_all[0], against_k.below[0], against_k.hoped_for) == pytest.approx((1, 2, 1), abs=1e-3)
    assert 0 < against_n.hoped_for < 0.2  # log n is far flatter than any power that is seen


def test_the_cases_of_a_scheme_follow_the_sizes_and_hold_nothing_out() -> None:
    assert [(case.feed.n_rows, case.k, case.feed.held_out) for case in N.cases("uniform")] == [
        (1_000, 50, 0.0), (10_000, 50, 0.0), (100_000, 50, 0.0),
    ]  # fmt: skip
    assert [case.k for case in K.cases("uniform")] == [10, 100]
    assert N.hoped_for == pytest.approx([50 * np.log(n) for n in N.sizes])
