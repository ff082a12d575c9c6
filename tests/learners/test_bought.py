"""What was bought is kept as it came, dense or sparse; unknown answers are left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from riffler.learners.bought import Bought, stacked
from riffler.records import FloatArray, Matrix, is_sparse

X = np.arange(24.0).reshape(8, 3)
STORAGES: dict[str, Callable[[Matrix], Matrix]] = {"dense": np.asarray, "csr": sparse.csr_matrix}
every_storage = pytest.mark.parametrize("storage", STORAGES)


def dense(rows: Matrix) -> FloatArray:
    found: FloatArray = rows.toarray() if is_sparse(rows) else rows
    return found


@every_storage
def test_unknown_answers_are_left_out(storage: str) -> None:
    rows: Matrix = STORAGES[storage](X)
    nothing = Bought.nothing(rows)
    assert (len(nothing), nothing.has_both, nothing.X.shape) == (0, False, (0, 3))
    one = nothing.more(rows[[4, 1, 2]], np.array([1, -1, 1]), 0, np.array([1.0, 1.0, 0.5]))
    assert not one.has_both
    two = one.more(rows[[0, 7]], np.array([-1, 0]), 3, np.array([0.1, 0.2]))
    assert is_sparse(two.X) == (storage == "csr")
    np.testing.assert_array_equal(dense(two.X), X[[4, 2, 7]])
    assert two.labels.tolist() == [1, 1, 0]
    assert two.rounds.tolist() == [0, 0, 3]
    assert two.probability.tolist() == [1.0, 0.5, 0.2]
    assert (len(nothing), len(one), len(two)) == (0, 2, 3)
    assert two.has_both


@every_storage
def test_only_unknown_answers_are_nothing(storage: str) -> None:
    rows: Matrix = STORAGES[storage](X)
    same = Bought.nothing(rows).more(rows, np.full(8, -1), 0, np.ones(8))
    assert (len(same), same.X.shape, same.has_both) == (0, (0, 3), False)


@every_storage
def test_since_keeps_the_later_rounds(storage: str) -> None:
    rows: Matrix = STORAGES[storage](X)
    bought = Bought.nothing(rows)
    for round in range(4):
        bought = bought.more(rows[[round, round + 4]], np.array([1, 0]), round, np.array([1.0, 0.25]))
    late = bought.since(2)
    np.testing.assert_array_equal(dense(late.X), X[[2, 6, 3, 7]])
    assert (late.labels.tolist(), late.rounds.tolist()) == ([1, 0, 1, 0], [2, 2, 3, 3])
    assert late.probability.tolist() == [1.0, 0.25, 1.0, 0.25]
    assert len(bought.since(9)) == 0
    assert not bought.since(9).has_both


@every_storage
@pytest.mark.parametrize("other", STORAGES)
def test_rows_below_take_the_storage_of_those_above(storage: str, other: str) -> None:
    found = stacked(STORAGES[storage](X), STORAGES[other](X[:2]))
    assert is_sparse(found) == (storage == "csr")
    np.testing.assert_array_equal(dense(found), np.vstack([X, X[:2]]))


def test_labels_count_the_same_or_by_their_chance() -> None:
    bought = Bought.nothing(X).more(X[:4], np.array([1, 0, -1, 1]), 0, np.array([1.0, 0.25, 0.5, 1e-6]))
    assert bought.weights("equal").tolist() == [1.0, 1.0, 1.0]
    assert bought.weights("inverse").tolist() == [1.0, 4.0, 10.0]
