"""Measures of a search against slow counts and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import InputError
from riffler.evaluation.search_measures import (
    RECALLS,
    discovery,
    found_at_share,
    labels_at_recall,
    n_needed,
    recall_curve,
    spread_of,
    time_to_discovery,
    without_priors,
    work_saved,
)

answer_lists = st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=60).filter(lambda answers: 1 in answers)


@given(answers=answer_lists, n_missed=st.integers(0, 5), n_unread=st.integers(5, 50), recall=st.sampled_from(RECALLS))
def test_labels_at_recall_is_the_first_place_where_the_recall_is_reached(
    answers: list[int], n_missed: int, n_unread: int, recall: float
) -> None:
    n_relevant = answers.count(1) + n_missed
    run = discovery(answers, len(answers) + n_unread, n_relevant)
    reached = [n for n in range(1, len(answers) + 1) if answers[:n].count(1) / n_relevant >= recall - 1e-9]
    assert labels_at_recall(run, recall) == (reached[0] if reached else None)


@given(answers=answer_lists, n_unread=st.integers(0, 50))
def test_the_curve_and_the_mean_time_are_those_of_a_slow_count(answers: list[int], n_unread: int) -> None:
    run = discovery(answers, len(answers) + n_unread, answers.count(1))
    places = [n for n in range(1, len(answers) + 1) if answers[n - 1] == 1]
    assert time_to_discovery(run) == pytest.approx(sum(places) / len(places))
    labels = np.arange(len(answers) + 1)
    np.testing.assert_allclose(recall_curve(run, labels), [answers[:n].count(1) / len(places) for n in labels])


def test_measures_by_hand() -> None:
    run = discovery([1, 0, 0, 1, 0, 1, 0, 0, 1, 0], n_items=40, n_relevant=4)
    assert [labels_at_recall(run, recall) for recall in (0.25, 0.5, 0.8, 1.0)] == [1, 4, 9, 9]
    assert work_saved(run) == pytest.approx(31 / 40 - 0.05)
    assert found_at_share(run) == 0.5  # four of forty read
    assert time_to_discovery(run) == 5.0


def test_a_run_that_ended_early_has_no_cost_of_what_it_did_not_reach() -> None:
    run = discovery([1, 0, 1], n_items=40, n_relevant=4)
    assert labels_at_recall(run, 0.8) is None
    assert work_saved(run) is None
    assert time_to_discovery(run) is None
    assert found_at_share(run) is None  # three of forty read, and a tenth are four
    assert found_at_share(discovery([1, 0, 1, 0], n_items=40, n_relevant=4)) == 0.5
    assert found_at_share(discovery([1, 0, 1], n_items=40, n_relevant=2)) == 1.0  # it ended as there is no more


def test_counted_from_the_first_suggestion_on() -> None:
    run = discovery([1, 0, 0, 1, 1], n_items=20, n_relevant=3)
    later = without_priors(run, 2)
    assert later is not None
    assert (later.n_items, later.n_relevant) == (18, 2)
    assert labels_at_recall(later, 1.0) == 3
    assert without_priors(discovery([1, 0], n_items=20, n_relevant=1), 2) is None


def test_the_spread_is_known_only_if_every_run_got_there() -> None:
    known = spread_of([10, 14])
    assert (known.mean, known.spread, known.runs) == (12.0, 2.0, (10, 14))
    assert spread_of([10, None]).mean is None
    assert spread_of([]).mean is None


@given(n_relevant=st.integers(1, 2000), recall=st.sampled_from(RECALLS))
def test_as_many_as_needed_and_not_one_more(n_relevant: int, recall: float) -> None:
    needed = n_needed(recall, n_relevant)
    assert needed / n_relevant >= recall - 1e-9
    assert needed == 1 or math.floor(needed - 1) / n_relevant < recall - 1e-12


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="3 answers with 2 relevant ones do not fit a collection of 10 items with 1"):
        discovery([1, 1, 0], n_items=10, n_relevant=1)
    with pytest.raises(InputError, match="at least one relevant item"):
        discovery([0], n_items=10, n_relevant=0)
