"""Products with a matrix whose columns are standardised, or mapped by a kernel, without ever making that matrix.

A solver sees two operations on the n x D matrix Z of features: ``scores`` (Z W) and ``pull_back`` (Z' S). Both work
through blocks of rows; centring and scaling are folded into the weights, and a feature map is applied to one block at
a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from riffler.features.blocked_rows import BlockedRows, bytes_of, has_sparse_rows, whole_blocks
from riffler.records import FloatArray, Matrix, is_sparse

BLOCK_BYTES = 4_000_000
KEPT_BYTES = 32_000_000  # features of the first blocks that are kept between passes, however many rows there are


class FeatureMap(Protocol):
    """A map from rows to features, fitted before it is used here."""

    n_components: int

    def transform(self, X: Matrix) -> FloatArray:
        """Features of a block of rows."""
        ...


@dataclass(frozen=True, slots=True)
class Scaling:
    """Columns are shifted by ``center`` (None for sparse data) and divided by ``scale``."""

    center: FloatArray | None
    scale: FloatArray

    def fold(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Turn weights (D, m) of standardised columns into weights and offsets (m,) of the columns as they are."""
        folded = weights / self.scale[:, None]
        offset = np.zeros(weights.shape[1]) if self.center is None else -(self.center @ folded)
        return folded, offset


def identity_scaling(n_columns: int) -> Scaling:
    """Columns as they are."""
    return Scaling(None, np.ones(n_columns))


def standard_scaling(X: FloatArray | BlockedRows, weight: FloatArray) -> Scaling:
    """Weighted mean 0 and variance 1 for each column of a dense matrix; a constant column keeps its scale."""
    total = weight.sum()
    center = np.zeros(X.shape[1])
    square = np.zeros(X.shape[1])
    for start, stop, block in row_views(X):
        center += weight[start:stop] @ block
    center /= total
    for start, stop, block in row_views(X):
        square += weight[start:stop] @ np.square(block - center)
    spread = np.sqrt(square / total)
    # a spread that is only rounding is no spread
    spread[spread <= 1e-9 * np.maximum(1.0, np.abs(center))] = 1.0
    return Scaling(center, spread)


class RowBlocks:
    """The rows of X as features, a block at a time."""

    def __init__(self, X: Matrix | BlockedRows, scaling: Scaling, feature_map: FeatureMap | None = None) -> None:
        width = 0 if feature_map is None else 4 * feature_map.n_components
        self._X, self._width = X, width
        # views of what lies in memory are made once; chosen rows of a blocked matrix are gathered as they are read, and
        # what is kept of these would be the whole
        self._views = None if isinstance(X, BlockedRows) else list(row_views(X, width))
        self._map = feature_map
        self._kept: dict[int, FloatArray] = {}
        self._scaling = scaling
        self.n_rows: int = X.shape[0]
        self.n_columns: int = X.shape[1] if feature_map is None else feature_map.n_components
        self.dtype: Any = X.dtype if feature_map is None else np.dtype(np.float32)
        self.is_sparse = feature_map is None and has_sparse_rows(X)

    def features(self) -> Iterator[tuple[int, int, Matrix]]:
        """Yield (start, stop, features of these rows, unscaled)."""
        views = row_views(self._X, self._width) if self._views is None else self._views
        for start, stop, block in views:
            yield start, stop, block if self._map is None else self._mapped(start, block, self._map)

    def _mapped(self, start: int, block: Matrix, feature_map: FeatureMap) -> FloatArray:
        if start in self._kept:
            return self._kept[start]
        features = feature_map.transform(block)
        if sum(kept.nbytes for kept in self._kept.values()) + features.nbytes <= KEPT_BYTES:
            self._kept[start] = features
        return features

    def scores(self, weights: FloatArray, out: FloatArray) -> None:
        """Write Z W into ``out`` of shape (m, n_rows), for weights of shape (n_columns, m)."""
        folded, offset = self._scaling.fold(weights)
        folded = np.ascontiguousarray(folded, dtype=self.dtype)
        for start, stop, block in self.features():
            out[:, start:stop] = (block @ folded).T
        out += offset[:, None].astype(self.dtype)

    def pull_back(self, slopes: FloatArray) -> FloatArray:
        """Return Z' S of shape (n_columns, m), for slopes of shape (m, n_rows)."""
        total = np.zeros((self.n_columns, slopes.shape[0]))
        # sparse rows are summed in double precision, which costs nothing: so it makes no difference where blocks end
        kind = np.dtype(np.float64) if self.is_sparse else slopes.dtype
        for start, stop, block in self.features():
            total += _transposed(block) @ np.ascontiguousarray(slopes[:, start:stop].T, dtype=kind)
        if self._scaling.center is not None:
            total -= np.outer(self._scaling.center, slopes.sum(axis=1, dtype=np.float64))
        pulled: FloatArray = total / self._scaling.scale[:, None]
        return pulled

    def mean_squares(self, weight: FloatArray) -> FloatArray:
        """Weighted mean of the square of each column of Z."""
        total = np.zeros(self.n_columns)
        for start, stop, block in self.features():
            if is_sparse(block):
                arrays = np.square(block.data), block.indices, block.indptr
                squares = _holding(arrays, sparse.csr_matrix(block.shape, dtype=block.dtype))
            else:
                squares = np.square(block - self._center())
            total += _transposed(squares) @ weight[start:stop]
        means: FloatArray = total / (float(weight.sum()) * self._scaling.scale**2)
        return means

    def second_moments(self, weight: FloatArray) -> FloatArray:
        """Weighted mean of z z' over the rows of a dense Z, shape (n_columns, n_columns)."""
        total = np.zeros((self.n_columns, self.n_columns))
        for start, stop, block in self.features():
            scaled = (block - self._center()) * np.sqrt(weight[start:stop, None])
            total += scaled.T @ scaled
            del scaled  # before the next one is made
        moments: FloatArray = total / (float(weight.sum()) * np.outer(self._scaling.scale, self._scaling.scale))
        return moments

    def _center(self) -> FloatArray | float:
        return 0.0 if self._scaling.center is None else self._scaling.center.astype(self.dtype)


def mapped_scores(X: Matrix, feature_map: FeatureMap, coef: FloatArray) -> FloatArray:
    """Scores of the rows of X under weights of their features."""
    blocks = row_views(X, 4 * feature_map.n_components)
    return np.concatenate([feature_map.transform(block) @ coef for _, _, block in blocks])


def row_views(X: Matrix | BlockedRows, row_bytes: int = 0) -> Iterator[tuple[int, int, Matrix]]:
    """Yield (start, stop, rows) of about BLOCK_BYTES, by the size of a row or the given one, whichever is larger.

    They share the memory of X, or of its blocks; slicing a CSR matrix would copy it.
    """
    step = int(max(256, BLOCK_BYTES // max(row_bytes, bytes_of(X) // max(X.shape[0], 1), 1)))
    for first_row, end, whole in whole_blocks(X):
        for start in range(0, end - first_row, step):
            stop = min(start + step, end - first_row)
            yield first_row + start, first_row + stop, _view(whole, start, stop)


def _view(X: Matrix, start: int, stop: int) -> Matrix:
    if not is_sparse(X):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    arrays = X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
    return _holding(arrays, sparse.csr_matrix((stop - start, X.shape[1]), dtype=X.dtype))


def _transposed(block: Matrix) -> Matrix:
    if not is_sparse(block):
        return block.T
    arrays = block.data, block.indices, block.indptr
    return _holding(arrays, sparse.csc_matrix(block.shape[::-1], dtype=block.dtype))


def _holding(arrays: tuple[Any, Any, Any], empty: Matrix) -> Matrix:
    """Put the arrays into an empty matrix; its constructor would copy them where they are part of larger ones."""
    empty.data, empty.indices, empty.indptr = arrays
    return empty
