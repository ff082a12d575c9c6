"""Texts of a collection on disk: read from its records when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.texts import Texts
from riffler.disk.block import Block
from riffler.disk.records import read_rows
from riffler.disk.strings import StringsOnDisk
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


class DiskTexts(StringsOnDisk):
    """One string a document: some columns of its record, one below the other, blank ones left out."""

    __slots__ = ("_blocks", "_columns", "_n_items")

    def __init__(self, blocks: Sequence[Block], columns: tuple[str, ...]) -> None:
        self._blocks, self._columns = blocks, columns
        self._n_items = sum(block.n_rows for block in blocks)

    def block(self, start: int, stop: int) -> pl.Series:
        """The texts from row ``start`` up to ``stop`` as a polars column."""
        return self.take(np.arange(start, max(start, min(stop, len(self))))).series

    def take(self, rows: IntArray) -> Texts:
        """The texts of the given rows, in that order, in memory."""
        frame = read_rows(self._blocks, rows, self._columns)
        return Texts(*(frame[column] for column in self._columns))

    def __len__(self) -> int:
        return self._n_items

    def __repr__(self) -> str:
        return f"<{len(self):,} texts on disk>"
