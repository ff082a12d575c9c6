"""What an upload may be, looked at before memory is spent on it: a small file can hold a very large one.

Sizes that a file declares are checked first and then measured, for a file can say anything about itself.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from riffler.data.collection_reading import text_format_of
from riffler.data.opening import check_file, open_bytes
from riffler.data.parquet_footer import read_footer
from riffler.errors import DataFileError
from riffler.review.upload_rows import RowCount

CHUNK = 1 << 20
LINES_A_ROW = 5  # texts of several lines are common, but not in every row of the largest files
OVERLAP = 256  # a mark that is cut by the end of a chunk is found in the next
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)
"""What a damaged, encrypted or strange zip makes Python raise."""

CELL = re.compile(rb"\br\s*=\s*[\"']([A-Z]{0,7})([0-9]{1,15})[\"']")
ODS_TAG = re.compile(rb"<table:(table-row|table-cell)\b([^>]*)>")
ODS_TIMES = re.compile(rb"number-(?:rows|columns)-repeated=[\"']([0-9]{1,15})[\"']")


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an upload may be: its bytes, rows, unpacked bytes, cells with the empty ones, bytes of a JSON line."""

    n_bytes: int = 200_000_000
    n_rows: int = 1_000_000
    n_unpacked: int = 1_000_000_000
    n_cells: int = 30_000_000
    n_line: int = 5_000_000


def check_upload(path: Path, limits: Limits) -> None:
    """Refuse a file that is larger than the limits, in bytes or when unpacked, before it is read."""
    check_file(path)
    if path.stat().st_size > limits.n_bytes:
        raise DataFileError(f"{path}: the file has more than {_size(limits.n_bytes)}. Split it, or leave columns out.")
    kind = text_format_of(path)
    if kind == "spreadsheet":
        _check_spreadsheet(path, limits)
    elif kind == "parquet":
        _check_parquet(path, limits)
    else:
        _check_text(path, kind, limits)


def check_rows(path: Path, n_rows: int, limits: Limits) -> None:
    """Refuse more rows than the limits allow."""
    if n_rows > limits.n_rows:
        raise DataFileError(f"{path}: {n_rows:,} rows, at most {limits.n_rows:,} are taken. Split the file.")


def _check_text(path: Path, kind: str, limits: Limits) -> None:
    """Unpack a text once, piece by piece, and count what it would take in memory."""
    n_unpacked, count = 0, RowCount()
    with open_bytes(path) as stream:
        while piece := stream.read(CHUNK):
            n_unpacked += len(piece)
            if n_unpacked > limits.n_unpacked:
                raise _too_large(path, limits)
            if kind != "jsonl":
                count.take(piece)
                _check_count(path, kind, count, limits)
    if kind == "jsonl":
        _check_keys(path, limits)


def _check_count(path: Path, kind: str, count: RowCount, limits: Limits) -> None:
    is_tagged = kind == "tagged" or count.n_records > 0
    n_rows = count.n_records if is_tagged else count.n_unquoted - 1
    if n_rows > limits.n_rows:
        raise _too_many_rows(path, limits)
    # a quotation mark that is never closed makes one row of all lines, and the reader may see it otherwise
    most = limits.n_cells if is_tagged else LINES_A_ROW * limits.n_rows
    if count.n_lines > most:
        raise DataFileError(f"{path}: more than {most:,} lines. Split the file.")


def _check_keys(path: Path, limits: Limits) -> None:
    """Refuse JSON lines whose keys, counted inside of objects as well, would make too many cells."""
    keys: set[tuple[str, ...]] = set()
    n_lines = 0
    with open_bytes(path) as stream:
        while line := stream.readline(limits.n_line + 1):
            n_lines += 1
            if len(line) > limits.n_line:
                raise DataFileError(f"{path}, line {n_lines}: longer than {_size(limits.n_line)}. Shorten it.")
            if n_lines > limits.n_rows:
                raise _too_many_rows(path, limits)
            try:
                keys.update(_key_paths(json.loads(line), ()))
            except RecursionError:
                raise DataFileError(f"{path}, line {n_lines}: values are nested too deeply.") from None
            except ValueError:
                continue  # the reader knows more encodings, and names the line
            if len(keys) * n_lines > limits.n_cells and len(keys) > 1000:
                raise DataFileError(
                    f"{path}, line {n_lines}: {len(keys):,} different keys so far. The same keys on every line were "
                    "expected."
                )


def _key_paths(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from _key_paths(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _key_paths(inner, path)


def _check_spreadsheet(path: Path, limits: Limits) -> None:
    """Unpack every part once, piece by piece, and count the cells that the sheet would take in memory."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PK\x03\x04":
            return  # the old format of Excel, which is not packed and has at most 65,536 x 256 cells
    try:
        with zipfile.ZipFile(path) as book:
            parts = book.infolist()
            if sum(part.file_size for part in parts) > limits.n_unpacked:
                raise _too_large(path, limits)
            for part in parts:
                with book.open(part) as stream:
                    _check_part(path, stream, limits)
    except DataFileError:
        raise
    except DAMAGE as error:
        raise DataFileError(
            f"{path}: not readable as a spreadsheet ({error}). Save it again as XLSX or CSV."
        ) from error


def _check_part(path: Path, stream: IO[bytes], limits: Limits) -> None:
    n_rows = n_columns = n_repeated = 0
    row_times, before = 1, b""
    while piece := stream.read(CHUNK):
        text = before + piece
        for letters, number in CELL.findall(text):
            n_rows = max(n_rows, int(number))
            n_columns = max(n_columns, _column_number(letters))
        done = 0
        for tag in ODS_TAG.finditer(text):
            done = tag.end()
            times = ODS_TIMES.search(tag[2])
            n = 1 if times is None else int(times[1])
            if tag[1] == b"table-row":
                row_times = n
            elif b"office:value" in tag[2] or b"calcext:value" in tag[2]:
                n_repeated += n * row_times
        before = text[max(done, len(text) - OVERLAP) :]
        if max(n_rows * n_columns, n_repeated) > limits.n_cells:
            raise DataFileError(
                f"{path}: the sheet reaches over more than {limits.n_cells:,} cells. Remove what stands far out, or "
                "save it as CSV."
            )


def _column_number(letters: bytes) -> int:
    """Read the letters of a column.

    >>> _column_number(b"A"), _column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _check_parquet(path: Path, limits: Limits) -> None:
    footer = read_footer(path)
    check_rows(path, footer.n_rows, limits)
    if footer.n_unpacked > limits.n_unpacked:
        raise _too_large(path, limits)
    if footer.n_rows * footer.n_columns > limits.n_cells * 10:
        raise DataFileError(f"{path}: {footer.n_rows:,} rows of {footer.n_columns:,} columns. Leave columns out.")


def _too_many_rows(path: Path, limits: Limits) -> DataFileError:
    return DataFileError(f"{path}: more than {limits.n_rows:,} rows. Split the file.")


def _too_large(path: Path, limits: Limits) -> DataFileError:
    return DataFileError(f"{path}: unpacked it has more than {_size(limits.n_unpacked)}. Split it.")


def _size(n_bytes: int) -> str:
    """Write a number of bytes.

    >>> _size(200_000_000), _size(1500)
    ('200 MB', '1,500 bytes')
    """
    return f"{n_bytes // 1_000_000:,} MB" if n_bytes >= 1_000_000 else f"{n_bytes:,} bytes"
