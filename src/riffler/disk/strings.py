"""Strings of a collection on disk, one a document, none of them in memory: by row, by slice, or block after block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from riffler.data.texts import BLOCK
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


class StringsOnDisk(Sequence[str]):
    """What ids and texts of a collection on disk have in common; each says how many it has and how it reads some."""

    __slots__ = ()

    @abstractmethod
    def take(self, rows: IntArray) -> Sequence[str]:
        """The strings of some rows, in the order given."""

    @abstractmethod
    def block(self, start: int, stop: int) -> pl.Series:
        """The strings from row ``start`` up to ``stop`` as a polars column."""

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

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self.block(start, start + BLOCK)
