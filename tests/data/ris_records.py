"""Records of a frame as they stood in the file."""

from __future__ import annotations

import polars as pl

from riffler.data.ris import Record, record_of


def to_records(frame: pl.DataFrame) -> list[Record]:
    """The records of a frame that ``read_records`` made."""
    return [record for row in frame.iter_rows(named=True) if (record := record_of(row)) is not None]
