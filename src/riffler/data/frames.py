"""CSV, TSV and Parquet files as polars frames, with errors that name the line."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.opening import COMPRESSIONS, open_bytes
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (",", ";", "\t")
FIRST_ROWS = 1_000
"""Rows from which the type of a column is guessed."""


def read_csv(path: Path, separator: str | None = None) -> pl.DataFrame:
    """Read a delimited text; a first line of numbers only is data, the columns are then ``column_1, column_2, ...``."""
    import polars as pl

    separator, names, has_header = _first_line(path, separator)
    source = _source(path)
    try:
        try:
            frame = _table(source, separator, has_header, FIRST_ROWS)
        except pl.exceptions.ComputeError:
            # a later row is of another type than the first ones: look at all of them, which takes several times longer
            frame = _table(source, separator, has_header, None)
    except pl.exceptions.PolarsError as error:
        check_rows(path, separator, len(names))
        raise DataFileError(f"{path}: not readable as a table separated by {separator!r} ({error}).") from error
    if not has_header:
        frame.columns = [f"column_{place}" for place in range(1, frame.width + 1)]
    if frame.height == 0:
        raise DataFileError(f"{path}: a header but no rows.")
    if frame.get_columns()[-1].null_count():
        # polars fills short rows with nulls, which an empty last field looks like as well
        check_rows(path, separator, len(names))
    return frame


def read_csv_texts(path: Path) -> pl.DataFrame:
    """Read a delimited text with a header, every column as text, "" where a field is empty."""
    import polars as pl

    separator, names, _ = _first_line(path, None)
    try:
        frame = pl.read_csv(_source(path), separator=separator, infer_schema=False, glob=False)
    except pl.exceptions.PolarsError as error:
        check_rows(path, separator, len(names))
        raise DataFileError(f"{path}: not readable as a table separated by {separator!r} ({error}).") from error
    return frame.fill_null("")


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file whole."""
    import polars as pl

    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: not a whole Parquet file ({error}). Copy or make it again.") from error
    if frame.height == 0 or frame.width == 0:
        raise DataFileError(f"{path}: {frame.height} rows and {frame.width} columns; there is nothing to read.")
    return frame


def check_rows(path: Path, separator: str, n_fields: int) -> None:
    """Raise for the first row that has more or fewer fields than the first line, or is not UTF-8."""
    with open_bytes(path) as stream:
        reader = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=separator)
        try:
            for row in reader:
                if row and len(row) != n_fields:
                    raise DataFileError(
                        f"{path}, line {reader.line_num}: {len(row)} fields, the first line has {n_fields}. "
                        f"The separator is taken to be {separator!r}; quote fields that contain it."
                    )
        except UnicodeDecodeError as error:
            raise DataFileError(f"{path}, after line {reader.line_num}: not UTF-8 text ({error.reason}).") from error
        except csv.Error as error:
            raise DataFileError(f"{path}, line {reader.line_num}: {error}.") from error


def _table(source: Path | bytes, separator: str, has_header: bool, n_rows: int | None) -> pl.DataFrame:
    """A table whose types are guessed from its first rows; a name with ``[`` in it is no pattern."""
    import polars as pl

    return pl.read_csv(source, separator=separator, has_header=has_header, infer_schema_length=n_rows, glob=False)


def _source(path: Path) -> Path | bytes:
    """Polars reads plain files itself, without a copy in memory; compressed ones are unpacked here."""
    if path.suffix.lower() not in COMPRESSIONS:
        return path
    with open_bytes(path) as stream:
        return stream.read()


def _first_line(path: Path, separator: str | None) -> tuple[str, list[str], bool]:
    """The separator, the fields of the first line, and whether they are names."""
    with open_bytes(path) as stream:
        line = stream.readline().decode("utf-8-sig", "replace").rstrip("\r\n")
    if not line.strip():
        raise DataFileError(f"{path}: the first line is empty; a header with column names was expected.")
    separator = separator or max(SEPARATORS, key=line.count)
    names = next(csv.reader([line], delimiter=separator))
    has_header = not all(_is_number(name) for name in names)
    repeated = sorted({name for name in names if names.count(name) > 1}) if has_header else []
    if repeated:
        raise DataFileError(f"{path}: column name {repeated[0]!r} comes twice in the header; make the names unique.")
    return separator, names, has_header


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
