"""Sort and linear assignment both find the order that violates most: that of looking at all permutations."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import FeatureMismatch, InputError, UnknownName
from riffler.records import FloatArray
from riffler.structured.assignment import Assignment
from riffler.structured.one_by_one import OneByOne
from riffler.structured.partial_order import Ordered
from tests.naive import assignment as naive

SETTINGS: list[tuple[str, int, str | float]] = [
    (name, n, places)
    for name, n in (("ndcg", 5), ("ndcg", 2), ("precision", 2), ("mrr", 5))
    for places in ("discount", "linear", 0.25)
]
every_setting = pytest.mark.parametrize(("name", "n", "places"), SETTINGS)


def cases(name: str, n_cases: int) -> list[tuple[FloatArray, FloatArray]]:
    rng = np.random.default_rng(len(name))
    found: list[tuple[FloatArray, FloatArray]] = []
    for number in range(n_cases):
        length = int(rng.integers(2, 6))
        grades = np.zeros(length) if name == "mrr" else rng.integers(0, 3, length).astype(float)
        grades[rng.integers(length)] = 3
        if grades.min() == grades.max():
            grades[np.argmax(grades == 3)] = 0
        scores = (
            rng.integers(-2, 3, length) / 4.0 if number % 2 else rng.normal(scale=rng.choice([0.2, 2.0]), size=length)
        )
        found.append((scores, grades))
    return found


@every_setting
def test_both_oracles_equal_enumeration(name: str, n: int, places: str | float) -> None:
    task = Assignment(name, n, places)
    for scores, grades in cases(name, 12):
        best = naive.hinge(name, n, places, scores, grades)
        gains = task.gains(grades, "y")
        for order in (task.worst(scores, gains), task.assigned(scores, gains)):
            found = naive.height(name, n, places, scores, grades, tuple(order.tolist()))
            assert found == pytest.approx(best, abs=1e-12)
            assert task.loss(grades, Ordered(order)) == pytest.approx(
                naive.loss(name, n, grades, tuple(order)), abs=1e-12
            )
        cut = task.problem([scores[:, None]], [grades], "margin").cut(0, np.ones(1))
        assert cut.height(np.ones(1)) == pytest.approx(best, abs=1e-12)


@every_setting
def test_the_batched_problem_is_that_of_the_four_methods(name: str, n: int, places: str | float) -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 3)) for length in (3, 8, 2)]
    Y = [np.eye(len(x))[1] * 2 for x in X]
    task = Assignment(name, n, places)
    batched, one_by_one = task.problem(X, Y, "margin"), OneByOne(task, X, Y)
    for scale in (0.0, 0.5, 5.0):
        weights = scale * rng.normal(size=3)
        ours, theirs = batched.plane(weights), one_by_one.plane(weights)
        assert ours.height(weights) == pytest.approx(theirs.height(weights), abs=1e-12)
        assert batched.cut(1, weights).height(weights) == pytest.approx(one_by_one.cut(1, weights).height(weights))
    assert task.argmax_of_all(X, weights)[0].order.tolist() == np.argsort(-X[0] @ weights).tolist()


def test_large_grades_have_the_loss_of_small_ones() -> None:
    order = Ordered(np.array([1, 0, 2]))
    assert Assignment("ndcg").loss([5001, 5000, 4999], order) == pytest.approx(
        1 - (0.5 + 1 / np.log2(3) + 0.125) / (1 + 0.5 / np.log2(3) + 0.125)
    )


def test_queries_and_settings_that_cannot_be_used() -> None:
    x = np.zeros((3, 1))
    for grades, said in (
        ([1, 1, 1], "Query 0 has documents of one grade only"),
        ([1, -1, 0], "each a finite number, 0 or more"),
        ([1, np.nan, 0], "each a finite number, 0 or more"),
        ([1, 0], "Query 0 has 3 rows and 2 labels"),
    ):
        with pytest.raises(InputError, match=said):
            Assignment().problem([x], [grades], "margin")
    with pytest.raises(InputError, match=r"2 relevant documents.*Use PartialOrder"):
        Assignment("mrr").problem([x], [[1, 1, 0]], "margin")
    with pytest.raises(InputError, match="no oracle for slack rescaling"):
        Assignment().problem([x], [[1, 0, 0]], "slack")
    with pytest.raises(InputError, match="Precision needs n"):
        Assignment("precision")
    with pytest.raises(InputError, match="places must be a name or a number above 0"):
        Assignment(places=-1.0)
    with pytest.raises(UnknownName, match="No weight of places called 'flat'"):
        Assignment(places="flat")
    with pytest.raises(UnknownName, match="No loss of an assignment called 'ap'"):
        Assignment("ap")


def test_what_is_no_order_is_refused_unless_it_is_the_truth() -> None:
    assert Assignment().loss([0, 2, 1], np.array([0, 2, 1])) == 0
    for other in ([1, 2, 0], [0, 2], None):
        with pytest.raises(InputError, match="An output is an Ordered"):
            Assignment().loss([0, 2, 1], other)
    with pytest.raises(InputError, match="The order is of 2 rows, there are 3 labels"):
        Assignment().loss([0, 2, 1], Ordered(np.array([0, 1])))


def test_rows_that_cannot_be_used_are_named() -> None:
    x, weights = np.arange(6.0).reshape(3, 2), np.ones(2)
    broken = np.where(x == 3, np.nan, x)
    with pytest.raises(InputError, match="Query 1 holds NaN or infinity"):
        Assignment().problem([x, broken], [[0, 1, 2]] * 2, "margin")
    with pytest.raises(InputError, match="Query 1 holds NaN or infinity"):
        Assignment().argmax_of_all([x, broken], weights)
    with pytest.raises(InputError, match="x holds NaN or infinity"):
        Assignment().argmax(broken, weights)
    with pytest.raises(FeatureMismatch, match="Query 0 has 2 columns, there are 3 weights"):
        Assignment().argmax_of_all([x.astype(np.float32)], np.ones(3))


def test_a_single_matrix_is_told_from_a_list() -> None:
    x = np.zeros((3, 2))
    with pytest.raises(InputError, match=r"X is a single matrix.*one matrix per query and a list with its labels"):
        Assignment().problem(x, np.array([0, 1, 2]), "margin")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="X is a single matrix"):
        Assignment().argmax_of_all(x, np.ones(2))  # type: ignore[arg-type]
