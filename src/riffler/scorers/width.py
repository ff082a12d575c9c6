"""What every RBF kernel settles on the rows of a first batch: how columns are brought to one scale, and the width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riffler.errors import InputError
from riffler.features.blocks import RowBlocks, Scaling
from riffler.records import Matrix, is_sparse


class CentredWarp:
    """Shift and scale columns into float32; a batch may come sparse after a dense one, and is then made dense."""

    def __init__(self, scaling: Scaling) -> None:
        from riffler.features.warp import StandardWarp  # loads scikit-learn

        self._warp, self._shifts = StandardWarp(scaling), scaling.center is not None

    def __call__(self, X: Matrix) -> Matrix:
        """Map a block of rows."""
        return self._warp(X.toarray() if self._shifts and is_sparse(X) else X)


def warp_and_gamma(X: Matrix, scaling: Scaling, gamma: float | None) -> tuple[CentredWarp, float]:
    """Return the warp of a first batch, and gamma as given or ``1 / mean |z - mean z|^2`` of its scaled rows z.

    That is 1 / d for d standardised columns. A kernel of distances does not see a shift, but float32 does: dense
    columns are shifted to their mean even where the scaling leaves them where they are.
    """
    if scaling.center is None and not is_sparse(X):
        scaling = replace(scaling, center=np.asarray(X.mean(axis=0, dtype=np.float64)))
    if gamma is None:
        spread = float(RowBlocks(X, scaling).mean_squares(np.ones(X.shape[0])).sum())
        if is_sparse(X):
            mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() / scaling.scale
            spread -= float(mean @ mean)
        gamma = 1.0 / spread if spread > 1e-9 else 1.0
    return CentredWarp(scaling), gamma


def check_gamma(gamma: float | None) -> None:
    """Refuse a width that is not one."""
    if gamma is not None and not 0 < gamma < np.inf:
        raise InputError(f"gamma must be a positive number, or None for 1 / (spread of the first rows); got {gamma!r}.")


def check_count(name: str, count: int | None) -> None:
    """Refuse a number of support vectors or features that is not one."""
    if count is None:
        return
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {count!r}.")
