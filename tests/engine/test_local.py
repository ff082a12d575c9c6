"""The local engine: blocks make no difference, exclusions hold, and the best are those of a full sort."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from riffler.engine import LocalEngine
from riffler.engine.local import best_of
from riffler.errors import InputError
from riffler.records import Matrix


def matrix(kind: str, seed: int = 0) -> Matrix:
    X = np.random.default_rng(seed).normal(size=(60, 7)) * (np.random.default_rng(seed + 1).random((60, 7)) < 0.5)
    return sparse.csr_matrix(X.astype(np.float32)) if kind == "csr" else X


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("cuts", [[], [10], [1, 30, 59]])
def test_blocks_make_no_difference(kind: str, cuts: list[int]) -> None:
    X, w = matrix(kind), np.random.default_rng(2).normal(size=7)
    edges = [0, *cuts, 60]
    engine = LocalEngine([X[a:b] for a, b in pairwise(edges)])
    whole = LocalEngine([X])
    np.testing.assert_array_equal(engine.scores(w, 0.5), whole.scores(w, 0.5))
    np.testing.assert_allclose(engine.scores(w), np.asarray(X @ w).ravel(), rtol=1e-6)
    picked = np.array([59, 0, 31, 31, 5])
    gathered = engine.rows(picked)
    np.testing.assert_array_equal(
        np.asarray(sparse.csr_matrix(gathered).todense()), sparse.csr_matrix(X[picked]).todense()
    )
    assert engine.rows(picked[:0]).shape == (0, 7)
    total = engine.sum(lambda start, block: np.asarray(block.sum(axis=0)).ravel() * 1.0)
    np.testing.assert_allclose(total, np.asarray(X.sum(axis=0)).ravel(), rtol=1e-5)
    assert sum(engine.map(lambda block: int(block.shape[0]))) == engine.n_rows == 60


@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    n=st.integers(0, 40),
    seed=st.integers(0, 1000),
)
def test_the_best_are_those_of_a_full_sort(scores: list[int], n: int, seed: int) -> None:
    values = np.array(scores, dtype=float)
    excluded = np.random.default_rng(seed).random(len(values)) < 0.4
    wanted = sorted((row for row in range(len(values)) if not excluded[row]), key=lambda row: (-values[row], row))[:n]
    found = best_of(values, n, excluded)
    assert found.rows.tolist() == wanted
    np.testing.assert_array_equal(found.scores, values[wanted])


def test_bad_blocks_are_named() -> None:
    with pytest.raises(InputError, match="at least one block"):
        LocalEngine([])
    with pytest.raises(InputError, match="same columns"):
        LocalEngine([np.eye(2), np.eye(3)])
