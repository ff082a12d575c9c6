"""How many rows are made into documents at a time: each repeats the names of all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riffler.disk.parts import LINE_COLUMN

if TYPE_CHECKING:
    import polars as pl

BYTES_OF_NAMES, BYTES_OF_MARKS = 1 << 23, 4
"""What the names of columns may take in one piece; beside each name stand quotation marks, a colon and a comma."""


def rows_at_once(frame: pl.DataFrame) -> int:
    """Rows of a chunk to make a piece of, whose names together have some megabytes.

    >>> import polars as pl
    >>> rows_at_once(pl.DataFrame({"title": ["gull"], "n" * 999_990: ["x"]}))
    8
    """
    if LINE_COLUMN in frame.columns:  # these have names of their own
        return max(1, frame.height)
    return max(1, BYTES_OF_NAMES // sum(_n_of_names(name, dtype) for name, dtype in frame.schema.items()))


def _n_of_names(name: str, dtype: pl.DataType) -> int:
    """Bytes of a column beside its values, where it is written as JSON."""
    import polars as pl

    n = len(name.encode()) + BYTES_OF_MARKS
    if isinstance(dtype, pl.Struct):
        n += sum(_n_of_names(field.name, field.dtype) for field in dtype.fields)  # type: ignore[arg-type, misc]
    return n
