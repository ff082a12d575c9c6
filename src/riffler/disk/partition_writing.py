"""Write a partition: the records, their ids and labels, and the counts of their terms."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.folder import PARTITIONS
from riffler.data.item_ids import content_key
from riffler.disk.files import FileEntry, flush_folder, write_array, write_bytes
from riffler.disk.hashed_rows import CountRows, HashedCounter
from riffler.disk.manifest import Partition
from riffler.disk.packed_ids import PackedIds
from riffler.disk.parts import Piece
from riffler.disk.strays import DRAFT, clear_place

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_A_GROUP = 2048
"""Records that Parquet unpacks together: so many are read to show one."""


@dataclass(frozen=True, slots=True, eq=False)
class CountedPiece:
    """Documents with the rows of their counts; ``digits`` are those of ids made of the content, if they are.

    Of ``n_cut`` of them only the beginning was counted.
    """

    piece: Piece
    rows: CountRows
    digits: list[str]
    n_cut: int


def counted(piece: Piece, counter: HashedCounter) -> CountedPiece:
    """Count the terms of a piece: the costly part, done by many threads."""
    digits = content_digits(piece) if piece.ids is None else []
    texts = piece.texts()
    return CountedPiece(piece, counter.rows(texts), digits, counter.n_cut(texts))


def content_digits(piece: Piece) -> list[str]:
    """The digits of ids made of the content."""
    columns = (piece.titles.fill_null(""), piece.abstracts.fill_null(""), piece.dois)
    return [content_key(parts) for parts in zip(*columns, strict=True)]


def write_partition(folder: Path, number: int, counted: list[CountedPiece], ids: list[PackedIds]) -> Partition:
    """Write all files of a partition into a folder of drafts, then move that into its place."""
    name = f"{PARTITIONS}/{number:05}"
    place, beside = folder / name, folder / f"{name}.{DRAFT}"
    for old in (place, beside):
        clear_place(old)
    beside.mkdir()
    pieces = [one.piece for one in counted]
    rows = CountRows.joined([one.rows for one in counted])
    packed = _joined(ids)
    labels = np.concatenate([piece.labels for piece in pieces])
    files = {
        "records": _write_records(beside, pieces, packed),
        "ids": write_array(beside, "ids.npy", packed.data),
        "id_ends": write_array(beside, "id_ends.npy", packed.ends),
        "labels": write_array(beside, "labels.npy", labels),
        "counts": write_array(beside, "counts.npy", rows.counts),
        "indices": write_array(beside, "indices.npy", rows.indices),
        "indptr": write_array(beside, "indptr.npy", rows.bounds.astype(np.int32)),
    }
    beside.replace(place)
    flush_folder(place.parent)
    return Partition(
        number=number,
        n_items=len(labels),
        n_entries=len(rows.indices),
        files={what: FileEntry(f"{name}/{file.name}", file.n_bytes, file.sha256) for what, file in files.items()},
        runs=_runs(pieces),
        labels=(int((labels == 1).sum()), int((labels == 0).sum()), int((labels == -1).sum())),
        n_cut=sum(one.n_cut for one in counted),
    )


def _write_records(folder: Path, pieces: list[Piece], ids: PackedIds) -> FileEntry:
    import polars as pl

    sources = np.repeat([piece.source for piece in pieces], [piece.n_items for piece in pieces])
    frame = pl.DataFrame(
        {
            "id": ids.series(),
            "title": _stacked([piece.titles for piece in pieces]),
            "abstract": _stacked([piece.abstracts for piece in pieces]),
            "label": np.concatenate([piece.labels for piece in pieces]),
            "source": sources.astype(np.int32),
            "others": _stacked([piece.others for piece in pieces]),
        }
    )
    # into memory first: so the sum is of what was meant to be written, and a full disk is told as everywhere
    packed = io.BytesIO()
    frame.write_parquet(packed, compression="zstd", compression_level=1, row_group_size=ROWS_OF_A_GROUP)
    return write_bytes(folder, "records.parquet", packed.getbuffer())


def _stacked(parts: list[pl.Series]) -> pl.Series:
    import polars as pl

    # in one piece: how a source was cut into chunks is not to be seen in the file
    return pl.concat([part.alias("") for part in parts], rechunk=True)


def _joined(parts: list[PackedIds]) -> PackedIds:
    starts = np.concatenate([[0], np.cumsum([len(part.data) for part in parts])])
    ends = [np.asarray(part.ends, dtype=np.int64) + start for part, start in zip(parts, starts[:-1], strict=True)]
    return PackedIds(np.concatenate([part.data for part in parts]), np.concatenate(ends))


def _runs(pieces: list[Piece]) -> tuple[tuple[int, int, int], ...]:
    runs: list[tuple[int, int, int]] = []
    for piece in pieces:
        source, first, n = piece.source, piece.first_row, piece.n_items
        if runs and runs[-1][0] == source and runs[-1][1] + runs[-1][2] == first:
            runs[-1] = (source, runs[-1][1], runs[-1][2] + n)
        else:
            runs.append((source, first, n))
    return tuple(runs)
