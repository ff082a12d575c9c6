"""Columns in types that every format and every database can hold; what is of another type becomes text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with times, durations, decimals, bytes and numbers that are not finite written as texts.

    >>> import datetime
    >>> import polars as pl
    >>> plain_columns(pl.DataFrame({"at": [datetime.time(9, 30)], "raw": [b"text"], "share": [float("inf")]})).rows()
    [('09:30:00', 'text', 'inf')]
    """
    import polars as pl

    return pl.DataFrame({column.name: _plain(column) for column in frame})


def _plain(column: pl.Series) -> pl.Series:
    import polars as pl

    if all(_is_plain(leaf) for leaf in _leaves(column.dtype)) and not _has_strange_numbers(column):
        return column
    if column.dtype == pl.Binary:
        try:
            return column.cast(pl.String)  # old programs write texts as bytes
        except pl.exceptions.ComputeError:
            return column.bin.encode("base64")
    if column.dtype.is_nested():
        words = [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in column]
    else:
        words = [None if value is None else str(value) for value in column.to_list()]
    return pl.Series(column.name, words, dtype=pl.String)


def _leaves(dtype: pl.DataType) -> Iterator[pl.DataType]:
    import polars as pl

    if isinstance(dtype, pl.List | pl.Array):
        yield from _leaves(dtype.inner)  # type: ignore[arg-type]  # polars allows classes there
    elif isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            yield from _leaves(field.dtype)  # type: ignore[arg-type]
    else:
        yield dtype


def _is_plain(dtype: pl.DataType) -> bool:
    import polars as pl

    if isinstance(dtype, pl.Decimal):
        return False
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null, pl.Date, pl.Datetime)
    return dtype.is_numeric() or isinstance(dtype, texts)


def _has_strange_numbers(column: pl.Series) -> bool:
    return column.dtype.is_float() and not column.is_finite().all()
