"""A score that is a sum of RBF kernels around rows that were added, in matrix products of tiles.

f(x) = sum_j coefs[j] * exp(-gamma |x - z_j|^2), with z_j the support vectors: rows brought to one scale, in float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.scorers.width import CentredWarp

TILE_ROWS, TILE_SUPPORT = 256, 512  # half a megabyte of products: they are summed before they leave the cache
LOG2_E = math.log2(math.e)


class SupportSet:
    """Support vectors with their coefficients; dense rows are kept dense, sparse rows sparse."""

    def __init__(self, warp: CentredWarp, gamma: float) -> None:
        self.warp, self.gamma = warp, gamma
        self.coefs: FloatArray = np.empty(0)
        self._rows: Matrix = None

    @property
    def n_support(self) -> int:
        """Support vectors held."""
        return self.coefs.size

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row, by one matrix product a tile and a compiled sum of its exponentials."""
        from riffler._fast.rbf import add_rbf_sums

        scores = np.zeros(X.shape[0])
        tiles = list(self._tiles())
        for start in range(0, X.shape[0] if tiles else 0, TILE_ROWS):
            block = self.warp(X[start : start + TILE_ROWS])
            own = self._powers(block)
            for columns, theirs, coefs in tiles:
                add_rbf_sums(_dense(block @ columns), own, theirs, coefs, scores[start : start + TILE_ROWS])
        return scores

    def _tiles(self) -> Iterator[tuple[Matrix, FloatArray, FloatArray]]:
        """Yield support vectors as columns, their squared lengths and coefficients, for exponents of base 2."""
        for start in range(0, self.n_support, TILE_SUPPORT):
            rows = self._rows[start : start + TILE_SUPPORT]
            columns = rows.T * np.float32(2 * self.gamma * LOG2_E)
            columns = columns.tocsr() if is_sparse(columns) else np.ascontiguousarray(columns)
            yield columns, self._powers(rows), self.coefs[start : start + TILE_SUPPORT].astype(np.float32)

    def _powers(self, rows: Matrix) -> FloatArray:
        return (self.gamma * LOG2_E * squared_lengths(rows)).astype(np.float32)

    def kernels(self, rows: Matrix) -> FloatArray:
        """Kernels of the support vectors and scaled rows in float64, shape (n_support, n_rows)."""
        return rbf_kernels(self._rows, rows, self.gamma) if self.n_support else np.empty((0, rows.shape[0]))

    def append(self, rows: Matrix, coefs: FloatArray) -> None:
        """Take scaled rows as further support vectors."""
        if self._rows is None:
            self._rows = rows
        elif is_sparse(self._rows):
            self._rows = sparse.vstack([self._rows, sparse.csr_matrix(rows)], format="csr")
        else:
            self._rows = np.concatenate([self._rows, _dense(rows)])
        self.coefs = np.concatenate([self.coefs, coefs])

    def keep(self, places: IntArray) -> None:
        """Forget all support vectors but those at the given places."""
        self._rows, self.coefs = self._rows[places], self.coefs[places]


def squared_lengths(rows: Matrix) -> FloatArray:
    """Sum of squares of each row, in float64."""
    if is_sparse(rows):
        rows = rows.astype(np.float64)
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    lengths: FloatArray = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return lengths


def rbf_kernels(one: Matrix, other: Matrix, gamma: float) -> FloatArray:
    """Kernels of all pairs of rows in float64, shape (rows of one, rows of other)."""
    products = _dense(one.astype(np.float64) @ other.astype(np.float64).T)
    squares = squared_lengths(one)[:, None] + squared_lengths(other) - 2.0 * products
    kernels: FloatArray = np.exp(-gamma * np.maximum(squares, 0.0))
    return kernels


def _dense(block: Matrix) -> FloatArray:
    dense: FloatArray = block.toarray() if is_sparse(block) else block
    return dense
