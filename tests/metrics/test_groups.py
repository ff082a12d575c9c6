from __future__ import annotations

from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from riffler.errors import InputError, LabelError
from riffler.metrics import (
    average_precision,
    mean_average_precision,
    mean_over_groups,
    mean_reciprocal_rank,
    metric_by_group,
    ndcg_at,
    precision_at_k,
    reciprocal_rank,
    roc_auc,
)
from tests.metrics.rankings import REPEATABLE, Ranking, tied


@REPEATABLE
@given(ranking=tied(max_rows=20), data=st.data())
def test_group_means_equal_a_plain_loop_over_the_groups_with_a_positive(ranking: Ranking, data: st.DataObject) -> None:
    labels, scores = np.array(ranking[0]), np.array(ranking[1])
    groups = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=len(labels), max_size=len(labels))))
    assume(labels.any())
    members = [groups == name for name in sorted(set(groups)) if labels[groups == name].any()]
    plain_map = fmean(average_precision(labels[rows], scores[rows]) for rows in members)
    plain_mrr = fmean(reciprocal_rank(labels[rows], scores[rows]) for rows in members)
    plain_top = fmean(precision_at_k(labels[rows], scores[rows], 1) for rows in members)
    assert mean_average_precision(labels, scores, groups) == pytest.approx(plain_map, abs=1e-12)
    assert mean_reciprocal_rank(labels, scores, groups) == pytest.approx(plain_mrr, abs=1e-12)
    assert mean_over_groups(precision_at_k, labels, scores, groups, k=1) == pytest.approx(plain_top, abs=1e-12)
    assert metric_by_group(average_precision, labels, scores, groups).n_groups == len(members)


def test_groups_on_which_the_metric_is_undefined_are_skipped_and_counted() -> None:
    labels, groups = [1, 0, 1, 1, 0, 0], ["mixed", "mixed", "all", "all", "none", "none"]
    found = metric_by_group(roc_auc, labels, [6, 5, 4, 3, 2, 1], groups)
    assert (found.groups.tolist(), found.mean, found.n_groups, found.n_skipped) == (["mixed"], 1.0, 1, 2)


def test_a_group_without_a_positive_does_not_count_as_zero_precision() -> None:
    assert mean_over_groups(precision_at_k, [1, 0, 0], [1, 2, 3], [1, 2, 2], k=1) == 1.0


def test_graded_labels_work_with_their_metric() -> None:
    assert mean_over_groups(ndcg_at, [2, 1, 0, 1], [4, 3, 2, 1], [1, 1, 2, 2], n=1) == 0.5


def test_all_groups_without_a_positive_is_an_error() -> None:
    with pytest.raises(LabelError, match="None of the 2 groups"):
        mean_average_precision([0, 0, 0], [1, 2, 3], [1, 1, 2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 1], "groups has 2 rows, labels have 3"),
        ([1.0, float("nan"), 2.0], "groups must name a group in every row; row 1"),
        (["a", None, "b"], "all numbers or all text"),
    ],
)
def test_malformed_groups_are_refused(groups: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mean_average_precision([0, 1, 0], [1, 2, 3], groups)


def test_an_error_inside_a_group_names_the_group_even_where_nothing_is_positive() -> None:
    with pytest.raises(LabelError, match=r"In group 'q2'.*row 1 is -3"):
        mean_average_precision([0, 1, 0, -3], [1, 2, 3, 4], ["q1", "q1", "q2", "q2"])
    with pytest.raises(InputError, match=r"In group 'q2'.*only 1"):
        mean_over_groups(precision_at_k, [0, 1, 1], [1, 2, 3], ["q1", "q1", "q2"], k=2)
