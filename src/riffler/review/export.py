"""A review goes out: as a table or as RIS with all it came with, or as the history of everything that was said."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from riffler.data.atomic import atomic_write
from riffler.data.formulas import guarded
from riffler.errors import DiskFull, InputError, StorageError, UnknownName
from riffler.records import FloatArray
from riffler.review.export_ris import write_ris
from riffler.review.export_table import ExportTable
from riffler.review.export_tabular import BYTE_ORDER_MARK, write_csv, write_jsonl, write_parquet
from riffler.review.export_xlsx import write_xlsx
from riffler.review.history import HistoryFilter, HistoryLine
from riffler.review.pictures import read_picture
from riffler.review.store import Review

if TYPE_CHECKING:
    import polars as pl

ALL_LINES = 2**62


class ExportFormat(NamedTuple):
    """The ending of a file, its media type, and who writes it."""

    ending: str
    media_type: str
    write: Callable[[ExportTable, Path], None]


FORMATS = {
    "csv": ExportFormat(".csv", "text/csv; charset=utf-8", write_csv),
    "xlsx": ExportFormat(".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", write_xlsx),
    "ris": ExportFormat(".ris", "application/x-research-info-systems; charset=utf-8", write_ris),
    "parquet": ExportFormat(".parquet", "application/vnd.apache.parquet", write_parquet),
    "jsonl": ExportFormat(".jsonl", "application/jsonl; charset=utf-8", write_jsonl),
}
"""The formats of an export by name."""


def write_export(review: Review, path: str | os.PathLike[str], format: str, which: str = "all") -> int:
    """Write the documents of a review with their original columns and what was found out; return how many.

    Parameters
    ----------
    path : of the file, which is whole or not there
    format : one of ``FORMATS``
    which : "all", one verdict ("relevant", "irrelevant", "maybe", "skip") or "unread"
    """
    if format not in FORMATS:
        raise UnknownName.among("export format", format, FORMATS)
    with review.moment() as session:
        table = ExportTable(session, review.id, _scores(session, review.id), which)
        with writing_to(path) as draft:
            FORMATS[format].write(table, draft)
        return table.n_rows


def write_history(review: Review, path: str | os.PathLike[str], viewer: int | None = None) -> int:
    """Write all that was ever said, the earliest first, as CSV or JSON lines by the ending; return how many lines.

    ``viewer`` is the number of who will read it: what others said of documents that wait for readers is left out.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".jsonl"):
        raise InputError(f"{path}: the history is written as .csv or .jsonl. Choose one of these endings.")
    frame = _history(review.history(HistoryFilter(n=ALL_LINES, viewer=viewer)))
    with writing_to(path) as draft:
        if ending == ".csv":
            draft.write_bytes(BYTE_ORDER_MARK + guarded(frame).write_csv().encode())
        else:
            frame.write_ndjson(draft)
    return frame.height


@contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a draft of a file that is whole or not there; what goes wrong with the disk is said in words."""
    try:
        with atomic_write(path) as draft:
            yield draft
    except OSError as error:
        if error.errno == errno.ENOSPC or "No space left" in str(error):
            raise DiskFull(f"{path}: the disk is full, nothing was written. Free some space and try again.") from error
        raise StorageError(f"{path}: cannot be written ({error.strerror or error}). Choose another place.") from error


def _scores(session: Session, review_id: int) -> FloatArray:
    picture = read_picture(session, review_id, "scores")
    if picture is None:
        return np.empty(0)
    scores: FloatArray = np.frombuffer(picture.payload, dtype="<f4").astype(np.float64)
    return scores


def _history(latest_first: list[HistoryLine]) -> pl.DataFrame:
    import polars as pl

    types = {one.name: pl.String for one in fields(HistoryLine)}
    numbers = {"id": pl.Int64, "undoes": pl.Int64, "seconds": pl.Float64, "holds": pl.Boolean}
    rows = [tuple(asdict(line).values()) for line in reversed(latest_first)]
    return pl.DataFrame(rows, schema={**types, **numbers}, orient="row")
