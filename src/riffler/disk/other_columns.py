"""The columns that documents had in their sources: some are kept by themselves, the others as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.data.collection_reading import EXPORTED_ID
from riffler.data.json_members import only_key
from riffler.data.jsonl import frame_of_objects
from riffler.data.stacking import aligned, common_types, stacked
from riffler.data.text_columns import fold_name, names_in_words, text_or_null
from riffler.disk.block import Block
from riffler.disk.records import read_rows
from riffler.errors import DataFileError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

KEPT = ("id", "title", "abstract")
RECORD = (*KEPT, "source", "others")
MANY_RECORDS = 1 << 14
"""Records that are unpacked together."""

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
    """One column of all documents as text, as ``as_text`` makes it of each source; an error where none has it."""
    import polars as pl

    found: dict[int, list[pl.DataFrame]] = {}
    alike = _read_alike(sources)
    for block in blocks:
        for start in range(0, block.n_rows, MANY_RECORDS):
            n_records = min(MANY_RECORDS, block.n_rows - start)
            records = block.records(start, n_records, [*_kept_as(name, sources), "source", "others"])
            placed = records.with_row_index("place", offset=block.first_row + start)
            placed = placed.with_columns(source=pl.lit(alike).gather(pl.col("source")))
            for (number,), part in placed.group_by("source", maintain_order=True):
                columns = _columns(_with_one(part, name), sources[int(str(number))]["parts"] or {})
                named = pl.DataFrame({"place": part["place"]}).with_columns(text=columns.get_column(name, default=None))
                found.setdefault(int(str(number)), []).append(named)
    parts = [_as_texts(stacked(frames), name, source) for frames in found.values()]
    together = pl.concat(parts).sort("place")["text"].alias(name)
    if together.null_count() == len(together):
        names = columns_of(blocks, np.arange(min(100, len(together))), sources).columns
        other_names = [one for one in names if fold_name(one) == fold_name(name) and one != name]
        if len(other_names) == 1:
            return all_of_column(blocks, other_names[0], sources, source)
        raise DataFileError(
            f"{source}: no document has a column {name!r}. Columns are such as {names_in_words(names)}."
        )
    return together


def _read_alike(sources: Sources) -> pl.Series:
    """The number of each source, or the first whose documents may be read with its own: of thousands of small files.

    All columns of a delimited text are texts; what a number is elsewhere hangs on the others of the same source.
    """
    import polars as pl

    firsts: dict[object, int] = {}
    keys = [json.dumps(one["parts"]) if one["kind"] == "delimited" else number for number, one in enumerate(sources)]
    return pl.Series([firsts.setdefault(key, number) for number, key in enumerate(keys)], dtype=pl.Int32)


def _as_texts(placed: pl.DataFrame, name: str, source: str) -> pl.DataFrame:
    return placed.with_columns(text=text_or_null(placed["text"].alias(name), source))


def _kept_as(name: str, sources: Sources) -> list[str]:
    """What a column is kept as, in any source."""
    kept = [part for part in KEPT if any((one["parts"] or {}).get(part) == name for one in sources)]
    return [*kept, "id"] if name == EXPORTED_ID and "id" not in kept else kept


def _with_one(records: pl.DataFrame, name: str) -> pl.DataFrame:
    """Records with one column of the others: the rest, which may be far more, is not unpacked."""
    import polars as pl

    lines = only_key(_lines(records["others"]), name, records.height).decode().split("\n")[:-1]
    return records.with_columns(pl.Series("others", lines))


def _lines(others: pl.Series) -> bytes:
    return "\n".join(others.fill_null("{}")).encode()


def _columns(records: pl.DataFrame, parts: Mapping[str, str | None]) -> pl.DataFrame:
    """The columns of documents of one source, as far as the records have them."""
    import polars as pl

    others = pl.DataFrame()
    if records["others"].null_count() < records.height:
        others = frame_of_objects(_lines(records["others"]))
    kept = {
        name: _filled(others, name, records[part])
        for part, name in parts.items()
        if part in KEPT and part in records.columns and name is not None and not name.startswith("(")
    }
    if parts.get("id") is None and "id" in records.columns:
        kept = {EXPORTED_ID: records["id"], **kept}
    return pl.DataFrame({**kept, **{name: others[name] for name in others.columns if name not in kept}})


def _filled(others: pl.DataFrame, name: str, texts: pl.Series) -> pl.Series:
    """A column that is kept as text, and where that was not the whole of it among the others as well."""
    import polars as pl

    if name not in others.columns:
        return texts
    if not (others[name].is_null() & texts.is_not_null()).any():
        return others[name]
    both = others.select(name), pl.DataFrame({name: texts})
    types = common_types([one.schema for one in both])
    return pl.select(pl.coalesce(*(pl.lit(aligned(one, types)[name]) for one in both)).alias(name))[name]
