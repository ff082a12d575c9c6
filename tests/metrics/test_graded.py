from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from riffler.errors import InputError, LabelError
from riffler.metrics import ndcg_at
from tests.metrics.rankings import REPEATABLE, Ranking, tied, untied
from tests.naive import ranking_metrics as naive


@REPEATABLE
@given(ranking=tied(max_label=3, max_rows=6), n=st.integers(1, 8))
def test_ndcg_equals_the_mean_over_all_tie_orders(ranking: Ranking, n: int) -> None:
    assume(any(ranking[0]))
    expected = naive.expected(lambda order: naive.ndcg(order, n), *ranking)
    assert ndcg_at(*ranking, n) == pytest.approx(expected, abs=1e-12)


@REPEATABLE
@given(ranking=st.one_of(untied(max_label=4), tied(max_label=4, max_rows=20)), n=st.integers(1, 30))
def test_ndcg_equals_scikit_learn_given_the_gains(ranking: Ranking, n: int) -> None:
    labels, scores = np.array(ranking[0]), np.array(ranking[1])
    assume(labels.any() and labels.size > 1)
    assert ndcg_at(labels, scores, n) == pytest.approx(ndcg_score([2.0**labels - 1], [scores], k=n), abs=1e-12)


def test_large_integer_scores_are_not_rounded_into_ties() -> None:
    assert ndcg_at([1, 0], np.array([2**62 + 1, 2**62]), 1) == 1.0


@pytest.mark.parametrize(("labels", "row"), [([0, -1], 1), ([1, 0, 600], 2), ([float("nan"), 1], 0), (["a", "b"], 0)])
def test_labels_that_are_no_grades_name_their_row(labels: list[object], row: int) -> None:
    with pytest.raises(LabelError, match=f"row {row} is"):
        ndcg_at(labels, [1.0] * len(labels), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_n_must_be_a_positive_integer(n: int) -> None:
    with pytest.raises(InputError, match="n must be a positive integer"):
        ndcg_at([1, 0], [1, 2], n)


def test_nothing_relevant_has_no_ndcg() -> None:
    with pytest.raises(LabelError, match="grade above 0"):
        ndcg_at([0, 0], [1, 2], 2)
