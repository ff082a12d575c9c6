"""JSON lines: one object a line, its keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from riffler.data.encodings import utf8_source
from riffler.data.json_members import LIST, NULL, NUMBER, JsonMembers
from riffler.data.text_columns import fold_name
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl


def read_jsonl(path: Path, encoding: str | None = None) -> pl.DataFrame:
    """Read one object a line; keys that a line lacks are null there, numbers and texts together are texts."""
    import polars as pl

    source = utf8_source(path, encoding)
    try:
        frame = pl.read_ndjson(_no_pattern(source), infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError) as error:
        data = source if isinstance(source, bytes) else source.read_bytes()
        if not data.strip():
            raise DataFileError(f"{path}: no objects; one JSON object a line was expected.") from error
        name_bad_line(data, str(path))
        frame = read_as_texts(data, JsonMembers.of(data).kinds_of_keys(lambda key: True))
    if len({fold_name(name) for name in frame.columns}) < frame.width:  # which of them plays a part hangs on the order
        data = source if isinstance(source, bytes) else source.read_bytes()
        ranks = {key: rank for rank, key in enumerate(JsonMembers.of(data).kinds_of_keys(lambda key: True))}
        names: list[str] = sorted(frame.columns, key=lambda name: ranks.get(name, len(ranks)))
        frame = frame.select(names)
    if frame.height == 0 or frame.width == 0:
        raise DataFileError(f"{path}: no objects; one JSON object a line was expected.")
    return frame


def frame_of_objects(data: bytes) -> pl.DataFrame:
    """A frame of lines that are objects; where their values have no types in common all columns are texts."""
    import polars as pl

    try:
        return pl.read_ndjson(data, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError):
        return read_as_texts(data, JsonMembers.of(data).kinds_of_keys(lambda key: True))


def read_as_texts(data: bytes, kinds: Mapping[str, int]) -> pl.DataFrame:
    """Some columns as texts, or as lists of texts where all values are lists; each value is read by itself.

    >>> read_as_texts(b'{"a": 1.0, "b": 2}\\n{"a": "x"}', {"a": 12})["a"].to_list()
    ['1', 'x']
    """
    import polars as pl

    schema = {name: pl.List(pl.String) if kind & ~NULL == LIST else pl.String() for name, kind in kinds.items()}
    numbers = [name for name, kind in kinds.items() if kind & ~NULL == NUMBER]
    return pl.read_ndjson(data, schema=schema).with_columns(pl.col(numbers).replace("-0", "0"))


def name_bad_line(data: bytes, source: str, first_line: int = 1) -> None:
    """Raise for the first line that is not a JSON object."""
    import polars as pl

    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_refuse_constant)
        except ValueError as error:
            raise DataFileError(f"{source}, line {number}: not JSON ({error}).") from error
        except RecursionError as error:
            raise DataFileError(f"{source}, line {number}: lists or objects within one another, too deep.") from error
        if not isinstance(value, dict):
            raise DataFileError(
                f"{source}, line {number}: one JSON object a line was expected, {type(value).__name__} came."
            )
    good, bad = 0, len(lines) + 1  # so many lines can be read, and so many cannot: what polars alone finds a fault in
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            pl.read_ndjson(b"\n".join([b"{}", *lines[good:middle]]), schema={"": pl.String()})
            good = middle
        except (pl.exceptions.PolarsError, ValueError) as error:
            bad, told = middle, error
    if bad <= len(lines):
        raise DataFileError(f"{source}, line {first_line + bad - 1}: not JSON that can be read ({told}).")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; write null")


def _no_pattern(source: Path | bytes) -> Path | bytes:
    """What polars reads as this file alone: it takes a name such as ``a[1].jsonl`` for a pattern of others."""
    if isinstance(source, Path) and any(mark in str(source) for mark in "*?["):
        return source.read_bytes()
    return source
