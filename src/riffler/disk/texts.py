"""Texts of a collection on disk: read from its records when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from riffler.data.texts import BLOCK, Texts
from riffler.disk.block import Block
from riffler.disk.records import read_rows
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


class DiskTexts(Sequence[str]):
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

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self.take(np.arange(*at.indices(len(self)))))
        row = index(at)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.take(np.array([row % len(self)]))[0]

    def __len__(self) -> int:
        return self._n_items

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self.block(start, start + BLOCK)

    def __repr__(self) -> str:
        return f"<{len(self):,} texts on disk>"
