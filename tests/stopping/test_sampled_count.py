"""The mathematics of a sampled count: exact on small cases, and right at every step of simulated streams."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binomtest

from riffler.stopping.sampled_count import (
    STEEPNESS_ABOVE,
    STEEPNESS_BELOW,
    Finds,
    bounded_above,
    bounded_below,
    estimated,
)
from tests.stopping.streams import N_ROUNDS, STREAMS, Path, Stream, simulate

chances = st.floats(0.01, 0.99)


def finds_of(probability: list[float] | np.ndarray, round: list[int] | None = None) -> Finds:
    p = np.asarray(probability, dtype=float)
    return Finds(np.zeros(p.size, dtype=int) if round is None else np.asarray(round, dtype=int), p)


@pytest.fixture(scope="module", params=STREAMS, ids=lambda stream: stream.name)
def paths(request: pytest.FixtureRequest) -> list[Path]:
    stream: Stream = request.param
    rng = np.random.default_rng(STREAMS.index(stream))
    return [simulate(stream, rng, error=0.2) for _ in range(150)]


def test_truth_leaves_the_interval_at_any_round_no_more_often_than_promised(paths: list[Path]) -> None:
    misses = sum(path.misses for path in paths)
    assert binomtest(misses, len(paths), 0.2, alternative="greater").pvalue > 0.001


def test_estimate_is_unbiased_after_some_and_after_all_rounds(paths: list[Path]) -> None:
    for round in (N_ROUNDS // 3, N_ROUNDS - 1):
        error = np.array([path.estimate[round] - path.truth[round] for path in paths])
        assert abs(error.mean()) <= 4 * error.std() / np.sqrt(error.size)


def test_interval_holds_its_estimate_at_every_round(paths: list[Path]) -> None:
    for path in paths:
        assert np.all(path.low <= path.estimate + 1e-9)
        assert np.all(path.estimate <= path.high + 1e-9)


def test_interval_made_anew_each_round_fails_where_ours_holds() -> None:
    stream = next(stream for stream in STREAMS if stream.name.startswith("p depends"))
    rng = np.random.default_rng(0)
    runs = [simulate(stream, rng, error=0.05) for _ in range(100)]
    assert sum(run.misses for run in runs) <= 5 < 20 < sum(run.normal_misses for run in runs)


@settings(max_examples=30)
@given(rows=st.lists(st.tuples(chances, st.booleans()), min_size=1, max_size=5), error=st.floats(0.01, 0.5))
def test_bounds_fail_with_at_most_their_error_over_all_possible_draws(
    rows: list[tuple[float, bool]], error: float
) -> None:
    p = np.array([chance for chance, _ in rows])
    counts = np.array([count for _, count in rows])
    too_low = too_high = mean = 0.0
    for drawn in product([False, True], repeat=p.size):
        chance = float(np.prod(np.where(drawn, p, 1 - p)))
        finds, floors = finds_of(p[np.array(drawn) & counts]), np.array([p.min()])
        mean += chance * float(estimated(finds, 1)[0])
        too_low += chance * bool(bounded_above(finds, floors, error)[0] < counts.sum() - 1e-9)
        too_high += chance * bool(bounded_below(finds, floors, error)[0] > counts.sum() + 1e-9)
    assert mean == pytest.approx(counts.sum())
    assert max(too_low, too_high) <= error + 1e-9


@given(p=st.lists(chances, max_size=40), floor=st.floats(0.005, 0.9), error=st.floats(0.001, 0.3))
def test_bounds_solve_the_equations_of_the_mixtures(p: list[float], floor: float, error: float) -> None:
    p = [max(one, floor) for one in p]
    finds, floors = finds_of(p), np.array([floor])
    above, below = STEEPNESS_ABOVE * floor, STEEPNESS_BELOW * floor
    weight = 1 / np.arange(1, 99)

    def log_wealth_above(count: float) -> float:
        terms = [-np.log1p(-s) * count + sum(np.log1p(-s / one) for one in p) for s in above]
        return float(logsumexp(terms, b=weight[: above.size] / weight[: above.size].sum()) + np.log(error))

    def log_wealth_below(count: float) -> float:
        terms = [sum(np.log1p(s / one) for one in p) - np.log1p(s) * count for s in below]
        return float(logsumexp(terms, b=weight[: below.size] / weight[: below.size].sum()) + np.log(error))

    assert bounded_above(finds, floors, error)[0] == pytest.approx(brentq(log_wealth_above, 0, 1e7), rel=1e-6)
    if log_wealth_below(0.0) > 0:
        slow = brentq(log_wealth_below, 0, 1e7)
        assert bounded_below(finds, floors, error)[0] == pytest.approx(slow, rel=1e-6, abs=1e-6)
    else:
        assert bounded_below(finds, floors, error)[0] == 0


def test_a_round_with_a_lower_floor_widens_the_bound_and_never_narrows_it_again() -> None:
    finds = finds_of([0.2] * 5)
    steady = bounded_above(finds, np.array([0.2, 0.2, 0.2]), 0.05)
    dipped = bounded_above(finds, np.array([0.2, 0.02, 0.2]), 0.05)
    assert steady[0] == dipped[0]
    assert dipped[1] > steady[1]
    assert dipped[2] == dipped[1]


def test_a_floor_far_below_the_first_leaves_no_bound() -> None:
    assert bounded_above(finds_of([]), np.array([0.5, 1e-7]), 0.05)[1] == np.inf


def test_bounds_narrow_as_the_floor_grows() -> None:
    widths = []
    for p in (0.02, 0.05, 0.2, 0.8):
        finds, floors = finds_of([p] * round(500 * p)), np.array([p])
        widths.append(float((bounded_above(finds, floors, 0.05) - bounded_below(finds, floors, 0.05))[0]))
    assert widths == sorted(widths, reverse=True)


def test_nothing_found_is_nearly_as_good_as_the_exact_bound_of_a_single_look() -> None:
    exact = np.log(0.05) / np.log(1 - 0.02)
    assert exact < bounded_above(finds_of([]), np.array([0.02]), 0.05)[0] < 1.5 * exact


def test_a_million_finds_stay_finite() -> None:
    finds = finds_of(np.full(10**6, 0.02))
    low, high = (bound(finds, np.array([0.02]), 0.05)[0] for bound in (bounded_below, bounded_above))
    assert 0.99 * 5e7 < low < 5e7 < high < 1.01 * 5e7
