"""Latent directions of texts (LSA): words that come together say the same, so texts are alike without a common word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray, Matrix

LEAST_LENGTH = 0.05  # a row with less in these directions than this stays short


@dataclass(frozen=True, slots=True, eq=False)
class LatentSpace:
    """Rows in their strongest directions, and how much each column of a row moves it along each of them.

    rows : float32 of shape (n_rows, n_directions), of length 1
    pulls : float32 of shape (n_columns, n_directions); ``X @ pulls`` are the rows, but for the length of each
    """

    rows: FloatArray
    pulls: FloatArray


def latent_space(X: Matrix, n_directions: int = 100, *, order: IntArray | None = None, seed: int = 0) -> LatentSpace:
    """Project rows on their ``n_directions`` strongest directions and divide each by its length.

    ``order`` says in which order the rows are worked on, where the result must not depend on how they are sorted.

    >>> from scipy import sparse
    >>> X = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 2]], dtype=np.float32))
    >>> rows = latent_space(X, 2).rows
    >>> (rows @ rows.T).round(2).tolist()[0]  # the first two have one word in common, and one direction
    [1.0, 1.0, 0.0, 0.0]
    """
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits

    if not 1 <= n_directions < min(X.shape):
        raise InputError(
            f"n_directions must be at least 1 and less than the {X.shape[0]:,} rows and {X.shape[1]:,} columns, "
            f"got {n_directions!r}."
        )
    order = np.arange(X.shape[0]) if order is None else order
    with threadpool_limits(limits=1):  # more threads would add up in another order
        model = TruncatedSVD(n_directions, n_iter=3, random_state=seed)
        made = model.fit_transform(X[order])
    lengths = np.maximum(np.linalg.norm(made, axis=1, keepdims=True), LEAST_LENGTH)
    rows = np.empty(made.shape, dtype=np.float32)
    rows[order] = made / lengths
    pulls = model.components_.T / np.float32(np.median(lengths))  # of a row of the usual length
    return LatentSpace(rows, np.asarray(pulls, dtype=np.float32))
