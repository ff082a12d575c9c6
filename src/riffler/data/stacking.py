"""Frames of several files as one: every column of each, in a type that holds the values of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riffler.data.text_columns import text_or_null

if TYPE_CHECKING:
    import polars as pl


def stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """All rows, one frame below the other; columns that a frame lacks are null there.

    >>> import polars as pl
    >>> both = stacked([pl.DataFrame({"AU": [["Ng", "Oz"]]}), pl.DataFrame({"AU": ["Ada"], "PY": ["1999"]})])
    >>> both.rows()
    [(['Ng', 'Oz'], None), (['Ada'], '1999')]
    """
    import polars as pl

    if not frames:
        return pl.DataFrame()
    types = common_types([frame.schema for frame in frames])
    return pl.concat([aligned(frame, types) for frame in frames])


def common_types(schemas: Sequence[pl.Schema]) -> dict[str, pl.DataType]:
    """The columns of all schemas in the order of first sight, each with a type that holds the values of all.

    Texts and lists of texts become lists; types that have nothing in common become text.
    """
    found: dict[str, list[pl.DataType]] = {}
    for schema in schemas:
        for name, dtype in schema.items():
            found.setdefault(name, []).append(dtype)
    return {name: _common(dtypes) for name, dtypes in found.items()}


def aligned(frame: pl.DataFrame, types: dict[str, pl.DataType]) -> pl.DataFrame:
    """The frame with exactly these columns, in their order and types."""
    import polars as pl

    return pl.DataFrame(
        {  # not a list: that would give a column without a name another one
            name: _as_type(frame[name], dtype)
            if name in frame.columns
            else pl.Series(name, [None], dtype=dtype).new_from_index(0, frame.height)
            for name, dtype in types.items()
        }
    )


def _common(dtypes: list[pl.DataType]) -> pl.DataType:
    import polars as pl

    kinds = list(dict.fromkeys(dtype for dtype in dtypes if dtype != pl.Null)) or [pl.Null()]
    if len(kinds) == 1:
        return kinds[0]
    texts = pl.List(pl.String)
    if set(kinds) == {texts, pl.String()}:
        return texts
    if all(kind.is_numeric() for kind in kinds) or all(kind.is_temporal() for kind in kinds):
        try:
            return pl.concat([pl.DataFrame(schema={"x": kind}) for kind in kinds], how="vertical_relaxed").dtypes[0]
        except pl.exceptions.PolarsError:
            return pl.String()
    return pl.String()


def _as_type(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    import polars as pl

    if series.dtype == dtype:
        return series
    if dtype == pl.String:
        return text_or_null(series)
    if dtype == pl.List(pl.String) and series.dtype == pl.String:
        return pl.select(pl.when(pl.lit(series).is_not_null()).then(pl.concat_list(pl.lit(series))).alias(series.name))[
            series.name
        ]
    return series.cast(dtype)
