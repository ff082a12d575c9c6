"""The columns that documents had in their sources: some are kept by themselves, the others as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.data.stacking import stacked
from riffler.data.text_columns import fold_name
from riffler.disk.block import Block
from riffler.disk.records import read_rows
from riffler.errors import DataFileError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

KEPT = ("id", "title", "abstract")
RECORD = (*KEPT, "source", "others")
Sources = Sequence[Mapping[str, Any]]


def columns_of(blocks: Sequence[Block], rows: IntArray, sources: Sources) -> pl.DataFrame:
    """All columns of some documents, by the names they had in their sources."""
    import polars as pl

    records = read_rows(blocks, rows, RECORD).with_row_index("place")
    frames, places = [], []
    for (number,), part in records.group_by("source", maintain_order=True):
        frames.append(_columns(part, sources[int(str(number))]["parts"] or {}))
        places.append(part["place"].to_numpy())
    if not frames:
        return pl.DataFrame()
    order: IntArray = np.argsort(np.concatenate(places), kind="stable")
    return stacked(frames)[order]


def all_of_column(blocks: Sequence[Block], name: str, sources: Sources, source: str) -> pl.Series:
    """One column of all documents as text; an error where none has it."""
    import polars as pl

    parts = []
    for block in blocks:
        records = block.records(0, block.n_rows, RECORD)
        found = records["others"].str.json_path_match(f"$['{_escaped(name)}']")
        for kept in KEPT:
            named = [number for number, one in enumerate(sources) if _is_called(one, kept, name)]
            if named:
                here = records["source"].is_in(named)
                chosen = pl.when(pl.lit(here)).then(pl.lit(records[kept])).otherwise(pl.lit(found))
                found = pl.select(chosen).to_series()
        parts.append(found.alias(name))
    together = pl.concat(parts)
    if together.null_count() == len(together):
        names = columns_of(blocks, np.arange(min(100, len(together))), sources).columns
        alike = [one for one in names if fold_name(one) == fold_name(name) and one != name]
        if len(alike) == 1:
            return all_of_column(blocks, alike[0], sources, source)
        raise DataFileError(f"{source}: no document has a column {name!r}. Columns are such as {', '.join(names)}.")
    return together


def _columns(records: pl.DataFrame, parts: Mapping[str, str | None]) -> pl.DataFrame:
    """The columns of documents of one source."""
    import polars as pl

    others = pl.DataFrame()
    if records["others"].null_count() < records.height:
        lines = "\n".join(line or "{}" for line in records["others"].to_list())
        others = pl.read_ndjson(lines.encode(), infer_schema_length=None)
    kept = {str(name): records[part] for part, name in parts.items() if part in KEPT and _is_kept(name, others)}
    if parts.get("id") is None:
        kept = {"riffler_id": records["id"], **kept}
    return pl.DataFrame({**kept, **{name: others[name] for name in others.columns}})


def _is_kept(name: str | None, others: pl.DataFrame) -> bool:
    return name is not None and not name.startswith("(") and name not in others.columns


def _is_called(source: Mapping[str, Any], part: str, name: str) -> bool:
    return bool((source["parts"] or {}).get(part) == name)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
