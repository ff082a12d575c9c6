"""Every method and the baseline see the same train part, and their scores are those of a plain fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from riffler import RankSVM, TopKRanker
from riffler.data.table import Schema, Table
from riffler.errors import InputError, LabelError, UnknownName
from riffler.evaluation import comparison
from riffler.evaluation.comparison import BASELINE, compare, held_out
from tests.cli.stand_in import MeanDifference


def problem(n_items: int = 120, *, labels: Any = None) -> Table:  # noqa: ANN401
    rng = np.random.default_rng(0)
    y = (np.arange(n_items) % 4 == 0).astype(np.int64) if labels is None else labels
    X = rng.normal(size=(n_items, 5)) + (np.arange(n_items) % 4 == 0)[:, None]
    ids = np.array([f"item{number}" for number in range(n_items)])
    return Table(X=X, y=y, qid=None, ids=ids, source="toy", schema=Schema(5))


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def ranker_from_name(name: str, **params: Any) -> MeanDifference:  # noqa: ANN401
        if name != "mean-difference":
            raise UnknownName.among("ranker", name, ["mean-difference"])
        return MeanDifference(**params)

    monkeypatch.setattr(comparison, "ranker_from_name", ranker_from_name)


def test_the_held_out_part_is_stratified_and_shares_no_item() -> None:
    whole = problem(200)
    train, test = held_out(whole, seed=3)
    assert sorted([*train.ids, *test.ids]) == sorted(whole.ids)
    assert test.y is not None
    assert (test.n_items, int(test.y.sum())) == (60, 15)
    rows = [list(whole.ids).index(name) for name in test.ids]
    np.testing.assert_array_equal(test.X, whole.X[rows])
    assert list(held_out(whole, seed=3)[1].ids) == list(test.ids)
    assert list(held_out(whole, seed=4)[1].ids) != list(test.ids)


@pytest.mark.usefixtures("stand_in")
def test_scores_are_those_of_a_plain_fit_on_standardised_features() -> None:
    train, test = held_out(problem(), seed=0)
    ranked, line = compare(["mean-difference"], train, test, k=5, seed=1)
    scaler = StandardScaler().fit(train.X)
    by_hand = LogisticRegression(max_iter=2000).fit(scaler.transform(train.X), train.y)
    np.testing.assert_allclose(line.scores, by_hand.decision_function(scaler.transform(test.X)))
    mean = MeanDifference().fit(scaler.transform(train.X), np.asarray(train.y))
    np.testing.assert_allclose(ranked.scores, mean.decision_function(scaler.transform(test.X)))
    # five of the test items are twelve of the train items, of which there are 7/3 times as many
    assert ranked.model[-1].get_params() == {"k": 12, "progress": None, "random_state": 1}


@pytest.mark.usefixtures("stand_in")
def test_sparse_features_are_used_as_they_are() -> None:
    dense = problem()
    train, test = held_out(dense, seed=0)
    thin = [Table(sparse.csr_matrix(part.X), part.y, None, part.ids, "toy", part.schema) for part in (train, test)]
    ranked, line = compare(["mean-difference"], *thin, k=5)
    by_hand = LogisticRegression(max_iter=2000).fit(thin[0].X, train.y)
    np.testing.assert_allclose(line.scores, by_hand.decision_function(thin[1].X))
    np.testing.assert_allclose(
        ranked.scores, MeanDifference().fit(train.X, np.asarray(train.y)).decision_function(test.X)
    )


def test_the_ranker_that_scales_by_itself_is_not_scaled_twice() -> None:
    train, test = held_out(problem(), seed=0)
    both = compare(["top-k", "sgd-at-k"], train, test, k=5, kernels=["linear", "rbf"])
    assert [one.method for one in both] == ["top-k", "top-k (rbf)", "sgd-at-k", BASELINE]
    assert [type(one.model) for one in both[:2]] == [TopKRanker, TopKRanker]
    assert [one.model.kernel for one in both[:2]] == ["linear", "rbf"]
    assert isinstance(both[2].model[0], StandardScaler)
    (pairs, _) = compare(["active-pairs"], train, test, k=5)
    assert isinstance(pairs.model[0], StandardScaler)
    by_hand = TopKRanker(k=12, random_state=0).fit(train.X, train.labels())
    np.testing.assert_array_equal(both[0].scores, by_hand.decision_function(test.X))


def queries(n_queries: int = 20, n_items: int = 12) -> Table:
    """Grades 0 to 2 by the first column within a query; the second tells queries apart, and is all there is between."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), n_items)
    inside, between = rng.normal(size=len(qid)), 10 * rng.normal(size=n_queries)[qid]
    grades = np.digitize(inside, [-0.5, 0.5]) * (1 + (between > 0))
    X = np.column_stack([inside, between])
    return Table(X=X, y=grades, qid=qid, ids=np.arange(len(qid)), source="toy", schema=Schema(2))


def test_whole_queries_are_held_out_and_pairs_are_within_them() -> None:
    train, test = held_out(queries(), seed=0)
    assert train.qid is not None
    assert test.qid is not None
    assert not set(train.qid) & set(test.qid)
    assert len(set(test.qid)) == 6
    found = compare(["ranksvm", "active-pairs"], train, test, k=10)
    scaler = StandardScaler().fit(train.X)
    by_hand = RankSVM(random_state=0).fit(scaler.transform(train.X), train.labels(), qid=train.qid)
    np.testing.assert_allclose(found[0].scores, by_hand.decision_function(scaler.transform(test.X)))
    for one in found[:2]:
        assert abs(one.model[-1].coef_[0, 1]) < 0.2 * one.model[-1].coef_[0, 0]
    line = LogisticRegression(max_iter=2000).fit(scaler.transform(train.X), np.asarray(train.y) > 0)
    np.testing.assert_allclose(found[2].scores, line.decision_function(scaler.transform(test.X)))


def test_what_queries_cannot_do() -> None:
    train, test = held_out(queries(), seed=0)
    with pytest.raises(LabelError, match=r"labels are grades from 0 to 4, two classes are needed.*--positive"):
        compare(["wsvm"], train, test, k=10)
    alone = replace(train, qid=np.arange(train.n_items))
    with pytest.raises(LabelError, match="no query has items of two different grades"):
        compare(["ranksvm"], alone, test, k=10)
    with pytest.raises(LabelError, match="at least 2 are needed, all rows are of query 0"):
        held_out(queries(n_queries=1), seed=0)


@pytest.mark.usefixtures("stand_in")
def test_the_baseline_is_fitted_once_and_last() -> None:
    train, test = held_out(problem(), seed=0)
    told: list[tuple[float, str]] = []
    methods = ["logistic", "mean-difference", "mean-difference"]
    scored = compare(methods, train, test, k=5, progress=lambda share, doing: told.append((share, doing)))
    assert [one.method for one in scored] == ["mean-difference", BASELINE]
    assert told == [
        (0.0, "mean-difference: fitting"),
        (0.25, "mean-difference: averaging"),
        (0.5, f"{BASELINE}: fitting"),
    ]


@pytest.mark.usefixtures("stand_in")
def test_a_wrong_name_or_kernel_is_an_error_before_any_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeanDifference, "fit", None)
    train, test = held_out(problem(), seed=0)
    with pytest.raises(UnknownName, match="mean-difference"):
        compare(["mean-difference", "nonsense"], train, test, k=5)
    with pytest.raises(InputError, match="has no kernel 'rbf'"):
        compare(["mean-difference"], train, test, k=5, kernels=["rbf"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(120, dtype=int), "all 120 labels are 0"),
        (np.arange(120) % 3, "grades from 0 to 2"),
        ((np.arange(120) < 2).astype(int), "the smaller has 2"),
    ],
)
def test_labels_that_cannot_be_split_are_refused(labels: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(LabelError, match=message):
        held_out(problem(labels=labels), seed=0)


def test_a_table_without_labels_is_refused() -> None:
    whole = problem()
    with pytest.raises(LabelError, match="no labels to learn from"):
        held_out(Table(whole.X, None, None, whole.ids, "toy", whole.schema), seed=0)
