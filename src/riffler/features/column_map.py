"""Features for a model that starts from nothing: columns on one scale, and random cosines of them, learned unlabelled.

What is learned comes from rows whose labels nobody has seen, so it costs nothing. The map is fitted on the rows of the
first batches and then kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import TruncatedSVD

from riffler.features.blocks import BLOCK_BYTES
from riffler.features.kernel import OrthogonalFourier
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, is_sparse

FARTHEST = 4.0  # scaled values beyond are as far as this: one wild value must not rule a row
WIDE = 1000  # more columns than this are first summarised by their leading directions
DIRECTIONS = 200
SAMPLE_ROWS = 20_000  # rows that are enough to learn a map from
LINEAR, COSINES = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScale:
    """Columns are shifted, divided by ``scale`` and cut at ``FARTHEST``.

    A column of numbers is divided by its spread, a column of zeros and ones by the square root of it: halfway between
    one size for all values and one importance for all columns, so that what is rarely there speaks louder than what is
    common, yet not out of proportion.
    """

    center: FloatArray
    scale: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Map rows to float32 ones."""
        scaled: FloatArray = np.clip((X - self.center) / self.scale, -FARTHEST, FARTHEST).astype(np.float32)
        return scaled


def column_scale(X: FloatArray) -> ColumnScale:
    """Learn shift and scale of the columns from some rows."""
    center, spread = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
    spread = np.where(spread > 1e-9 * np.maximum(1.0, np.abs(center)), spread, 1.0)
    binary: BoolArray = ((X == 0) | (X == 1)).all(axis=0)
    return ColumnScale(center, np.where(binary, np.sqrt(spread), spread))


class ColumnMap:
    """Scaled columns and, for ``n_cosines`` above 0, random cosines that stand for an RBF kernel on them.

    Parameters
    ----------
    n_cosines : int
    gamma : float or None
        Width of the kernel; None takes 1 / mean squared length of the scaled rows.
    seed : int

    Attributes
    ----------
    groups : array of ints, one a feature
        LINEAR for a scaled column, COSINES for a cosine.

    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ColumnMap(n_cosines=10, gamma=None, seed=0).fit(rows).transform(rows).shape
    (500, 13)
    """

    def __init__(self, n_cosines: int, gamma: float | None, seed: int) -> None:
        self._n_cosines, self._gamma, self._seed = n_cosines, gamma, seed

    def fit(self, X: Matrix) -> ColumnMap:
        """Learn the map from some rows."""
        rng = np.random.RandomState(self._seed)
        self._summary: TruncatedSVD | None = None
        if X.shape[1] > WIDE or X.shape[0] > SAMPLE_ROWS:
            X = _sample(X, self._seed)
        if X.shape[1] > WIDE:
            size = min(DIRECTIONS, X.shape[0] - 1, X.shape[1] - 1)
            with np.errstate(divide="ignore", invalid="ignore"):  # shares of a variance of 0, which nobody reads
                self._summary = TruncatedSVD(max(size, 1), random_state=rng).fit(X)
        rows = self._dense(X)
        self._scale = column_scale(rows)
        rows = self._scale(rows)
        self._cosines: OrthogonalFourier | None = None
        if self._n_cosines > 0:
            unit = 1.0 / (float(np.square(rows).sum(axis=1).mean()) or 1.0)
            gamma = unit if self._gamma is None else self._gamma
            self._cosines = OrthogonalFourier(self._n_cosines, gamma, rng).fit(rows)
        self.groups: IntArray = np.repeat([LINEAR, COSINES], [rows.shape[1], self._n_cosines])
        return self

    def _dense(self, X: Matrix) -> FloatArray:
        """Rows as they are, or summarised; how they were stored makes no difference from here on."""
        if self._summary is not None:
            X = self._summary.transform(X)
        dense: FloatArray = X.toarray() if is_sparse(X) else X
        return dense

    @property
    def n_features(self) -> int:
        """Number of features a row gets."""
        return len(self.groups)

    def transform(self, X: Matrix) -> FloatArray:
        """Features of rows, float32 of shape (n_rows, n_features); each has a mean square of about 1."""
        rows = self._scale(self._dense(X))
        if self._cosines is None:
            return rows
        # the kernel's features have mean square 1 / n_cosines
        return np.hstack([rows, np.float32(np.sqrt(self._n_cosines)) * self._cosines.transform(rows)])

    def block_bounds(self, n_rows: int) -> list[tuple[int, int]]:
        """Row ranges whose features take about BLOCK_BYTES."""
        step = max(256, BLOCK_BYTES // (4 * max(self.n_features, 1)))
        return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def _sample(X: Matrix, seed: int) -> Matrix:
    """At most SAMPLE_ROWS rows, evenly spread along a random direction: the same ones in whatever order they came."""
    along = X @ np.random.default_rng(seed).standard_normal(X.shape[1])
    n = min(X.shape[0], SAMPLE_ROWS)
    return X[np.argsort(along, kind="stable")[np.linspace(0, X.shape[0] - 1, n).astype(np.int64)]]
