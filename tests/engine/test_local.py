"""The local engine: blocks and threads make no difference, exclusions hold, and the best are those of a full sort."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.engine import LocalEngine, best_of, local
from riffler.engine.products import pulled_back
from riffler.errors import DataFileError, InputError
from riffler.records import Matrix
from tests.engine.partitions import cut, matrix


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("cuts", [[], [10], [1, 30, 59], [20, 20, 40]])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_and_threads_make_no_difference(
    kind: str, cuts: list[int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "STRETCH", 7)
    X, w = matrix(kind, 60), np.random.default_rng(2).normal(size=7)
    engine = LocalEngine(cut(X, cuts), threads=threads)
    whole = LocalEngine([X])
    np.testing.assert_array_equal(engine.scores(w, 0.5), whole.scores(w, 0.5))
    np.testing.assert_allclose(engine.scores(w), np.asarray(X @ w).ravel(), rtol=1e-6)
    np.testing.assert_array_equal(engine.blank_rows, whole.blank_rows)
    picked = np.array([59, 0, 31, 31, 5])
    gathered = engine.rows(picked)
    np.testing.assert_array_equal(sparse.csr_matrix(gathered).toarray(), sparse.csr_matrix(X[picked]).toarray())
    assert engine.rows(picked[:0]).shape == (0, 7)
    weight = np.arange(60.0)
    np.testing.assert_allclose(engine.sum(pulled_back, weight), np.asarray(X.T @ weight).ravel(), rtol=1e-5)
    assert sum(engine.map(lambda block: int(block.shape[0]))) == engine.n_rows == 60


@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    n=st.integers(0, 40),
    seed=st.integers(0, 1000),
)
def test_the_best_are_those_of_a_full_sort(scores: list[int], n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.array(scores, dtype=float)
    excluded = rng.random(len(values)) < 0.4
    ties = rng.permutation(len(values))
    free = [row for row in range(len(values)) if not excluded[row]]
    for rank in (None, ties):
        wanted = sorted(free, key=lambda row: (-values[row], row if rank is None else rank[row]))[:n]
        engine = LocalEngine([values[:, None]])
        for found in (best_of(values, n, excluded, rank), engine.best(np.ones(1), n, excluded, ties=rank)):
            assert found.rows.tolist() == wanted
            np.testing.assert_array_equal(found.scores, values[wanted])


def test_a_row_without_a_score_is_none_of_the_best() -> None:
    scores = np.array([1.0, np.nan, 3.0, np.nan, 2.0])
    for n, wanted in ((2, [2, 4]), (5, [2, 4, 0])):
        assert best_of(scores, n, np.zeros(5, bool)).rows.tolist() == wanted
        assert LocalEngine([scores[:2, None], scores[2:, None]]).best(np.ones(1), n).rows.tolist() == wanted


def test_keeping_the_best_takes_no_array_of_all_rows() -> None:
    n = 1_000_000
    engine, ties = LocalEngine([np.ones((n, 1), np.float32)], threads=1), np.arange(n)
    engine.best(np.ones(1), 10, ties=ties)
    tracemalloc.start()
    try:
        assert engine.best(np.ones(1), 10, np.array([0, 2]), ties=ties).rows.tolist() == [1, *range(3, 12)]
        assert tracemalloc.get_traced_memory()[1] < n
    finally:
        tracemalloc.stop()


class Broken:
    """A block that cannot be opened."""

    shape = (3, 7)

    def open(self) -> Matrix:
        raise DataFileError("partition 3: bad checksum")


def test_a_block_that_does_not_open_is_named_and_not_skipped() -> None:
    engine = LocalEngine([matrix("dense", 60), Broken()], threads=2)
    for asked in (lambda: engine.best(np.ones(7), 3), lambda: engine.scores(np.ones(7)), lambda: engine.map(len)):
        with pytest.raises(DataFileError, match="partition 3"):
            asked()


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="at least one block"):
        LocalEngine([])
    with pytest.raises(InputError, match="same columns"):
        LocalEngine([np.eye(2), np.eye(3)])
    with pytest.raises(InputError, match="all dense or all sparse"):
        LocalEngine([np.eye(2), sparse.csr_matrix(np.eye(2))]).scores(np.ones(2))
    with pytest.raises(InputError, match="threads"):
        LocalEngine([np.eye(2)], threads=0)
    engine = LocalEngine([np.eye(2)])
    with pytest.raises(InputError, match="weights must have shape"):
        engine.scores(np.ones(3))
    with pytest.raises(InputError, match="finite"):
        engine.best(np.array([1.0, np.nan]), 1)
    with pytest.raises(InputError, match="excluded rows must be 0 to 1"):
        engine.best(np.ones(2), 1, np.array([2]))
    with pytest.raises(InputError, match="one boolean for each"):
        engine.best(np.ones(2), 1, np.array([True]))
    with pytest.raises(InputError, match="ties"):
        engine.best(np.ones(2), 1, ties=np.array([1]))
    with pytest.raises(InputError, match="column must have an entry"):
        engine.map(len, np.ones(3))
    with pytest.raises(InputError, match=r"must be CSR, block 0 is CSC\. Call \.tocsr\(\)"):
        LocalEngine([sparse.csc_matrix(np.eye(2))]).scores(np.ones(2))
    with pytest.raises(InputError, match=r"got a mask\. Pass np\.flatnonzero"):
        engine.rows(np.array([False, True]))
    with pytest.raises(InputError, match="from 0 to 1, got numbers from -1 to 2"):
        engine.rows(np.array([-1, 2]))


def test_stretches_of_a_block_are_scored_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    X, w = matrix("csr", 100), np.random.default_rng(1).normal(size=7)
    wanted = LocalEngine([X]).best(w, 20)
    for size in (1, 3, 50):
        monkeypatch.setattr(local, "STRETCH", size)
        found = LocalEngine([X], threads=2).best(w, 20)
        np.testing.assert_array_equal(found.rows, wanted.rows)
    assert all(a >= b for a, b in pairwise(wanted.scores))
