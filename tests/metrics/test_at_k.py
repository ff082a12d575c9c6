from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from riffler.errors import InputError, LabelError
from riffler.metrics import prec_at_k_loss, precision_at_k, recall_at_k, resolve_k
from tests.metrics.rankings import REPEATABLE, Ranking, tied
from tests.naive import ranking_metrics as naive


@REPEATABLE
@given(ranking=tied(), data=st.data())
def test_measures_at_k_equal_the_mean_over_all_tie_orders(ranking: Ranking, data: st.DataObject) -> None:
    labels, scores = ranking
    k = data.draw(st.integers(1, len(labels)))
    expected = naive.expected(lambda order: naive.precision(order, k), labels, scores)
    assert precision_at_k(labels, scores, k) == pytest.approx(expected, abs=1e-12)
    assert prec_at_k_loss(labels, scores, k) == pytest.approx(k * (1 - expected), abs=1e-12)
    assume(1 in labels)
    expected = naive.expected(lambda order: naive.recall(order, k), labels, scores)
    assert recall_at_k(labels, scores, k) == pytest.approx(expected, abs=1e-12)


@REPEATABLE
@given(ranking=tied(max_rows=12), k=st.sampled_from([1, 2, 0.1, 0.5, 0.75, 1.0]), data=st.data())
def test_an_integer_weight_repeats_the_row_exactly(ranking: Ranking, k: int | float, data: st.DataObject) -> None:
    labels, scores = np.array(ranking[0]), np.array(ranking[1])
    weight = data.draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels)))
    assume((labels * weight).sum() > 0 and sum(weight) >= 2)
    repeated = np.repeat(labels, weight), np.repeat(scores, weight)
    assert precision_at_k(labels, scores, k, sample_weight=weight) == precision_at_k(*repeated, k)
    assert recall_at_k(labels, scores, k, sample_weight=weight) == recall_at_k(*repeated, k)


@REPEATABLE
@given(ranking=tied(max_rows=12), data=st.data())
def test_neither_row_order_nor_a_rising_map_of_the_scores_matters(ranking: Ranking, data: st.DataObject) -> None:
    labels, scores = np.array(ranking[0]), np.array(ranking[1])
    k = data.draw(st.integers(1, len(labels)))
    shuffled = np.array(data.draw(st.permutations(range(len(labels)))))
    value = precision_at_k(labels, scores, k)
    assert precision_at_k(labels[shuffled], scores[shuffled], k) == value
    assert precision_at_k(labels, np.exp(scores), k) == value


def test_fractional_weights_count_towards_k() -> None:
    # The top two units of weight are 1.5 of the positive and 0.5 of the negative row.
    assert precision_at_k([1, 0, 0], [3, 2, 1], 2, sample_weight=[1.5, 0.75, 0.75]) == 0.75
    assert recall_at_k([1, 0, 1], [3, 2, 1], 2, sample_weight=[1.5, 1.0, 0.5]) == 0.75


def test_weights_that_round_to_just_under_k_still_reach_it() -> None:
    weight = [0.1] * 10
    assert sum(weight) < 1
    assert precision_at_k([1] * 10, list(range(10)), 1, sample_weight=weight) == pytest.approx(1.0)


def test_large_integer_scores_are_not_rounded_into_ties() -> None:
    assert precision_at_k([1, 0], np.array([2**62 + 1, 2**62]), 1) == 1.0


def test_one_and_one_point_zero_are_different_k() -> None:
    labels, scores = [1, 0, 1, 1], [4, 3, 2, 1]
    assert precision_at_k(labels, scores, 1) == 1.0
    assert precision_at_k(labels, scores, 1.0) == pytest.approx(2 / 3)


def test_precision_without_positives_is_zero_but_a_share_of_them_is_undefined() -> None:
    assert precision_at_k([0, 0], [1, 2], 1) == 0.0
    with pytest.raises(LabelError, match="share of the positives"):
        precision_at_k([0, 0], [1, 2], 0.5)
    with pytest.raises(LabelError, match="needs at least one positive"):
        recall_at_k([0, 0], [1, 2], 1)


@pytest.mark.parametrize(
    ("k", "n_positive", "rows"),
    [
        (7, 3, 7),
        (np.int32(7), 0, 7),
        (0.25, 100, 25),
        (np.float32(0.5), 10, 5),
        (0.25, 10, 2),
        (0.01, 10, 1),
        (1.0, 9, 9),
    ],
)
def test_k_is_a_count_or_a_share_of_the_positives(k: int | float, n_positive: float, rows: int) -> None:
    resolved = resolve_k(k, n_positive)
    assert resolved == rows
    assert type(resolved) is int


@pytest.mark.parametrize("k", [0, -3, 0.0, -0.5, float("nan"), True, np.True_, "5", None])
def test_other_k_are_refused(k: int | float) -> None:
    with pytest.raises(InputError, match="positive integer"):
        resolve_k(k, 10)


def test_a_float_above_one_is_told_to_be_an_int() -> None:
    with pytest.raises(InputError, match=r"pass an int, such as k=50"):
        resolve_k(50.0, 100)


def test_k_beyond_the_rows_says_how_many_there_are() -> None:
    with pytest.raises(InputError, match=r"k=5 .* only 3"):
        precision_at_k([1, 0, 1], [1, 2, 3], 5)
    with pytest.raises(InputError, match=r"k=2 .* only 1.5"):
        precision_at_k([1, 0, 1], [1, 2, 3], 2, sample_weight=[0.5, 0.5, 0.5])
