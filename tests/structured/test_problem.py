"""Differences of joint features are those of whole vectors; what cannot be one is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.errors import InputError, OracleError
from riffler.structured.problem import as_cut_vector, difference

FIRST, SECOND = np.array([1.0, 0.0, 2.0, -1.0]), np.array([1.0, 3.0, 0.0, 1.0])


@pytest.mark.parametrize("form", [np.asarray, lambda v: sparse.csr_array(v[None]), lambda v: sparse.coo_matrix(v)])
def test_a_difference_is_that_of_whole_vectors_without_what_cancels(form: Any) -> None:  # noqa: ANN401 - a function
    places, values = difference(as_cut_vector(form(FIRST)), as_cut_vector(SECOND))
    assert places.tolist() == [1, 2, 3]
    assert values.tolist() == [-3.0, 2.0, -2.0]


def test_vectors_of_different_lengths_are_told() -> None:
    with pytest.raises(OracleError, match="Joint feature vectors have 4 and 3 entries"):
        difference(as_cut_vector(FIRST), as_cut_vector(SECOND[:3]))


@pytest.mark.parametrize("vector", [np.eye(2), sparse.csr_array(np.eye(2)), 1.0])
def test_what_is_no_vector_is_told(vector: Any) -> None:  # noqa: ANN401 - what is no vector
    with pytest.raises(InputError, match="A joint feature vector"):
        as_cut_vector(vector)
