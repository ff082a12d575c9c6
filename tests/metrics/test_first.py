from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from riffler.errors import LabelError
from riffler.metrics import precision_at_k, reciprocal_rank, winner_takes_all
from tests.metrics.rankings import REPEATABLE, Ranking, tied
from tests.naive import ranking_metrics as naive


@REPEATABLE
@given(ranking=tied())
def test_reciprocal_rank_equals_the_mean_over_all_tie_orders(ranking: Ranking) -> None:
    assume(1 in ranking[0])
    expected = naive.expected(naive.reciprocal_rank, *ranking)
    assert reciprocal_rank(*ranking) == pytest.approx(expected, abs=1e-12)


@REPEATABLE
@given(ranking=tied())
def test_winner_takes_all_equals_the_mean_over_all_tie_orders(ranking: Ranking) -> None:
    value = winner_takes_all(*ranking)
    assert value == pytest.approx(naive.expected(naive.winner_takes_all, *ranking), abs=1e-12)
    assert value == pytest.approx(precision_at_k(*ranking, 1), abs=1e-12)


def test_one_positive_in_a_large_tie_gives_the_mean_of_the_reciprocals() -> None:
    n_rows = 100_000
    labels = np.zeros(n_rows)
    labels[17] = 1
    expected = (1 / np.arange(1, n_rows + 1)).mean()
    assert reciprocal_rank(labels, np.zeros(n_rows)) == pytest.approx(expected, rel=1e-10)


def test_half_positives_in_a_large_tie_do_not_overflow() -> None:
    # Places are nearly independent coin throws: the sum over j of 2^-j / j is ln 2.
    assert reciprocal_rank(np.arange(100_000) % 2, np.zeros(100_000)) == pytest.approx(np.log(2), abs=1e-5)


def test_no_positive_has_no_rank() -> None:
    with pytest.raises(LabelError, match="needs at least one positive"):
        reciprocal_rank([0, 0], [1, 2])
