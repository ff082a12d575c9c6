"""Scaled columns and cosines: each column as documented, in either storage, and products that are the kernel's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from riffler.features import column_map
from riffler.features.blocks import BLOCK_BYTES
from riffler.features.column_map import COSINES, FARTHEST, LINEAR, ColumnMap, column_scale
from riffler.records import FloatArray, Matrix


def table(n_rows: int = 400, seed: int = 0) -> FloatArray:
    """Give a column of numbers far from 0, a common mark, a rare mark, and a column that never changes."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(50, 3, n_rows), rng.random(n_rows) < 0.5, rng.random(n_rows) < 0.02, np.full(n_rows, 7.25)]
    )


def test_numbers_get_the_spread_1_and_marks_the_root_of_theirs() -> None:
    X = table()
    scaled = column_scale(X)(X)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled[:, 0], ((X[:, 0] - X[:, 0].mean()) / X[:, 0].std()), rtol=1e-5, atol=1e-5)
    for mark in (1, 2):
        there = (1 - X[:, mark].mean()) / np.sqrt(X[:, mark].std())
        np.testing.assert_allclose(scaled[X[:, mark] == 1, mark], min(there, FARTHEST), rtol=1e-5)
    assert scaled[:, 2].max() > scaled[:, 1].max()  # the rare one speaks louder


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3, 0.7, 123.456, 1e6 / 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_column_that_never_changes_is_not_blown_up(value: float, dtype: type) -> None:
    X: FloatArray = np.full((5000, 1), value, dtype=dtype)
    np.testing.assert_allclose(column_scale(X)(X), 0.0, atol=1e-9)
    np.testing.assert_array_equal(column_scale(X).scale, 1.0)


def test_wild_values_are_cut() -> None:
    X = table()
    scale = column_scale(X)
    X[3, 0], X[4, 0] = 1e12, -1e12
    assert scale(X)[3, 0] == FARTHEST
    assert scale(X)[4, 0] == -FARTHEST


@pytest.mark.parametrize("n_columns", [4, 1100])
@pytest.mark.parametrize("n_cosines", [0, 20])
def test_how_rows_are_stored_is_nothing(n_columns: int, n_cosines: int) -> None:
    rng = np.random.default_rng(1)
    X = table() if n_columns == 4 else rng.normal(size=(300, n_columns)) * (rng.random((300, n_columns)) < 0.1)
    rows: Matrix = sparse.csr_matrix(X)
    dense, thin = (ColumnMap(n_cosines, None, seed=0).fit(given) for given in (X, rows))
    for given in (X, rows):
        np.testing.assert_allclose(thin.transform(given), dense.transform(X), atol=1e-4)
    assert thin.transform(rows).dtype == np.float32
    single = ColumnMap(n_cosines, None, seed=0).fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, dense.transform(X), atol=0.01)


def test_products_of_cosines_are_those_of_the_kernel() -> None:
    X = np.random.default_rng(1).normal(size=(60, 5)) * [1, 10, 100, 0.1, 3]
    n_cosines = 4000
    found = ColumnMap(n_cosines, gamma=0.2, seed=3).fit(X)
    features = found.transform(X)
    linear, cosines = features[:, found.groups == LINEAR], features[:, found.groups == COSINES]
    np.testing.assert_allclose(linear, column_scale(X)(X))
    np.testing.assert_allclose(cosines @ cosines.T / n_cosines, rbf_kernel(linear, gamma=0.2), atol=0.06)
    assert np.square(cosines).mean() == pytest.approx(1.0, abs=0.1)


def test_without_a_width_the_kernel_takes_the_mean_squared_length() -> None:
    X = np.random.default_rng(2).normal(size=(300, 4))
    length = float(np.square(column_scale(X)(X)).sum(axis=1).mean())
    one, two = ColumnMap(50, None, seed=1).fit(X), ColumnMap(50, 1 / length, seed=1).fit(X)
    np.testing.assert_allclose(one.transform(X), two.transform(X), atol=1e-5)


@pytest.mark.parametrize("n_columns", [5, 1100])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_block_is_the_rows_of_the_whole(n_columns: int, storage: str) -> None:
    rng = np.random.default_rng(3)
    X: Matrix = rng.normal(size=(700, n_columns)) * (rng.random((700, n_columns)) < 0.2)
    X = sparse.csr_matrix(X) if storage == "csr" else X
    found = ColumnMap(30, None, seed=0).fit(X)
    whole = found.transform(X)
    assert whole.shape == (700, found.n_features)
    bounds = found.block_bounds(700)
    assert bounds == [(0, 700)]
    parts = [found.transform(X[start:stop]) for start, stop in [(0, 1), (1, 300), (300, 700)]]
    np.testing.assert_allclose(np.vstack(parts), whole, atol=2e-5)


def test_blocks_cover_all_rows_and_stay_small() -> None:
    found = ColumnMap(200, None, seed=0).fit(table())
    bounds = found.block_bounds(1_000_000)
    assert [start for start, _ in bounds[1:]] == [stop for _, stop in bounds[:-1]]
    assert (bounds[0][0], bounds[-1][1]) == (0, 1_000_000)
    assert max(stop - start for start, stop in bounds) * 4 * found.n_features <= BLOCK_BYTES


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_wide_rows_are_summarised_by_what_most_of_them_share(storage: str) -> None:
    rng = np.random.default_rng(4)
    topic = rng.random(500) < 0.3
    X: Matrix = rng.normal(size=(500, 1500)) * 0.5
    X[:, :100] += 2.0 * topic[:, None]
    features = ColumnMap(0, None, seed=0).fit(X if storage == "dense" else sparse.csr_matrix(X)).transform(X)
    assert features.shape == (500, column_map.DIRECTIONS)
    assert max(abs(np.corrcoef(column, topic)[0, 1]) for column in features[:, :2].T) > 0.95


@pytest.mark.parametrize("n_rows", [1, 2, 30])
@pytest.mark.parametrize("n_columns", [3, 1200])
@pytest.mark.parametrize("kind", ["ones", "empty", "numbers"])
def test_hardly_any_row_to_learn_from(n_rows: int, n_columns: int, kind: str) -> None:
    rows: dict[str, Matrix] = {
        "ones": np.ones((n_rows, n_columns)),
        "empty": sparse.csr_matrix((n_rows, n_columns)),
        "numbers": np.random.default_rng(0).normal(size=(n_rows, n_columns)),
    }
    features = ColumnMap(10, None, seed=0).fit(rows[kind]).transform(rows[kind])
    assert features.shape[0] == n_rows
    assert np.isfinite(features).all()


@pytest.mark.parametrize(("n_rows", "n_columns"), [(900, 4), (150, 1100)])
def test_the_order_of_the_rows_is_nothing(monkeypatch: pytest.MonkeyPatch, n_rows: int, n_columns: int) -> None:
    monkeypatch.setattr(column_map, "SAMPLE_ROWS", 300)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_columns)) + np.arange(n_rows)[:, None] / 100  # sorted: the first are not like all
    one = ColumnMap(25, None, seed=2).fit(X)
    two = ColumnMap(25, None, seed=2).fit(rng.permutation(X))
    np.testing.assert_allclose(two.transform(X), one.transform(X), atol=1e-4)
    if n_columns == 4:
        assert abs(one.transform(X)[:, 0].mean()) < 0.1  # the sample is centred like all rows
