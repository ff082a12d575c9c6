from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from riffler.errors import InputError, LabelError
from riffler.metrics import average_precision, partial_auc, roc_auc
from tests.metrics.rankings import REPEATABLE, Ranking, one_class, tied, untied
from tests.naive import ranking_metrics as naive


@REPEATABLE
@given(ranking=tied())
def test_auc_equals_the_mean_over_all_tie_orders(ranking: Ranking) -> None:
    assume(not one_class(ranking[0]))
    assert roc_auc(*ranking) == pytest.approx(naive.expected(naive.auc, *ranking), abs=1e-12)


@REPEATABLE
@given(ranking=tied(max_rows=30), data=st.data())
def test_auc_equals_scikit_learn_with_ties_and_weights(ranking: Ranking, data: st.DataObject) -> None:
    labels, scores = ranking
    assume(not one_class(labels))
    weight = data.draw(st.lists(st.floats(0.1, 5), min_size=len(labels), max_size=len(labels)))
    assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    peer = roc_auc_score(labels, scores, sample_weight=weight)
    assert roc_auc(labels, scores, sample_weight=weight) == pytest.approx(peer, abs=1e-12)


@REPEATABLE
@given(ranking=tied(max_rows=12), data=st.data())
def test_an_integer_weight_repeats_the_row_exactly(ranking: Ranking, data: st.DataObject) -> None:
    labels, scores = np.array(ranking[0]), np.array(ranking[1])
    weight = data.draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels)))
    repeated = np.repeat(labels, weight), np.repeat(scores, weight)
    assume(not one_class(repeated[0].tolist()))
    assert roc_auc(labels, scores, sample_weight=weight) == roc_auc(*repeated)


@REPEATABLE
@given(ranking=tied(), max_fpr=st.sampled_from([0.05, 0.2, 1 / 3, 0.5, 0.7, 1.0]))
def test_partial_auc_equals_the_mean_over_all_tie_orders(ranking: Ranking, max_fpr: float) -> None:
    assume(not one_class(ranking[0]))
    expected = naive.expected(lambda order: naive.partial_auc(order, max_fpr), *ranking)
    assert partial_auc(*ranking, max_fpr) == pytest.approx(expected, abs=1e-12)


@REPEATABLE
@given(ranking=untied(), max_fpr=st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_partial_auc_gives_scikit_learn_s_number_by_the_documented_formula(ranking: Ranking, max_fpr: float) -> None:
    assume(not one_class(ranking[0]))
    area = max_fpr * partial_auc(*ranking, max_fpr)
    chance = max_fpr**2 / 2
    standardised = (1 + (area - chance) / (max_fpr - chance)) / 2
    assert standardised == pytest.approx(roc_auc_score(*ranking, max_fpr=max_fpr), abs=1e-12)


@REPEATABLE
@given(ranking=tied(max_rows=30))
def test_the_whole_partial_auc_is_the_auc(ranking: Ranking) -> None:
    assume(not one_class(ranking[0]))
    assert partial_auc(*ranking, 1.0) == pytest.approx(roc_auc(*ranking), abs=1e-12)


@REPEATABLE
@given(ranking=tied())
def test_average_precision_equals_the_mean_over_all_tie_orders(ranking: Ranking) -> None:
    assume(1 in ranking[0])
    expected = naive.expected(naive.average_precision, *ranking)
    assert average_precision(*ranking) == pytest.approx(expected, abs=1e-12)


@REPEATABLE
@given(ranking=untied())
def test_average_precision_equals_scikit_learn_where_nothing_ties(ranking: Ranking) -> None:
    assume(1 in ranking[0])
    assert average_precision(*ranking) == pytest.approx(average_precision_score(*ranking), abs=1e-12)


def test_average_precision_differs_from_scikit_learn_s_on_ties_as_documented() -> None:
    assert average_precision([1, 0], [0, 0]) == 0.75
    assert average_precision_score([1, 0], [0, 0]) == 0.5


def test_long_ties_give_the_mean_of_many_random_orders() -> None:
    rng = np.random.default_rng(5)
    labels, scores = rng.random(2_000) < 0.05, rng.integers(0, 40, 2_000)
    jittered = [average_precision(labels, scores + 0.5 * rng.random(2_000)) for _ in range(500)]
    spread = np.std(jittered) / np.sqrt(500)
    assert average_precision(labels, scores) == pytest.approx(np.mean(jittered), abs=4 * spread)


@pytest.mark.parametrize("max_fpr", [0, -0.1, 1.5, float("nan")])
def test_max_fpr_outside_its_range_is_refused(max_fpr: float) -> None:
    with pytest.raises(InputError, match=r"max_fpr must be in \(0, 1\]"):
        partial_auc([1, 0], [1, 2], max_fpr)


def test_one_class_alone_has_no_area() -> None:
    with pytest.raises(LabelError, match="needs at least one negative"):
        roc_auc([1, 1], [1, 2])
    with pytest.raises(LabelError, match="needs at least one positive"):
        partial_auc([0, 0], [1, 2], 0.5)
    with pytest.raises(LabelError, match="needs at least one positive"):
        average_precision([0, 0], [1, 2])
