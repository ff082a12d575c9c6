"""Records of a few documents out of all partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.disk.block import Block
from riffler.disk.locating import locate
from riffler.disk.partition_writing import ROWS_OF_A_GROUP
from riffler.errors import InputError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


def read_rows(blocks: Sequence[Block], rows: IntArray, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of the records of documents, in the order asked for; each group of records is unpacked once."""
    import polars as pl

    rows = np.asarray(rows, dtype=np.int64)
    n_items = blocks[-1].first_row + blocks[-1].n_rows
    if len(rows) and (rows.min() < 0 or rows.max() >= n_items):
        raise InputError(f"Rows are 0 to {n_items - 1:,}, got {int(rows.min()):,} to {int(rows.max()):,}.")
    wanted, back = np.unique(rows, return_inverse=True)
    bounds = np.array([*(block.first_row for block in blocks), n_items])
    numbers, within = locate(bounds, wanted)
    frames = [blocks[0].records(0, 0, columns)]
    for number in np.unique(numbers).tolist():
        here = within[numbers == number]
        for run in np.split(here, np.flatnonzero(np.diff(here // ROWS_OF_A_GROUP) > 1) + 1):
            first, last = int(run[0]), int(run[-1])
            found = blocks[number].records(first, last - first + 1, columns)
            frames.append(found if len(run) == found.height else found[run - first])
    return pl.concat(frames)[back]
