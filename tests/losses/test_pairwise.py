"""Sums over all pairs equal those of a loop over every pair: two levels and many, in groups, with weights and ties."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast import pair_sums
from riffler.errors import InputError, LabelError
from riffler.losses.pairwise import PairwiseHinge, PairwiseSquaredHinge, PreferencePairs
from riffler.records import FloatArray, IntArray
from tests.naive import pairwise as naive


@dataclass(frozen=True)
class Case:
    scores: FloatArray
    grades: IntArray
    groups: IntArray
    weight: FloatArray
    direction: FloatArray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 40))
    grades = rng.integers(0, draw(st.sampled_from([2, 3, 5, 40])), n)
    groups = rng.integers(0, draw(st.sampled_from([1, 3])), n)
    grades[:2], groups[:2] = [0, 1], 0  # at least one pair
    weight = rng.integers(0, 3, n) * rng.random(n) if draw(st.booleans()) else np.ones(n)
    weight[:2] = 1.0
    scores = rng.normal(size=n) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    if draw(st.booleans()):
        scores = np.round(scores * 2) / 2  # many ties, and margins of exactly 1
    return Case(scores, grades, groups, weight, rng.normal(size=n))


@given(case=cases())
def test_squared_hinge_is_that_of_the_loop(case: Case) -> None:
    pairs = naive.pairs_of(case.grades, case.groups)
    value, slope, hessian = naive.squared_hinge(case.scores, pairs, case.weight)
    found = PairwiseSquaredHinge(PreferencePairs(case.grades, case.groups, case.weight)).at(case.scores)
    assert found.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(found.slope, slope, rtol=1e-9, atol=1e-12)
    bend = np.zeros(len(case.scores))
    found.bend(case.direction, bend)
    np.testing.assert_allclose(bend, hessian @ case.direction, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.stiffness, np.diag(hessian), rtol=1e-9, atol=1e-12)


@given(case=cases())
def test_hinge_is_that_of_the_loop(case: Case) -> None:
    value, slope = naive.hinge(case.scores, naive.pairs_of(case.grades, case.groups), case.weight)
    found = PairwiseHinge(PreferencePairs(case.grades, case.groups, case.weight)).at(case.scores)
    assert found.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(found.slope, slope, rtol=1e-9, atol=1e-12)


@given(case=cases())
def test_the_slope_is_that_of_finite_differences(case: Case) -> None:
    loss = PairwiseSquaredHinge(PreferencePairs(case.grades, case.groups, case.weight))
    step = 1e-6
    ahead, behind = (loss.at(case.scores + sign * step * case.direction).value for sign in (1, -1))
    here = loss.at(case.scores)
    bend = 2 * float(np.ptp(case.direction)) ** 2  # at most: where a margin is exactly 1 it is there on one side alone
    wanted = pytest.approx(float(here.slope @ case.direction), rel=1e-4, abs=bend * step + 1e-6)
    assert (ahead - behind) / (2 * step) == wanted


@given(case=cases())
def test_a_whole_weight_is_repetition(case: Case) -> None:
    weight = np.ceil(case.weight).astype(int)
    again = np.repeat(np.arange(len(weight)), weight)
    weighted = PairwiseSquaredHinge(PreferencePairs(case.grades, case.groups, weight)).at(case.scores)
    repeated = PairwiseSquaredHinge(PreferencePairs(case.grades[again], case.groups[again])).at(case.scores[again])
    assert weighted.value == pytest.approx(repeated.value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(weighted.slope, np.bincount(again, repeated.slope, len(weight)), atol=1e-12)


def test_scores_that_are_spread_unevenly_are_sorted_too() -> None:
    """An outlier squeezes all other scores into one step of the coarse sort."""
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 2, 3000)
    scores = rng.normal(size=3000)
    scores[5] = 1e30
    inside = np.arange(3000) != 5
    with_outlier = PairwiseHinge(PreferencePairs(grades)).at(scores)
    without = PairwiseHinge(PreferencePairs(grades[inside])).at(scores[inside])
    total, total_inside = PreferencePairs(grades).total, PreferencePairs(grades[inside]).total
    own_slope = with_outlier.slope[inside] * total
    np.testing.assert_allclose(own_slope, without.slope * total_inside + (grades[5] == 0) * -grades[inside], atol=1e-6)


@pytest.mark.parametrize("grades", [np.zeros(5), np.arange(5)])
def test_without_pairs_there_is_nothing_to_learn(grades: FloatArray) -> None:
    with pytest.raises(LabelError, match="no pairs to learn from"):
        PreferencePairs(grades, groups=np.arange(5) if grades.any() else None)


def test_groups_of_one_level_and_rows_of_no_weight_are_left_out() -> None:
    pairs = PreferencePairs([1, 0, 1, 1, 0], [0, 0, 1, 1, 0], [1.0, 1.0, 1.0, 1.0, 0.0])
    assert pairs.total == 1.0
    assert sorted(pairs.rows.tolist()) == [0, 1]


def test_a_million_rows_have_too_many_pairs_to_visit() -> None:
    rng = np.random.default_rng(0)
    grades, scores = rng.integers(0, 2, 1_000_000), rng.normal(size=1_000_000)
    loss = PairwiseSquaredHinge(PreferencePairs(grades))
    loss.at(scores[:])
    start = perf_counter()
    loss.at(scores)
    assert perf_counter() - start < 5.0


def test_two_points_at_once_do_not_share_their_arrays() -> None:
    rng = np.random.default_rng(1)
    grades, scores, move = rng.integers(0, 2, 50), rng.normal(size=50), rng.normal(size=50)
    loss = PairwiseSquaredHinge(PreferencePairs(grades))
    first, alone, later = loss.at(scores), np.zeros(50), np.zeros(50)
    first.bend(move, alone)
    second = loss.at(-scores)
    first.bend(move, later)
    np.testing.assert_array_equal(alone, later)
    assert second.value != first.value


@given(case=cases())
def test_the_share_in_order_counts_ties_by_half(case: Case) -> None:
    pairs = naive.pairs_of(case.grades, case.groups)
    weights = np.array([case.weight[i] * case.weight[j] for i, j in pairs])
    right = np.array([0.5 * (1 + np.sign(case.scores[i] - case.scores[j])) for i, j in pairs])
    found = PreferencePairs(case.grades, case.groups, case.weight).share_in_order(case.scores)
    assert found == pytest.approx(float(weights @ right / weights.sum()), rel=1e-12)


@pytest.mark.parametrize("scores", [[0.0, 1.0, np.nan, 3.0], [np.inf, 1.0, 2.0, 3.0]])
def test_scores_that_are_no_numbers_are_in_no_order(scores: list[float]) -> None:
    with pytest.raises(InputError, match=r"The score of row [02] is (nan|inf)"):
        PreferencePairs([0, 1, 0, 1]).share_in_order(np.array(scores))


def test_the_loop_over_equal_scores_ends_though_nan_equals_nothing() -> None:
    levels, starts, tree = np.array([0, 1, 0, 1], np.int32), np.array([0, 4]), np.empty(4)
    pair_sums.weight_in_order(np.ones(4), np.array([0.0, 1.0, 3.0, np.nan]), levels, starts, tree)


def test_there_is_a_score_for_each_row() -> None:
    with pytest.raises(InputError, match=r"scores have shape \(2,\), there are 3 rows"):
        PreferencePairs([0, 1, 1]).share_in_order(np.zeros(2))


@pytest.mark.parametrize("n_grades", [2, 4])
def test_scores_far_from_zero_keep_their_differences(n_grades: int) -> None:
    rng = np.random.default_rng(0)
    scores, pairs = rng.integers(-20, 20, 500) / 8, PreferencePairs(rng.integers(0, n_grades, 500))
    for loss in (PairwiseSquaredHinge(pairs), PairwiseHinge(pairs)):
        near, far = loss.at(scores), loss.at(scores + 2.0**28)  # no digit of the scores is lost
        assert far.value == pytest.approx(near.value, rel=1e-6)
        np.testing.assert_allclose(far.slope, near.slope, rtol=0, atol=1e-15)
        assert abs(far.slope.sum()) < 1e-15
