"""Products through blocks equal products with the matrix that is never made."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from riffler.features import blocked_rows, blocks
from riffler.features.blocked_rows import BlockedRows, ChosenRows
from riffler.features.blocks import RowBlocks, Scaling, identity_scaling, mapped_scores, standard_scaling
from riffler.features.kernel import KernelMap
from riffler.features.warp import StandardWarp
from riffler.records import FloatArray

rng = np.random.default_rng(0)
N = 700
X = rng.normal(size=(N, 5)) * (rng.random((N, 5)) < 0.7) * [1, 10, 0.1, 1, 0] + [0, 3, 0, 100, 2]
SPARSE = X * (rng.random((N, 5)) < 0.4)
WEIGHT = rng.integers(0, 3, N).astype(float)


def dense() -> tuple[RowBlocks, FloatArray]:
    scaling = standard_scaling(X, WEIGHT)
    assert scaling.center is not None
    return RowBlocks(X, scaling), (X - scaling.center) / scaling.scale


def csr() -> tuple[RowBlocks, FloatArray]:
    scaling = Scaling(None, np.array([1.0, 5.0, 0.1, 50.0, 1.0]))
    return RowBlocks(sparse.csr_matrix(SPARSE), scaling), SPARSE / scaling.scale


def mapped() -> tuple[RowBlocks, FloatArray]:
    feature_map = KernelMap("fourier", 8, 0.3, StandardWarp(standard_scaling(X, WEIGHT))).fit(
        X, np.random.RandomState(0)
    )
    return RowBlocks(X, identity_scaling(8), feature_map), feature_map.transform(X).astype(float)


@pytest.fixture(autouse=True)
def _several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)  # then a block has the least number of rows, 256
    monkeypatch.setattr(blocks, "KEPT_BYTES", 10_000)  # the first mapped block is kept, the others are made anew


every_kind = pytest.mark.parametrize("make", [dense, csr, mapped])
Make = Callable[[], tuple[RowBlocks, FloatArray]]


@every_kind
def test_scores_and_pull_back(make: Make) -> None:
    rows, Z = make()
    assert sum(1 for _ in rows.features()) == 3
    weights, slopes = rng.normal(size=(Z.shape[1], 3)), rng.normal(size=(3, N))
    tolerance = 1e-9 if rows.dtype == np.float64 else 1e-4
    for _ in range(2):  # the second time some mapped blocks are remembered
        scores = np.full((3, N), np.nan, dtype=rows.dtype)
        rows.scores(weights, scores)
        np.testing.assert_allclose(scores, (Z @ weights).T, atol=tolerance)
        np.testing.assert_allclose(rows.pull_back(slopes.astype(rows.dtype)), Z.T @ slopes.T, atol=30 * tolerance)


@every_kind
def test_moments(make: Make) -> None:
    rows, Z = make()
    tolerance = 1e-9 if rows.dtype == np.float64 else 1e-5
    expected = (Z * WEIGHT[:, None]).T @ Z / WEIGHT.sum()
    np.testing.assert_allclose(rows.mean_squares(WEIGHT), np.diag(expected), atol=tolerance)
    if not rows.is_sparse:
        np.testing.assert_allclose(rows.second_moments(WEIGHT), expected, atol=tolerance)


def test_standard_scaling_is_weighted_and_leaves_constant_columns() -> None:
    scaling = standard_scaling(X, WEIGHT)
    mean = np.average(X, axis=0, weights=WEIGHT)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHT))
    np.testing.assert_allclose(scaling.center, mean)  # type: ignore[arg-type]
    np.testing.assert_allclose(scaling.scale, np.where(spread > 1e-9, spread, 1.0))
    assert scaling.scale[4] == 1.0


def test_folded_weights_give_the_same_scores_up_to_the_offset() -> None:
    _, Z = dense()
    weights = rng.normal(size=(5, 2))
    folded, offset = standard_scaling(X, WEIGHT).fold(weights)
    np.testing.assert_allclose(X @ folded + offset, Z @ weights, atol=1e-9)


def test_blocks_share_the_memory_of_the_rows() -> None:
    matrix = sparse.csr_matrix(SPARSE)
    for _, _, block in RowBlocks(matrix, identity_scaling(5)).features():
        assert np.shares_memory(block.data, matrix.data)
        assert np.shares_memory(block.indices, matrix.indices)
    for _, _, block in RowBlocks(X, identity_scaling(5)).features():
        assert np.shares_memory(block, X)


def test_chosen_rows_are_let_go_when_the_next_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked_rows, "STRETCH_BYTES", 2000)
    numbers = np.flatnonzero(np.arange(N) % 3)
    read = RowBlocks(ChosenRows(BlockedRows([X[:300], X[300:]]), numbers), identity_scaling(5))
    for _ in range(2):  # each pass gathers anew
        gathered = []
        for start, stop, block in read.features():
            np.testing.assert_array_equal(block, X[numbers[start:stop]])
            gathered.append(weakref.ref(block.base))
            assert sum(one() is not None for one in gathered) <= 2
            del block
        assert len(gathered) > 5


def test_mapped_scores_block_by_block() -> None:
    feature_map = KernelMap("fourier", 8, 0.3, StandardWarp(identity_scaling(5))).fit(X, np.random.RandomState(0))
    coef = rng.normal(size=8).astype(np.float32)
    np.testing.assert_allclose(mapped_scores(X, feature_map, coef), feature_map.transform(X) @ coef, atol=1e-5)
