"""Dense or sparse: the form in which a matrix takes less memory, or the form of another table."""

from __future__ import annotations

from riffler.records import Matrix, is_sparse, n_bytes


def dense_is_smaller(X: Matrix) -> bool:
    """Whether n_rows * n_columns values take less memory than the values, indices and row starts of the CSR matrix.

    >>> from scipy.sparse import csr_matrix
    >>> dense_is_smaller(csr_matrix([[1.0, 2.0], [3.0, 0.0]])), dense_is_smaller(csr_matrix([[0.0] * 9 + [1.0]]))
    (True, False)
    """
    n_rows, n_columns = X.shape
    return bool(n_rows * n_columns * X.dtype.itemsize < n_bytes(X))


def in_form(X: Matrix, dense: bool | None) -> Matrix:
    """X as a dense array if ``dense``; None: if that is smaller, so both together take less than twice the CSR matrix.

    A dense array stays as it is.
    """
    if not is_sparse(X):
        return X
    return X.toarray() if (dense_is_smaller(X) if dense is None else dense) else X
