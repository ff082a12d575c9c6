"""Sequences: matrices one below the other, given back as they came."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from riffler.errors import InputError
from riffler.structured.sequences import Sequences


def test_matrices_come_back_in_their_order() -> None:
    matrices = [np.arange(4.0).reshape(2, 2), np.empty((0, 2)), np.ones((1, 2))]
    sequences = Sequences.of(matrices)
    assert len(sequences) == 3
    for one, other in zip(sequences, matrices, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(sequences[-1], matrices[2])
    np.testing.assert_array_equal(sequences[1:][1], matrices[2])
    np.testing.assert_array_equal(sequences.some([2, 0]).rows, np.vstack([matrices[2], matrices[0]]))
    assert Sequences.of(sequences) is sequences


def test_one_sparse_matrix_makes_all_sparse() -> None:
    sequences = Sequences.of([np.eye(2), csr_matrix(np.eye(2))])
    assert issparse(sequences.rows)
    np.testing.assert_array_equal(sequences[0].toarray(), np.eye(2))


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(InputError, match="sum to the 3 rows, they sum to 2"):
        Sequences(np.ones((3, 1)), [1, 1])
    with pytest.raises(IndexError, match="There are 1 sequences, number 1"):
        Sequences(np.ones((3, 1)), [3])[1]
