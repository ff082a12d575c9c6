"""JSON lines: one object a line, its keys are the columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.encodings import utf8_source
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl


def read_jsonl(path: Path, encoding: str | None = None) -> pl.DataFrame:
    """Read one object a line; keys that a line lacks are null there, mixed numbers and texts become texts."""
    import polars as pl

    source = utf8_source(path, encoding)
    try:
        frame = pl.read_ndjson(source, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError) as error:
        _name_bad_line(source, path)
        raise DataFileError(f"{path}: not readable as JSON lines ({error}).") from error
    if frame.height == 0 or frame.width == 0:
        raise DataFileError(f"{path}: no objects; one JSON object a line was expected.")
    return frame


def _name_bad_line(source: Path | bytes, path: Path) -> None:
    data = source if isinstance(source, bytes) else source.read_bytes()
    if not data.strip():
        raise DataFileError(f"{path}: no objects; one JSON object a line was expected.")
    for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise DataFileError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(value, dict):
            raise DataFileError(
                f"{path}, line {number}: one JSON object a line was expected, {type(value).__name__} came."
            )
