"""Rows read the same numbers whether they are stored dense or sparse, in float32 or float64."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from riffler._fast.rows import (
    add_row,
    as_rows,
    count_wanted,
    largest_square,
    moments_of_rows,
    row_dot,
    row_square,
    scores_of_all,
)
from riffler.records import FloatArray, Matrix

rng = np.random.default_rng(0)
X = (rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6)).astype(np.float32).astype(np.float64)
X[3] = 0.0  # a row without any entry
W = rng.normal(size=5)


def _doors(rows: Any, i: int, step: float, w: FloatArray) -> Any:  # noqa: ANN401 - numba finds the types
    return row_dot(rows, i, w), row_square(rows, i), add_row(rows, i, step, w)


doors = njit(_doors)


def stored(how: str) -> Matrix:
    if how.startswith("dense"):
        return X.astype(np.float32 if how.endswith("32") else np.float64)
    csr = sparse.csr_matrix(X.astype(np.float32) if "float32" in how else X)
    if how.endswith("int64"):
        csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


@pytest.mark.parametrize("how", ["dense float32", "dense float64", "csr float32 int32", "csr float64 int64"])
def test_every_storage_gives_the_numbers_of_numpy(how: str) -> None:
    rows = as_rows(stored(how))
    for i in range(len(X)):
        w = W.copy()
        dot, square, change = doors(rows, i, -0.7, w)
        moved = W - 0.7 * X[i]
        assert dot == pytest.approx(X[i] @ W, abs=1e-12)
        # a float32 row has float32 squares in the dense case; they are summed in float64
        assert square == pytest.approx(X[i] @ X[i], rel=1e-6 if "float32" in how else 1e-12)
        assert change == pytest.approx(moved @ moved - W @ W, abs=1e-12)
        np.testing.assert_allclose(w, moved, atol=1e-14)


def test_nothing_is_copied() -> None:
    dense, csr = stored("dense float64"), stored("csr float32 int32")
    assert np.shares_memory(as_rows(dense).values, dense)
    assert np.shares_memory(as_rows(csr).data, csr.data)


def test_scores_and_largest_norm_of_all_rows() -> None:
    out = np.empty(len(X))
    scores_of_all(as_rows(X), len(X), W, out)
    np.testing.assert_allclose(out, X @ W, atol=1e-14)
    assert largest_square(as_rows(X), len(X)) == pytest.approx((X**2).sum(axis=1).max())


def test_wanted_columns_are_counted_row_by_row() -> None:
    csr, is_wanted = sparse.csr_matrix(X), np.array([True, False, True, False, True])
    out = np.empty(len(X), dtype=np.int64)
    count_wanted(csr.indices, csr.indptr, is_wanted, out)
    assert out.tolist() == np.count_nonzero(X[:, is_wanted], axis=1).tolist()


def test_anything_else_is_refused_at_compile_time() -> None:
    with pytest.raises(Exception, match="rows must be DenseRows, CsrRows or SimilarRows"):
        doors(X, 0, 1.0, W.copy())


@pytest.mark.parametrize("how", ["dense float32", "dense float64", "csr float32 int32", "csr float64 int64"])
def test_moments_are_those_of_numpy(how: str) -> None:
    slopes, stiffness = np.arange(7.0) - 3.0, np.arange(7.0)
    slopes[0] = 0.0  # where nothing is stiff there is no slope
    out = np.ones((3, 5))
    moments_of_rows(as_rows(stored(how)), slopes, stiffness, out)
    np.testing.assert_allclose(out, 1.0 + np.array([slopes @ X, stiffness @ X, stiffness @ X**2]), rtol=1e-6)
