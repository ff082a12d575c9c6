"""Batches hold every row once and their even share of both classes, however the rows are sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.learners.batches import Batches, mean_square, mixed_batches, one_batch
from riffler.records import IntArray


def check_balance(found: Batches, labels: IntArray) -> None:
    np.testing.assert_array_equal(np.sort(found.order), np.arange(len(labels)))
    np.testing.assert_array_equal(found.starts[1:], found.stops[:-1])
    assert found.starts[0] == 0
    assert found.stops[-1] == len(labels)
    lengths = found.stops - found.starts
    positives = [labels[found.order[start:stop]].sum() for start, stop in zip(found.starts, found.stops, strict=True)]
    assert max(positives) - min(positives) <= 1
    negatives = lengths - np.array(positives)
    assert max(negatives) - min(negatives) <= 1
    assert max(lengths) - min(lengths) <= 1


@given(
    n_positive=st.integers(1, 60),
    n_negative=st.integers(1, 200),
    batch_size=st.one_of(st.none(), st.integers(1, 150)),
    ordered=st.booleans(),
    seed=st.integers(0, 99),
)
def test_each_row_once_and_even_shares(
    n_positive: int, n_negative: int, batch_size: int | None, ordered: bool, seed: int
) -> None:
    labels = np.repeat(np.array([1, 0], dtype=np.int8), [n_positive, n_negative])
    rng = np.random.RandomState(seed)
    if not ordered:
        rng.shuffle(labels)
    found = mixed_batches(np.zeros((len(labels), 20)), labels, batch_size, rng)
    check_balance(found, labels)
    if batch_size is not None:
        assert len(found.starts) == max(1, round(len(labels) / batch_size))


def test_a_default_batch_has_about_fifty_positives() -> None:
    labels = (np.arange(40_000) < 800).astype(np.int8)  # 2 %, sorted by label
    found = mixed_batches(np.zeros((40_000, 100)), labels, None, np.random.RandomState(0))
    assert len(found.starts) == 16
    check_balance(found, labels)


def test_rows_are_read_in_runs_of_neighbours() -> None:
    labels = (np.arange(40_000) % 50 == 0).astype(np.int8)
    X = np.zeros((40_000, 100))
    found = mixed_batches(X, labels, None, np.random.RandomState(0))
    negatives = found.order[labels[found.order] == 0]
    near = np.diff(negatives)
    assert np.mean((near == 1) | (near == 2)) > 0.9  # the next row, or the next but a positive


def test_sparse_rows_are_cut_as_well() -> None:
    labels = (np.arange(300) % 3 == 0).astype(np.int8)
    csr = sparse.random_array((300, 40), density=0.1, format="csr", rng=np.random.default_rng(0))
    check_balance(mixed_batches(csr, labels, 50, np.random.RandomState(0)), labels)


def test_shuffling_keeps_the_batches() -> None:
    labels = (np.arange(100) % 3 == 0).astype(np.int8)
    found = mixed_batches(np.zeros((100, 3)), labels, 10, np.random.RandomState(0))
    shuffled = found.shuffled(np.random.RandomState(1))
    assert shuffled.order is found.order
    assert sorted(zip(shuffled.starts, shuffled.stops, strict=True)) == sorted(
        zip(found.starts, found.stops, strict=True)
    )
    assert list(shuffled.starts) != list(found.starts)


def test_one_batch_takes_the_rows_as_they_come() -> None:
    whole = one_batch(4)
    assert (whole.order.tolist(), whole.starts.tolist(), whole.stops.tolist()) == ([0, 1, 2, 3], [0], [4])


def test_mean_square_is_weighted_alike_for_both_storages() -> None:
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(600, 4)), rng.integers(0, 3, 600).astype(float)
    expected = np.average((X**2).sum(axis=1), weights=weight)
    assert mean_square(X, weight) == pytest.approx(expected)
    assert mean_square(sparse.csr_matrix(X), weight) == pytest.approx(expected)
    assert mean_square(np.zeros((3, 2)), np.ones(3)) == 1.0  # nothing to divide by
