"""Exports as spreadsheets: texts are always texts, never formulas or links, and what Excel cannot hold is said."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.errors import InputError
from riffler.review.export_table import ExportTable
from riffler.review.export_tabular import as_cells

if TYPE_CHECKING:
    import polars as pl
    from xlsxwriter.worksheet import Worksheet

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
CUT = " [cut; CSV, JSON lines, RIS and Parquet have all of it]"
EXACT = 2**53  # Excel's numbers are floats: beyond this whole numbers are written as texts
FIRST_YEAR = 1900  # of Excel's calendar
OPTIONS = {
    "constant_memory": True,  # a row is on the disk as soon as the next one begins
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "default_date_format": "yyyy-mm-dd hh:mm:ss",
}


def write_xlsx(table: ExportTable, target: Path) -> None:
    """Write one sheet; a text of more than 32,767 characters is cut, and a second sheet lists those that were."""
    import xlsxwriter

    if len(table.types) > MOST_COLUMNS:
        raise InputError(f"A sheet has at most {MOST_COLUMNS:,} columns, these are {len(table.types):,}. Export CSV.")
    with xlsxwriter.Workbook(str(target), OPTIONS) as book:
        sheet = book.add_worksheet("Documents")
        sheet.freeze_panes(1, 0)
        cut: list[tuple[str, str, int]] = []
        for place, name in enumerate(table.types):
            sheet.write_string(0, place, _fitting(name))
        n_rows = 1
        for frame in table.frames():
            if n_rows + frame.height > MOST_ROWS:
                raise InputError(f"A sheet has at most {MOST_ROWS - 1:,} documents, these are more. Export CSV.")
            _write_rows(sheet, frame, n_rows, cut)
            n_rows += frame.height
        if cut:
            listing = book.add_worksheet("Cut texts")
            for at, row in enumerate([("riffler_id", "column", "characters"), *cut]):
                listing.write_row(at, 0, row)


def _write_rows(sheet: Worksheet, frame: pl.DataFrame, first: int, cut: list[tuple[str, str, int]]) -> None:
    cells = frame.with_columns(as_cells(column) for column in frame if column.dtype.is_nested())
    for at, row in enumerate(cells.iter_rows()):
        for place, value in enumerate(row):
            if isinstance(value, str) and _width(value) > MOST_CHARACTERS:
                cut.append((frame["riffler_id"][at], frame.columns[place], len(value)))
            if value is not None:
                _write_cell(sheet, first + at, place, value)


def _write_cell(sheet: Worksheet, row: int, column: int, value: object) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= EXACT:
        sheet.write_number(row, column, value)
    elif isinstance(value, datetime.date) and value.year > FIRST_YEAR and getattr(value, "tzinfo", None) is None:
        sheet.write_datetime(row, column, value)
    else:
        sheet.write_string(row, column, _fitting(str(value)))


def _fitting(text: str) -> str:
    """Cut a text that is too long for a cell, and say so at its end."""
    if _width(text) <= MOST_CHARACTERS:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MOST_CHARACTERS - len(CUT))].decode("utf-16-le", "ignore")
    return kept + CUT


def _width(text: str) -> int:
    """Count characters as Excel does: those outside of the basic plane twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
