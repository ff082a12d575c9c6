"""Chances from scores: calibrated for margins and logits alike, and never upside down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.search.chances import chances_of, logistic, platt
from riffler.search.ranking import Scores
from tests.search.views import random_view


def test_platt_finds_the_slope_and_offset_of_the_labels() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=20_000)
    relevant = rng.random(20_000) < logistic(3.0 * scores - 1.0)
    assert platt(scores, relevant) == pytest.approx((3.0, -1.0), abs=0.1)


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_chances_do_not_depend_on_the_scale_of_the_scores(seed: int, scale: float, shift: float) -> None:
    view = random_view(seed)
    moved = replace(view, ranking=Scores(scale * view.scores + shift))
    np.testing.assert_allclose(chances_of(moved, moved.pool(1)), chances_of(view, view.pool(1)), atol=1e-4)


def test_a_higher_score_is_never_a_lower_chance() -> None:
    scores = np.array([1.0, 2.0, 3.0])
    slope, offset = platt(scores, np.array([True, False, False]))
    assert slope == 0.0
    assert logistic(np.array([offset]))[0] == pytest.approx((2 / 3 + 2 / 4) / 3, abs=1e-4)


def test_equal_scores_have_equal_finite_chances() -> None:
    view = random_view(1, scored=False)
    assert np.isfinite(chances_of(view, view.pool(1))).all()
    assert np.ptp(chances_of(view, view.pool(1))) == 0.0


def test_scores_are_logits_where_nothing_is_known_or_a_steepness_is_given() -> None:
    view = random_view(2, relevant=False)
    np.testing.assert_array_equal(chances_of(view, view.pool(1)), logistic(view.scores))
    known = random_view(2)
    np.testing.assert_array_equal(chances_of(known, known.pool(1), steepness=2.0), logistic(2.0 * known.scores))
