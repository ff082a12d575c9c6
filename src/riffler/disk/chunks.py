"""Read a source a chunk at a time, from any place on: frames of some megabytes, whatever the size of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from riffler.data import ris
from riffler.data.delimited import Form, form_of
from riffler.data.encodings import read_text
from riffler.data.folder import split_title, text_files, told_of_its_folder
from riffler.data.json_members import LIST, NULL
from riffler.data.jsonl import name_bad_line, read_as_texts
from riffler.data.parquet_footer import read_footer
from riffler.data.spreadsheet import read_spreadsheet
from riffler.disk.delimited_records import frame_of_records
from riffler.disk.parts import LINE_COLUMN
from riffler.disk.sources import Source, refuse_changed
from riffler.disk.tagged_lines import LAYOUTS, LONGEST_RECORD, TaggedLines
from riffler.disk.text_survey import BLOCK, utf8_blocks
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

LONGEST_HEADER = 1 << 22
MOST_RECORDS, MOST_COLUMNS = 20_000, 100_000
"""Records of a chunk, and columns of a delimited text, at most."""

SLICED = 4
"""Chunks of Parquet that are unpacked together: for each slice the packed bytes of its group are read again."""

BLANKS = " \t\r"
"""What a line of nothing may be made of."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some records of a source, from place ``at`` on; places are those of ``Source.length``."""

    frame: pl.DataFrame
    at: int


def read_chunks(source: Source, at: int = 0) -> Iterator[Chunk]:
    """Chunks of a source from a place on where one began before."""
    with told_of_its_folder(source.path) if source.kind == "delimited" else nullcontext():
        yield from READERS[source.kind](source, at)


def _delimited(source: Source, at: int) -> Iterator[Chunk]:
    from riffler._fast.csv_records import scan_records

    form, header = _header(source)
    at = at or len(header)
    rest = b""
    for block in chain(utf8_blocks(source.file, source.encoding, at), [b""]):
        data = rest + _with_line_feeds(block, source)
        if not block and data and not data.endswith(b"\n"):
            data += b"\n"
        start = end = 0
        while start < len(data):
            view = np.frombuffer(data, dtype=np.uint8)[start:]
            end, n_records, n_filled, n_loose, bad, n_fields = scan_records(
                view, ord(form.separator), len(form.names), MOST_RECORDS
            )
            if bad >= 0:
                raise DataFileError(
                    f"{source.path}, line {_line_of(source, at + bad)}: {n_fields} fields, the header has "
                    f"{len(form.names)}. The separator is taken to be {form.separator!r}; quote fields that contain it "
                    "or a line break."
                )
            if end == 0:
                break
            if n_records:
                table = _without_skipped(header, form) + data[start : start + end]
                yield Chunk(frame_of_records(table, form, source.file, n_filled, n_loose), at)
            start += end
            at += end
        rest = _not_too_long(data[start:], source, at)
    if rest:
        raise DataFileError(
            f"{source.path}, line {_line_of(source, at)}: a quotation mark is left open to the end of the file."
        )


def _header(source: Source) -> tuple[Form, bytes]:
    """How the table is written, and the bytes before the first record."""
    from riffler._fast.csv_records import scan_records

    head = b""
    for block in chain(utf8_blocks(source.file, source.encoding), [b"\n"]):  # a header alone may have no line end
        head = (head + _with_line_feeds(block, source))[:LONGEST_HEADER]
        form = form_of(head, source.file)
        if len(form.names) > MOST_COLUMNS:
            raise DataFileError(
                f"{source.path}: the first line is cut into {len(form.names):,} names of columns by "
                f"{form.separator!r}; at most {MOST_COLUMNS:,} are read. Is this a table?"
            )
        skipped = head.index(b"\n") + 1 if form.skip else 0
        view = np.frombuffer(head, dtype=np.uint8)[skipped:]
        end, n_records, _, _, bad, _ = scan_records(view, ord(form.separator), len(form.names), 1)
        if n_records:
            return form, head[: skipped + end]
        if bad >= 0:
            break
        if len(head) == LONGEST_HEADER:
            raise DataFileError(
                f"{source.path}: the first line has more than {LONGEST_HEADER:,} bytes, or a quotation mark in it is "
                "left open; names of columns were expected there. Is this a table?"
            )
    raise DataFileError(
        f"{source.path}: the first line cannot be read as names of columns: a quotation mark in it is left open, or is "
        "not doubled. Save the file again as CSV."
    )


def _without_skipped(header: bytes, form: Form) -> bytes:
    return header.split(b"\n", 1)[1] if form.skip else header


def _jsonl(source: Source, at: int) -> Iterator[Chunk]:
    for data in _whole_lines(source, at):
        if data.strip():
            yield Chunk(_objects(data, source, at), at)
        at += len(data)


def _whole_lines(source: Source, at: int) -> Iterator[bytes]:
    parts: list[bytes] = []
    for block in utf8_blocks(source.file, source.encoding, at):
        block = _with_line_feeds(block, source)
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*parts, block[:end]])
            parts = []
        parts.append(block[end:])
        if sum(map(len, parts)) > LONGEST_RECORD:
            _not_too_long(b"".join(parts), source, at)
    if rest := b"".join(parts):
        yield rest


def _objects(data: bytes, source: Source, at: int) -> pl.DataFrame:
    """The columns that may play a part, and the lines themselves: columns for all keys of any line may be far more."""
    import polars as pl

    lines = [line for line in data.decode().split("\n") if line.strip(BLANKS)]
    try:
        frame = read_as_texts(data, dict(source.kinds) or {LINE_COLUMN: NULL})
        n_read = frame.height
    except (pl.exceptions.PolarsError, ValueError) as error:
        name_bad_line(data, source.path, _line_of(source, at))
        raise DataFileError(f"{source.path}: not readable as JSON lines ({error}).") from error
    if n_read != len(lines):
        raise DataFileError(f"{source.path}: {n_read:,} JSON lines were read of {len(lines):,}.")
    columns = dict(zip(frame.columns, frame.get_columns(), strict=True))
    return pl.DataFrame({**columns, LINE_COLUMN: pl.Series(lines, dtype=pl.String)})


def _tagged(source: Source, at: int) -> Iterator[Chunk]:
    lists = {tag for tag, kind in source.kinds if kind == LIST}
    blocks = utf8_blocks(source.file, source.encoding)
    records = TaggedLines(blocks, source.path, LONGEST_RECORD).records(LAYOUTS[source.form])
    n_passed = sum(1 for _ in islice(records, at))
    if n_passed < at:
        raise DataFileError(f"{source.path}: {n_passed:,} records, {at:,} were read before. The file has changed.")
    while batch := _batch(records):
        ris.check_tags(batch, source.path)
        yield Chunk(ris.to_frame(batch, lists), at)
        at += len(batch)
    if at == 0:
        raise DataFileError(f"{source.path}: no RIS record; a line 'TY  - ...' was expected.")


def _batch(records: Iterator[ris.Record]) -> list[ris.Record]:
    batch: list[ris.Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += sum(len(value) for _, value in record)
        if size > BLOCK or len(batch) == MOST_RECORDS:
            break
    return batch


def _parquet(source: Source, at: int) -> Iterator[Chunk]:
    import polars as pl

    end = 0
    try:
        table = pl.scan_parquet(source.file, glob=False)
        for group in read_footer(source.file).groups:
            end += group.n_rows
            size = int(np.clip(BLOCK * group.n_rows // max(1, group.n_unpacked), 1, MOST_RECORDS))
            while at < end:  # a group is unpacked in slices: it may be the whole file
                refuse_changed(source)  # of a file that was cut polars tells pages
                frame = table.slice(at, min(SLICED * size, end - at)).collect()
                if frame.height == 0:
                    raise DataFileError(f"{source.path}: it was changed while it was read. Index it again.")
                for start in range(0, frame.height, size):
                    yield Chunk(frame.slice(start, size), at + start)
                at += frame.height
    except pl.exceptions.PanicException as error:
        raise DataFileError(f"{source.path}: not a whole Parquet file. Copy or make it again.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{source.path}: not a whole Parquet file ({error}). Copy or make it again.") from error


def _spreadsheet(source: Source, at: int) -> Iterator[Chunk]:
    frame = read_spreadsheet(source.file)
    for start in range(at, frame.height, MOST_RECORDS):
        yield Chunk(frame.slice(start, MOST_RECORDS), start)


def _folder(source: Source, at: int) -> Iterator[Chunk]:
    import polars as pl

    files = islice(text_files(source.file), at, None)
    schema = {"id": pl.String, "title": pl.String, "text": pl.String}
    rows: list[tuple[str, str, str]] = []
    size = 0
    for name, file in files:
        title, text = split_title(read_text(file, source.encoding or None))
        rows.append((name, title, text))
        size += len(text)
        if size > BLOCK or len(rows) == MOST_RECORDS:
            yield Chunk(pl.DataFrame(rows, schema=schema, orient="row"), at)
            at += len(rows)
            rows, size = [], 0
    if rows:
        yield Chunk(pl.DataFrame(rows, schema=schema, orient="row"), at)


def _with_line_feeds(block: bytes, source: Source) -> bytes:
    """Lines that end in a carriage return alone, as on old machines, get the usual ending."""
    return block.replace(b"\r", b"\n") if source.form == "old" else block


def _not_too_long(rest: bytes, source: Source, at: int) -> bytes:
    if len(rest) > LONGEST_RECORD:
        raise DataFileError(
            f"{source.path}, line {_line_of(source, at)}: a record of more than {LONGEST_RECORD:,} bytes, or a "
            "quotation mark that is never closed. See that the file is what its ending says."
        )
    return rest


def _line_of(source: Source, at: int) -> int:
    """The number of the line that holds byte ``at``; counted only for messages."""
    line, passed = 1, 0
    for block in utf8_blocks(source.file, source.encoding):
        block = _with_line_feeds(block, source)
        line += block[: max(0, at - passed)].count(b"\n")
        passed += len(block)
        if passed >= at:
            break
    return line


READERS: dict[str, Callable[[Source, int], Iterator[Chunk]]] = {
    "delimited": _delimited,
    "jsonl": _jsonl,
    "tagged": _tagged,
    "parquet": _parquet,
    "spreadsheet": _spreadsheet,
    "folder": _folder,
}
"""The one table of readers, by the kind of a source."""
