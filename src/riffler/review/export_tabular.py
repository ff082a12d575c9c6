"""Exports as tables: CSV that spreadsheets open right and without harm, JSON lines, Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.formulas import guarded
from riffler.review.export_table import ExportTable

if TYPE_CHECKING:
    import polars as pl

BYTE_ORDER_MARK = "\ufeff".encode()  # without it Excel takes UTF-8 for the encoding of its country
BETWEEN = "; "
"""What stands between the values of a list in a cell."""


def write_csv(table: ExportTable, target: Path) -> None:
    """Write UTF-8 with a mark, and nothing that a spreadsheet would take for a formula."""
    import polars as pl

    with target.open("wb") as stream:
        stream.write(BYTE_ORDER_MARK)
        header = pl.DataFrame(schema=dict.fromkeys(table.types, pl.String))
        stream.write(guarded(header).write_csv().encode())
        for frame in table.frames():
            texts = pl.DataFrame([as_cells(column) for column in frame])
            stream.write(guarded(texts).write_csv(include_header=False).encode())


def write_jsonl(table: ExportTable, target: Path) -> None:
    """Write one JSON object a document; lists stay lists."""
    with target.open("wb") as stream:
        for frame in table.frames():
            frame.write_ndjson(stream)


def write_parquet(table: ExportTable, target: Path) -> None:
    """Write all columns in their types."""
    import polars as pl

    pl.concat([pl.DataFrame(schema=table.types), *table.frames()]).write_parquet(target)


def as_cells(column: pl.Series) -> pl.Series:
    """Write a column as texts, null where it is null; lists are joined by "; ", other nested values are JSON.

    >>> import polars as pl
    >>> as_cells(pl.Series([["Ng", "Oz"], None])).to_list(), as_cells(pl.Series([{"a": 1}])).to_list()
    (['Ng; Oz', None], ['{"a": 1}'])
    """
    import polars as pl

    if column.dtype == pl.List(pl.String):
        return column.list.join(BETWEEN, ignore_nulls=True)
    if column.dtype.is_nested():
        texts = [None if value is None else _as_json(value) for value in column.to_list()]
        return pl.Series(column.name, texts, dtype=pl.String)
    return column.cast(pl.String)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
