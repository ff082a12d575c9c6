"""Spreadsheets (XLSX, XLS, ODS): the first sheet, its first row as column names."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

# it tells of every empty column; without a handler of its own that would be printed among our output
logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def read_spreadsheet(path: Path) -> pl.DataFrame:
    """Read the first sheet; numbers and dates keep their types, a column of mixed cells becomes text."""
    import fastexcel
    import polars as pl

    try:
        frame = pl.read_excel(path, engine="calamine", infer_schema_length=None, raise_if_empty=False)
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataFileError(
            f"{path}: not readable as a spreadsheet ({reason}). Save it again as XLSX or CSV."
        ) from error
    if frame.height == 0 or frame.width == 0:
        raise DataFileError(f"{path}: the first sheet has no rows below a header; put the records there.")
    return frame
