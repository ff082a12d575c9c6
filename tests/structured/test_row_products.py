"""Products with rows are those of NumPy in double precision; what does not fit is refused, not read beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from riffler.errors import FeatureMismatch, InputError
from riffler.structured.row_products import RowProducts, finite_scores

X = np.random.default_rng(0).integers(-3, 4, (5, 3)).astype(np.float64)
FORMS = {
    "double": X, "single": X.astype(np.float32), "half": X.astype(np.float16), "long": X.astype(np.longdouble),
    "swapped": X.astype(">f8"), "integers": X.astype(np.int64), "truth": X > 0, "objects": X.astype(object),
    "columns first": np.asfortranarray(X), "csr": sparse.csr_array(X), "coo": sparse.coo_matrix(X),
    "single csr": sparse.csr_matrix(X.astype(np.float32)), "integers csr": sparse.csr_matrix(X.astype(np.int8)),
    "long csr": sparse.csr_matrix(X.astype(np.longdouble)), "list": X.tolist(),
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS)


@every_form
def test_products_are_those_of_numpy(form: str) -> None:
    values = (X > 0) if form == "truth" else X
    weights, moves = np.array([1.0, -0.1, 1e-9]), np.array([0.0, 1.0, -1.0, 0.1, 1e-9])
    rows = RowProducts(FORMS[form])
    assert (rows.n_rows, rows.n_columns) == (5, 3)
    np.testing.assert_allclose(rows.scores(weights), values @ weights, rtol=1e-14)
    np.testing.assert_allclose(rows.pull_back(moves), moves @ values, rtol=1e-14)
    assert rows.scores(weights).dtype == rows.pull_back(moves).dtype == np.float64


@every_form
@pytest.mark.parametrize("n", [0, 2, 4])
def test_weights_of_other_columns_are_refused(form: str, n: int) -> None:
    with pytest.raises(FeatureMismatch, match=f"Query 7 has 3 columns, there are {n} weights"):
        RowProducts(FORMS[form], "Query 7").scores(np.ones(n))


@every_form
@pytest.mark.parametrize("n", [0, 4, 6])
def test_values_of_other_rows_are_refused(form: str, n: int) -> None:
    with pytest.raises(InputError, match=f"X has 5 rows, the output is about {n}"):
        RowProducts(FORMS[form]).pull_back(np.ones(n))


@pytest.mark.parametrize("given", [X[0], X[None], 1.0, sparse.coo_array(X[0])])
def test_what_is_no_matrix_is_refused(given: Any) -> None:  # noqa: ANN401 - what is no matrix
    with pytest.raises(InputError, match="X must be a matrix with rows and columns, got shape"):
        RowProducts(given)


@pytest.mark.parametrize("given", [X + 1j, X.astype(str), np.array([["a"]], dtype=object), X.astype("M8[D]")])
def test_what_is_no_number_is_refused(given: Any) -> None:  # noqa: ANN401 - an array of anything
    with pytest.raises(InputError, match="X must hold numbers, got"):
        RowProducts(given)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda x: x.astype(np.float32)])
def test_values_that_are_not_finite_are_told(form: Any, value: float) -> None:  # noqa: ANN401 - a function
    broken = X.copy()
    broken[4, 2] = value
    with pytest.raises(InputError, match="Query 3 holds NaN or infinity"):
        finite_scores(form(broken), np.zeros(3), "Query 3")
    np.testing.assert_array_equal(finite_scores(form(X), np.ones(3), "Query 3"), X.sum(axis=1))
