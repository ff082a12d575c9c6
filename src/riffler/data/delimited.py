"""CSV and TSV files of texts: any encoding, any usual separator, every column as text."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.encodings import utf8_source
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 16


def read_delimited(path: Path, encoding: str | None = None) -> pl.DataFrame:
    """Read a table with a header line; empty fields are null, blank lines are left out."""
    import polars as pl

    source = _with_line_feeds(utf8_source(path, encoding))
    separator, names, skip = _header(source, path)
    try:
        frame = pl.read_csv(source, separator=separator, infer_schema=False, skip_lines=skip)
        whole = frame.width == len(names) and not (frame.width > 1 and frame.get_columns()[-1].null_count())
    except pl.exceptions.PolarsError:  # such as quotation marks inside unquoted fields
        whole = False
    if not whole:
        # polars fills short rows with nulls, which an empty last field looks like as well: the slow reader tells
        frame = _read_slowly(source, separator, names, skip, path)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if frame.height == 0:
        raise DataFileError(f"{path}: a header but no rows.")
    return frame


def _header(source: Path | bytes, path: Path) -> tuple[str, list[str], int]:
    """The separator, the column names, and how many lines stand before them (Excel's "sep=;" is one)."""
    head = _head(source).decode("utf-8", "ignore").removeprefix("\ufeff")
    first = head.split("\n", 1)[0].strip()
    skip = int(first.lower().startswith("sep=") and len(first) == 5)
    if not first:
        raise DataFileError(f"{path}: the first line is empty; a header with column names was expected.")
    lines = head.split("\n")[skip:]
    chosen = first[4] if skip else max(SEPARATORS, key=lambda mark: len(_first_record(lines, mark)))
    return chosen, _first_record(lines, chosen), skip


def _first_record(lines: list[str], separator: str) -> list[str]:
    with _any_field_size():
        return next(csv.reader((line + "\n" for line in lines), delimiter=separator), [])


def _head(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:HEAD]
    with source.open("rb") as stream:
        return stream.read(HEAD)


def _with_line_feeds(source: Path | bytes) -> Path | bytes:
    """Lines that end in a carriage return alone, as on old machines, get the usual ending."""
    head = _head(source)
    if b"\n" in head or b"\r" not in head:
        return source
    data = source if isinstance(source, bytes) else source.read_bytes()
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _read_slowly(source: Path | bytes, separator: str, names: list[str], skip: int, path: Path) -> pl.DataFrame:
    """Read with Python's own reader, which allows loose quotation marks; rows of another length are an error."""
    import polars as pl

    data = source if isinstance(source, bytes) else source.read_bytes()
    text = data.decode("utf-8").removeprefix("\ufeff")
    _refuse_open_quotation(text, separator, path)
    rows = [row for line, row in _records(text, separator, skip, path) if _fits(row, len(names), line, separator, path)]
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(names)
    series = [pl.Series(name, column, dtype=pl.String) for name, column in zip(_unique(names), columns, strict=True)]
    frame = pl.DataFrame(series)
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _records(text: str, separator: str, skip: int, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it ends on, from the header on."""
    lines = io.StringIO(text, newline="")
    for _ in range(skip):
        lines.readline()
    reader = csv.reader(lines, delimiter=separator)
    with _any_field_size():
        try:
            for row in reader:
                yield reader.line_num + skip, row
        except csv.Error as error:
            raise DataFileError(f"{path}, line {reader.line_num + skip}: {error}.") from error


def _refuse_open_quotation(text: str, separator: str, path: Path) -> None:
    """A quotation mark that is never closed would make the rest of the file one field."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    with _any_field_size():
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise DataFileError(
                    f"{path}, line {line}: a quotation mark is left open to the end of the file."
                ) from error


def _fits(row: list[str], n_fields: int, line: int, separator: str, path: Path) -> bool:
    """Whether to keep a record: not if it is a blank line; another number of fields than the header is an error."""
    if not row:
        return False
    if len(row) != n_fields:
        raise DataFileError(
            f"{path}, line {line}: {len(row)} fields, the header has {n_fields}. The separator is taken to be "
            f"{separator!r}; quote fields that contain it or a line break."
        )
    return True


def _unique(names: list[str]) -> list[str]:
    """Names as polars makes them unique.

    >>> _unique(["note", "note"])
    ['note', 'note_duplicated_0']
    """
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        count = seen.get(name, 0)
        unique.append(name if count == 0 else f"{name}_duplicated_{count - 1}")
        seen[name] = count + 1
    return unique


@contextmanager
def _any_field_size() -> Iterator[None]:
    """Let Python's reader take fields of any length: a full text is longer than its usual limit."""
    usual = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(usual)
