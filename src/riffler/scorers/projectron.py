"""The Projectron (Orabona, Keshet and Caputo 2009): a row that the support vectors nearly span becomes part of them.

Instead of the inverse of the kernel matrix its Cholesky factor L is kept. It grows by the same rows, loses fewer
digits where support vectors are close, and takes many rows at once: with K the kernels of support vectors (Z) and
rows (R),

    W = L^-1 K_ZR          the rows in an orthonormal basis of the span
    K_RR - W' W            what is left of them outside: its diagonal is delta^2 of each row
    beta = L^-T W[:, i]    row i as a combination of support vectors

A row with delta^2 above the tolerance joins: its remainder becomes a basis vector, which is taken out of the rows
after it. One solve at the end turns all projected rows into coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from riffler.errors import InputError
from riffler.features.blocks import Scaling
from riffler.records import BoolArray, FloatArray, Matrix
from riffler.scorers.support_set import SupportSet, rbf_kernels
from riffler.scorers.width import check_count, check_gamma, warp_and_gamma

ROWS_AT_ONCE = 256  # bounds the kernels among new rows, however many come
# Less than this of a row outside the span is nothing. Projecting it moves no score by more than sqrt(1e-7) of its
# amount; as a support vector it would let coefficients grow until float32 scores lose as much.
RESOLUTION = 1e-7


@dataclass(frozen=True, slots=True)
class RbfProjectron:
    """An RBF kernel whose support set takes only rows that it does not nearly span; the others are projected on it.

    gamma : as of ``Rbf``
    max_size : support vectors at most; a full set projects every row; None for no limit
    tolerance : a row joins if its distance from the span of the support set is larger (eta; rows have length 1)
    """

    gamma: float | None = None
    max_size: int | None = 1000
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_count("max_size", self.max_size)
        if not 0 <= self.tolerance < 1:
            raise InputError(
                f"tolerance must be from 0 to below 1 (no row is farther from the span), got {self.tolerance!r}."
            )

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> ProjectronScorer:
        """Return a scorer without support vectors."""
        support = SupportSet(*warp_and_gamma(X, scaling, self.gamma))
        return ProjectronScorer(support, self.max_size, max(self.tolerance**2, RESOLUTION))


class ProjectronScorer:
    """A support set with the Cholesky factor of its kernel matrix."""

    def __init__(self, support: SupportSet, max_size: int | None, least_left: float) -> None:
        self.support, self.max_size, self.least_left = support, max_size, least_left
        self._factor: FloatArray = np.empty((0, 0))  # L, lower

    @property
    def n_support(self) -> int:
        """Support vectors held."""
        return self.support.n_support

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row."""
        return self.support.scores(X)

    def add(self, X: Matrix, amounts: FloatArray) -> None:
        """Let f grow by the sum of ``amounts[i]`` times the kernel around row i, or its projection."""
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            self._take(self.support.warp(X[some]), amounts[some])

    def _take(self, rows: Matrix, amounts: FloatArray) -> None:
        inside = self._in_basis(self.support.kernels(rows))
        left = rbf_kernels(rows, rows, self.support.gamma) - inside.T @ inside
        room = left.shape[0] if self.max_size is None else self.max_size - self.n_support
        joins, steps = chosen(left, self.least_left, room)
        inside = np.concatenate([inside, steps])
        if joins.any():
            self._factor = _grown(self._factor, inside[:, joins].T)
            self.support.append(rows[joins], amounts[joins])
        # columns of rows that were projected are 0 in the steps after them, and so are their coefficients there
        projected = inside[:, ~joins] @ amounts[~joins]
        self.support.coefs = self.support.coefs + solve_triangular(self._factor, projected, trans="T", lower=True)

    def _in_basis(self, kernels: FloatArray) -> FloatArray:
        if not kernels.size:
            return kernels
        solved: FloatArray = solve_triangular(self._factor, kernels, lower=True)
        return solved


def chosen(left: FloatArray, least_left: float, room: int) -> tuple[BoolArray, FloatArray]:
    """Say which rows join, in their order, and what each of them spans of itself and of the rows after it.

    ``left`` (n, n) holds the products of the rows' remainders and is used up. Returns a mask (n,) and the coordinates
    of the rows in the new basis vectors, shape (n_joined, n): the factor of the rows that join, and 0 for rows before.
    """
    joins = np.zeros(left.shape[0], dtype=bool)
    steps: list[FloatArray] = []
    for i in range(left.shape[0]):
        if len(steps) == room:
            break
        if left[i, i] > least_left:
            step = left[i] / np.sqrt(left[i, i])
            step[:i] = 0.0
            left -= np.outer(step, step)
            joins[i] = True
            steps.append(step)
    return joins, np.array(steps).reshape(len(steps), left.shape[0])


def _grown(factor: FloatArray, new_rows: FloatArray) -> FloatArray:
    """Lower triangular factor with further rows, which span all its columns and their own."""
    n_old, n_all = factor.shape[0], new_rows.shape[1]
    grown = np.zeros((n_all, n_all))
    grown[:n_old, :n_old] = factor
    grown[n_old:] = new_rows
    return grown
