"""CSV and TSV files of texts: any encoding, any usual separator, every column as text."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.data.encodings import CHUNK, utf8_source
from riffler.data.formulas import unguarded
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 16
MANY_CELLS = 30_000_000
_FIELD_SIZE = RLock()  # Python's limit is one for all threads


def read_delimited(path: Path, encoding: str | None = None) -> pl.DataFrame:
    """Read a table with a header line; fields of nothing are null, "" are empty; rows of nulls alone are left out."""
    import polars as pl

    source = _with_line_feeds(utf8_source(path, encoding))
    form = form_of(source, path)
    if _count(source, b'"') % 2:  # polars takes one that is left open for closed at the end of the file
        _refuse_open_quotation(source, form, path)
    if len(form.names) * _count(source, b"\n") > MANY_CELLS:
        # short rows would be filled up before they are found: a small file could take all memory
        for _ in _records(source, form, path):
            pass
    try:
        frame = read_strictly(source, form)
        if frame.width > 1 and frame.get_columns()[-1].null_count():
            # polars fills short rows with nulls, which an empty last field looks like as well
            for _ in _records(source, form, path):
                pass
    except pl.exceptions.PolarsError:  # such as quotation marks inside unquoted fields
        frame = read_loosely(source, form, path)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if frame.height == 0:
        raise DataFileError(f"{path}: a header but no rows, or none that have anything in them.")
    return unguarded(frame)


@dataclass(frozen=True, slots=True)
class Form:
    """How a table is written: its separator, its column names, and how many lines stand before them."""

    separator: str
    names: list[str]
    skip: int


def form_of(source: Path | bytes, path: Path) -> Form:
    """Find the separator that cuts the header into most names; Excel may say it in a line "sep=;" before."""
    size = HEAD
    while True:
        head = _head(source, size)
        is_all = len(head) < size
        lines = head.decode("utf-8", "ignore").removeprefix("\ufeff").split("\n")
        first = lines[0].strip()
        if not first:
            raise DataFileError(f"{path}: the first line is empty; a header with column names was expected.")
        skip = int(first.lower().startswith("sep=") and len(first) == 5)
        marks = (_said_separator(first[4], path),) if skip else SEPARATORS
        records = {mark: _first_record(lines[skip:], mark) for mark in marks}
        separator = max(marks, key=lambda mark: len(records[mark][0]))
        names, n_lines = records[separator]
        if n_lines + skip < len(lines) or is_all:  # else the record may go on behind this head
            break
        size *= 16
    if not names:
        raise DataFileError(f"{path}: the first line cannot be read as names of columns. Save the file again as CSV.")
    return Form(separator, names, skip)


def _said_separator(mark: str, path: Path) -> str:
    if not mark.isascii() or not mark.isprintable() or mark == '"':
        raise DataFileError(
            f"{path}: the first line says that {mark!r} separates the columns; a separator is one of ASCII that is no "
            "quotation mark. Save the file again with commas, semicolons or tabs between its columns."
        )
    return mark


def _first_record(lines: list[str], separator: str) -> tuple[list[str], int]:
    """Return the fields of the first record and how many lines it has; none where nothing readable comes out."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator)
    with _any_field_size(), suppress(csv.Error):
        return next(reader, []), reader.line_num
    return [], reader.line_num


def _head(source: Path | bytes, size: int = HEAD) -> bytes:
    if isinstance(source, bytes):
        return source[:size]
    with source.open("rb") as stream:
        return stream.read(size)


def _count(source: Path | bytes, letter: bytes) -> int:
    if isinstance(source, bytes):
        return source.count(letter)
    with source.open("rb") as stream:
        return sum(piece.count(letter) for piece in iter(partial(stream.read, CHUNK), b""))


def _with_line_feeds(source: Path | bytes) -> Path | bytes:
    """Lines that end in a carriage return alone, as on old machines, get the usual ending."""
    head = _head(source)
    if b"\n" in head or b"\r" not in head:
        return source
    data = source if isinstance(source, bytes) else source.read_bytes()
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def read_strictly(source: Path | bytes, form: Form) -> pl.DataFrame:
    """Read with polars, which refuses most loose quotation marks; in names it leaves doubled ones as they are."""
    import polars as pl

    frame = pl.read_csv(source, separator=form.separator, infer_schema=False, skip_lines=form.skip, glob=False)
    if frame.width == len(form.names):
        frame.columns = unique(form.names)
    return frame


def read_loosely(source: Path | bytes, form: Form, path: Path) -> pl.DataFrame:
    """Read with Python's own reader, which allows loose quotation marks; one that is left open is an error."""
    _refuse_open_quotation(source, form, path)
    return read_whole_records(source, form, path)


def read_whole_records(source: Path | bytes, form: Form, path: Path) -> pl.DataFrame:
    """Read with Python's own reader where no quotation mark is left open; nulls are where polars has them."""
    import polars as pl

    _, *rows = _records(source, form, path)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(form.names)
    named = zip(unique(form.names), columns, _quoted(source, form).T, strict=True)
    texts = [(pl.Series(name, column, dtype=pl.String), pl.Series(marks)) for name, column, marks in named]
    return pl.select(pl.when((text != "") | marks).then(text).alias(text.name) for text, marks in texts)


def _quoted(source: Path | bytes, form: Form) -> NDArray[np.bool_]:
    """Which fields of the records below the header are in quotation marks, which Python's reader does not tell."""
    from riffler._fast.csv_records import find_quoted

    data = (source if isinstance(source, bytes) else source.read_bytes()).removeprefix(codecs.BOM_UTF8)
    for _ in range(form.skip):
        data = data[data.index(b"\n") + 1 :]
    is_quoted = np.empty(len(data) + 1, dtype=np.bool_)
    n = find_quoted(np.frombuffer(data, dtype=np.uint8), ord(form.separator), is_quoted)
    return is_quoted[:n].reshape(-1, len(form.names))[1:]


def _records(source: Path | bytes, form: Form, path: Path) -> Iterator[list[str]]:
    """The header and each record that is no blank line; another number of fields than the header has is an error."""
    with _lines(source, form.skip) as lines, _any_field_size():
        reader = csv.reader(lines, delimiter=form.separator)
        try:
            for row in reader:
                if row:
                    _check_length(row, form, path, reader.line_num + form.skip)
                    yield row
        except csv.Error as error:
            raise DataFileError(f"{path}, line {reader.line_num + form.skip}: {error}.") from error


@contextmanager
def _lines(source: Path | bytes, skip: int) -> Iterator[IO[str]]:
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        for _ in range(skip):
            lines.readline()
        yield lines


def _refuse_open_quotation(source: Path | bytes, form: Form, path: Path) -> None:
    """A quotation mark that is never closed would make the rest of the file one field."""
    with _lines(source, form.skip) as lines, _any_field_size():
        reader = csv.reader(lines, delimiter=form.separator, strict=True)
        start = 1
        try:
            for _ in reader:
                start = reader.line_num + 1
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise DataFileError(
                    f"{path}, line {start + form.skip}: a quotation mark is left open to the end of the file."
                ) from error


def _check_length(row: list[str], form: Form, path: Path, line: int) -> None:
    if len(row) != len(form.names):
        raise DataFileError(
            f"{path}, line {line}: {len(row)} fields, the header has {len(form.names)}. The separator is taken to be "
            f"{form.separator!r}; quote fields that contain it or a line break."
        )


def unique(names: list[str]) -> list[str]:
    """Names as polars makes them unique.

    >>> unique(["note", "note"])
    ['note', 'note_duplicated_0']
    """
    seen: dict[str, int] = {}
    others = []
    for name in names:
        count = seen.get(name, 0)
        others.append(name if count == 0 else f"{name}_duplicated_{count - 1}")
        seen[name] = count + 1
    return others


@contextmanager
def _any_field_size() -> Iterator[None]:
    """Let Python's reader take fields of any length: a full text is longer than its usual limit."""
    with _FIELD_SIZE:
        usual = csv.field_size_limit(sys.maxsize)
        try:
            yield
        finally:
            csv.field_size_limit(usual)
