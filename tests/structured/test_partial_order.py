"""The order that violates most is that of looking at all orders, for every loss, with ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.errors import FeatureMismatch, InputError, UnknownName
from riffler.records import BoolArray, FloatArray
from riffler.structured.cutting_plane import minimise_by_planes
from riffler.structured.one_by_one import OneByOne
from riffler.structured.order_losses import LOSSES, OrderLoss
from riffler.structured.partial_order import Ordered, OrderExamples, PartialOrder
from tests.naive import partial_order as naive

SETTINGS: list[tuple[str, int | None, float]] = [
    *((name, None, 0.0) for name in LOSSES), ("ndcg", 1, 0.0), ("ndcg", 2, 1.0), ("precision", 2, 0.0),
    ("precision", 3, 0.5), ("mrr", None, 0.3), ("ap", None, 2.0),
]  # fmt: skip
rng = np.random.default_rng(0)
QUERIES = [rng.normal(size=(n, 3)) for n in (4, 9, 6)]
LABELS = [np.arange(len(x)) % 3 == 0 for x in QUERIES]


def cases(n_cases: int, longest: int) -> list[tuple[FloatArray, BoolArray]]:
    made = np.random.default_rng(1)
    found: list[tuple[FloatArray, BoolArray]] = []
    for number in range(n_cases):
        n = int(made.integers(2, longest + 1))
        scores = (
            made.integers(-2, 3, n) / 4.0 if number % 2 else made.normal(scale=made.choice([0.1, 1.0, 3.0]), size=n)
        )
        good = np.arange(n) < made.integers(1, n)
        found.append((scores, made.permutation(good)))
    return found


@pytest.mark.parametrize(("name", "n", "pairs"), SETTINGS)
def test_the_oracle_equals_enumeration(name: str, n: int | None, pairs: float) -> None:
    task = PartialOrder(name, n, pairs)
    for scores, good in cases(25, longest=6):
        x, weights = scores[:, None], np.ones(1)
        worst = task.loss_augmented_argmax(x, good, weights)
        best = naive.hinge(name, n, pairs, scores, good)
        assert naive.height(name, n, pairs, scores, good, tuple(worst.order)) == pytest.approx(best, abs=1e-12)
        in_order = good[worst.order]
        expected = naive.loss(name, n, in_order) + pairs * naive.swapped(in_order)
        assert task.loss(good, worst) == pytest.approx(expected, abs=1e-12)
        assert (weights @ task.joint_feature(x, worst)) == pytest.approx(naive.score(scores, good, worst.order))


@pytest.mark.parametrize(("name", "n", "pairs"), SETTINGS)
def test_looking_at_the_first_places_only_is_enough(name: str, n: int | None, pairs: float) -> None:
    """Rows behind the places that count take their own best cuts: the same as the whole dynamic programme."""
    from riffler._fast.partial_order import worst_orders

    loss = OrderLoss(name, n, pairs)
    for scores, good in cases(40, longest=40):
        examples, quick, whole = OrderExamples.of_labels([good]), np.zeros(len(good)), np.zeros(len(good))
        found = examples.worst(loss, scores, quick)
        if loss.code == 1:
            continue
        args = examples.rows, examples.starts, examples.n_good, examples.share, loss.code, loss.worth(len(good))
        all_places = worst_orders(scores, *args, len(good), loss.pair_weight, whole)
        assert found - quick @ scores == pytest.approx(all_places - whole @ scores, abs=1e-12)


@pytest.mark.parametrize(("name", "n", "pairs"), SETTINGS)
def test_the_batched_problem_is_that_of_the_four_methods(name: str, n: int | None, pairs: float) -> None:
    task = PartialOrder(name, n, pairs)
    batched, one_by_one = task.problem(QUERIES, LABELS, "margin"), OneByOne(task, QUERIES, LABELS)
    for scale in (0.0, 0.5, 5.0):
        weights = scale * rng.normal(size=3)
        ours, theirs = batched.plane(weights), one_by_one.plane(weights)
        assert ours.height(weights) == pytest.approx(theirs.height(weights), abs=1e-12)
        assert batched.cut(1, weights).height(weights) == pytest.approx(one_by_one.cut(1, weights).height(weights))


@pytest.mark.parametrize("form", [sparse.csr_array, lambda x: x.astype(np.float32)], ids=["sparse", "single"])
def test_storage_makes_no_difference(form: Any) -> None:  # noqa: ANN401 - a function
    task, weights = PartialOrder("ndcg", n=3), rng.normal(size=3)
    ours = task.problem([form(x) for x in QUERIES], LABELS, "margin").plane(weights)
    np.testing.assert_allclose(ours.slopes, task.problem(QUERIES, LABELS, "margin").plane(weights).slopes, atol=1e-6)


def test_roc_area_is_the_hinge_of_pairs() -> None:
    from riffler.learners.hinge_rank_svm import HingeRankSVM

    x, good = QUERIES[1], LABELS[1]
    found = minimise_by_planes(PartialOrder("auc").problem([x], [good], "margin").plane, 3, 10.0, tol=1e-5)
    assert found.value == pytest.approx(HingeRankSVM(10.0, tol=1e-5).fit(x, good).loss_, rel=1e-4)


def test_queries_and_settings_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="Query 1 has rows of one kind only"):
        PartialOrder().problem(QUERIES[:2], [LABELS[0], np.ones(9, dtype=bool)], "margin")
    with pytest.raises(InputError, match="Query 0 has 4 rows and 3 labels"):
        PartialOrder().problem(QUERIES[:1], [[1, 0, 0]], "margin")
    with pytest.raises(InputError, match="no oracle for slack rescaling"):
        PartialOrder().problem(QUERIES, LABELS, "slack")
    with pytest.raises(InputError, match="A predicted order has no joint features"):
        PartialOrder().joint_feature(QUERIES[0], PartialOrder().argmax(QUERIES[0], np.zeros(3)))
    with pytest.raises(UnknownName, match="No loss of an order called 'map'"):
        OrderLoss("map")
    with pytest.raises(InputError, match="n must be a positive integer"):
        OrderLoss("ndcg", 0)
    with pytest.raises(InputError, match="pairs must be 0 or above"):
        OrderLoss("ndcg", 3, -1.0)


def test_settings_are_refused_where_the_task_is_made() -> None:
    with pytest.raises(UnknownName, match=r"No loss of an order called 'map'\. Known: ap, auc, mrr, ndcg, precision"):
        PartialOrder("map")
    with pytest.raises(InputError, match="n must be a positive integer"):
        PartialOrder("ndcg", n=0)
    with pytest.raises(InputError, match="pairs must be 0 or above, got '1'"):
        PartialOrder("ndcg", pairs="1")  # type: ignore[arg-type]


def test_what_is_no_order_is_refused_unless_it_is_the_truth() -> None:
    task = PartialOrder("ap")
    assert task.loss([0, 1, 0], np.array([False, True, False])) == 0
    for other in ([1, 0, 2], [0, 1], "010", None):
        with pytest.raises(InputError, match="An output is an Ordered"):
            task.loss([0, 1, 0], other)
    with pytest.raises(InputError, match="The order is of 2 rows, there are 3 labels"):
        task.loss([0, 1, 0], Ordered(np.array([0, 1])))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_named(form: Any, value: float) -> None:  # noqa: ANN401 - a function
    broken = QUERIES[1].copy()
    broken[2, 1] = value
    queries = [QUERIES[0], form(broken)]
    with pytest.raises(InputError, match="Query 1 holds NaN or infinity"):
        PartialOrder().problem(queries, LABELS[:2], "margin")
    with pytest.raises(InputError, match="Query 1 holds NaN or infinity"):
        PartialOrder().argmax_of_all(queries, np.zeros(3))
    with pytest.raises(InputError, match="x holds NaN or infinity"):
        PartialOrder().argmax(queries[1], np.zeros(3))


def test_other_columns_than_were_learned_from_are_named() -> None:
    with pytest.raises(FeatureMismatch, match="Query 1 has 2 columns, there are 3 weights"):
        PartialOrder().argmax_of_all([QUERIES[0], sparse.csr_array(QUERIES[1][:, :2])], np.zeros(3))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_single_matrix_is_told_from_a_list(form: Any) -> None:  # noqa: ANN401 - a function
    with pytest.raises(InputError, match=r"X is a single matrix, of shape \(4, 3\).*one matrix per query"):
        PartialOrder().problem(form(QUERIES[0]), LABELS[0].astype(int), "margin")
    with pytest.raises(InputError, match="X is a single matrix"):
        PartialOrder().argmax_of_all(form(QUERIES[0]), np.zeros(3))
    with pytest.raises(InputError, match=r"The labels of query 0 are a single value, 1.*one matrix per query"):
        PartialOrder().problem(list(QUERIES[0]), [1, 0, 0, 1], "margin")
    with pytest.raises(InputError, match=r"Query 0 must be a matrix with rows and columns, got shape \(3,\)"):
        PartialOrder().argmax_of_all(list(QUERIES[0]), np.zeros(3))


def test_queries_of_one_length_may_stand_in_one_array() -> None:
    X: Any = rng.normal(size=(2, 5, 3))
    Y: Any = np.array([[0, 1, 0, 1, 0], [1, 0, 0, 0, 0]])
    together, apart = (PartialOrder().problem(x, y, "margin") for x, y in ((X, Y), (list(X), list(Y))))
    np.testing.assert_array_equal(together.plane(np.ones(3)).slopes, apart.plane(np.ones(3)).slopes)
