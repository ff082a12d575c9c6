"""The nouns shared by every layer: array aliases and small frozen records."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any
"""A dense 2-D array or a SciPy CSR matrix: rows are items, columns are features."""


def is_sparse(X: Matrix) -> bool:
    """Tell whether X is a SciPy sparse matrix, without loading SciPy."""
    return hasattr(X, "tocsr")


def n_bytes(X: Matrix) -> int:
    """Bytes that hold the values of a dense array or a CSR matrix."""
    if is_sparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
