"""Rows of finite numbers, one row an example."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array

from riffler.errors import InputError
from riffler.records import Matrix


def checked_rows(X: Matrix) -> Matrix:
    """Give a matrix of any kind as a C-ordered array or a CSR matrix, in double precision.

    >>> checked_rows([[1, 2], [3, 4]])
    array([[1., 2.], [3., 4.]])
    """
    try:
        return check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
    except ValueError as error:
        raise InputError(f"X must be rows of finite numbers, one row an example. {error}") from error
