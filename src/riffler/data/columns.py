"""From the columns of a frame to a matrix: numbers stay, texts become one 0/1 feature per category."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from riffler.data.finite import check_finite_matrix
from riffler.data.table import Column
from riffler.errors import DataFileError, FeatureMismatch
from riffler.records import Matrix

if TYPE_CHECKING:
    import polars as pl

MAX_CATEGORIES = 1_000


def learn_columns(frame: pl.DataFrame, source: str) -> tuple[Column, ...]:
    """Decide for each column whether it is a number or a text with at most ``MAX_CATEGORIES`` categories.

    >>> import polars as pl
    >>> learn_columns(pl.DataFrame({"age": [30, 41], "job": ["nurse", "clerk"]}), "toy")
    (Column(name='age', categories=None), Column(name='job', categories=('clerk', 'nurse')))
    """
    return tuple(_learn(series, source) for series in frame.get_columns())


def to_matrix(frame: pl.DataFrame, columns: tuple[Column, ...], dtype: DTypeLike, source: str) -> Matrix:
    """Build X, shape (n_rows, n_features): CSR where that is smaller, that is if at most half of it can be non-zero.

    A category that is not in ``columns`` gives zeros in all features of its column.
    """
    width = sum(len(column.feature_names) for column in columns)
    missing = [column.name for column in columns if column.name not in frame.columns]
    if missing:
        raise FeatureMismatch(
            f"{source}: lacks column {', '.join(map(repr, missing))}, which the training table has. "
            f"Columns here: {', '.join(frame.columns)}."
        )
    build = _sparse if 2 * len(columns) <= width else _dense
    X = build(frame, columns, np.dtype(dtype), width, source)
    names = tuple(name for column in columns for name in column.feature_names)
    check_finite_matrix(X, source, names)
    return X


def _learn(series: pl.Series, source: str) -> Column:
    import polars as pl

    if series.null_count() == len(series):
        raise DataFileError(f"{source}: column {series.name!r} is empty. {_drop_hint(series.name)}")
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return Column(series.name)
    texts = _texts(series, source)
    categories = texts.unique().sort()
    n_numbers = int(categories.cast(pl.Float64, strict=False).is_not_null().sum())
    if n_numbers == len(categories):
        return Column(series.name)
    if 2 * n_numbers > len(categories):
        _refuse_spoiled_numbers(texts, source)
    if len(categories) > MAX_CATEGORIES:
        raise DataFileError(
            f"{source}: text column {series.name!r} has {len(categories):,} distinct values, more than the "
            f"{MAX_CATEGORIES:,} that are turned into features. {_drop_hint(series.name)}"
        )
    return Column(series.name, tuple(categories.to_list()))


def _texts(series: pl.Series, source: str) -> pl.Series:
    """The column as text; an empty field is a category of its own."""
    import polars as pl

    if series.dtype.is_nested() or series.dtype.is_temporal() or series.dtype in (pl.Binary, pl.Object):
        raise DataFileError(
            f"{source}: column {series.name!r} holds {series.dtype}, expected numbers or text. "
            f"{_drop_hint(series.name)}"
        )
    return series.cast(pl.String).fill_null("")


def _refuse_spoiled_numbers(texts: pl.Series, source: str) -> NoReturn:
    """A text column that is mostly numbers is a column of numbers with a slip or a mark for missing values."""
    import polars as pl

    row = texts.cast(pl.Float64, strict=False).is_null().arg_max() or 0
    raise DataFileError(
        f"{source}: column {texts.name!r} holds numbers, but row {row + 1} has {texts[row]!r}. "
        f"Fill it in, leave the row out, or leave the column out with drop=[{texts.name!r}]."
    )


def _drop_hint(name: str) -> str:
    return f"Leave it out with drop=[{name!r}]."


def _numbers(series: pl.Series, dtype: np.dtype[Any], source: str) -> NDArray[Any]:
    import polars as pl

    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        texts = _texts(series, source)
        series = texts.cast(pl.Float64, strict=False)
        if series.null_count():
            row = series.is_null().arg_max() or 0
            raise DataFileError(
                f"{source}: column {series.name!r} must hold numbers as in the training table, "
                f"row {row + 1} has {texts[row]!r}."
            )
    if series.null_count():
        row = series.is_null().arg_max() or 0
        raise DataFileError(
            f"{source}: row {row + 1}, column {series.name!r} is empty; fill it in or leave the row out."
        )
    values: NDArray[Any] = series.cast(pl.Float64).to_numpy()
    top = np.finfo(dtype).max
    over = np.flatnonzero(np.isfinite(values) & (np.abs(values) > top))
    if len(over):
        row = int(over[0])
        raise DataFileError(
            f"{source}: row {row + 1}, column {series.name!r}: {values[row]} does not fit {dtype}; "
            "pass dtype='float64' or scale the column."
        )
    return values.astype(dtype, copy=False)


def _codes(series: pl.Series, categories: tuple[str, ...], source: str) -> NDArray[np.int32]:
    """Position of each text in ``categories``, -1 if it is not there."""
    import polars as pl

    places = list(range(len(categories)))
    codes = _texts(series, source).replace_strict(list(categories), places, default=-1, return_dtype=pl.Int32)
    return np.asarray(codes.to_numpy(), dtype=np.int32)


def _dense(
    frame: pl.DataFrame, columns: Collection[Column], dtype: np.dtype[Any], width: int, source: str
) -> NDArray[Any]:
    X = np.zeros((frame.height, width), dtype=dtype)
    start = 0
    for column in columns:
        if column.categories is None:
            X[:, start] = _numbers(frame[column.name], dtype, source)
        else:
            codes = _codes(frame[column.name], column.categories, source)
            known = np.flatnonzero(codes >= 0)
            X[known, start + codes[known]] = 1
        start += len(column.feature_names)
    return X


def _sparse(frame: pl.DataFrame, columns: Collection[Column], dtype: np.dtype[Any], width: int, source: str) -> Matrix:
    """One slot a row and column of the frame, then the empty slots are squeezed out."""
    from scipy.sparse import csr_matrix

    shape = (frame.height, len(columns))
    data = np.zeros(shape, dtype=dtype)
    indices = np.zeros(shape, dtype=np.int32)
    start = 0
    for slot, column in enumerate(columns):
        indices[:, slot] = start
        if column.categories is None:
            data[:, slot] = _numbers(frame[column.name], dtype, source)
        else:
            codes = _codes(frame[column.name], column.categories, source)
            data[:, slot] = codes >= 0
            indices[:, slot] += np.maximum(codes, 0)
        start += len(column.feature_names)
    indptr = np.arange(0, data.size + 1, len(columns))
    X = csr_matrix((data.ravel(), indices.ravel(), indptr), shape=(frame.height, width))
    X.eliminate_zeros()
    return X
