"""Ids of a collection on disk: by row from mapped bytes, and back by a sorted, mapped list of their hashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from riffler.data.texts import BLOCK
from riffler.disk.block import Block
from riffler.disk.files import open_array
from riffler.disk.gathering import locate
from riffler.disk.manifest import Files
from riffler.disk.packed_ids import PackedIds
from riffler.errors import UnknownName
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


class DiskIds(Sequence[str]):
    """One id a document, all different; none of them is held in memory."""

    def __init__(self, folder: Path, blocks: Sequence[Block], files: Files) -> None:
        self._folder, self._blocks, self._files = folder, blocks, files
        self._bounds = np.array([*(block.first_row for block in blocks), blocks[-1].first_row + blocks[-1].n_rows])

    def row_of(self, id: str) -> int:
        """The row of an id; an error where there is none."""
        return int(self.rows_of([id])[0])

    def rows_of(self, ids: Iterable[str]) -> IntArray:
        """The rows of ids; the first that is not there is an error."""
        wanted = list(ids)
        rows = self._found(wanted)
        if (rows < 0).any():
            missing = wanted[int(np.argmax(rows < 0))]
            raise UnknownName(f"{self._folder}: no document has the id {missing!r}. Its ids are such as {self[0]!r}.")
        return rows

    def take(self, rows: IntArray) -> list[str]:
        """Ids of rows."""
        numbers, within = locate(self._bounds, np.asarray(rows, dtype=np.int64))
        return [self._blocks[number].ids[row] for number, row in zip(numbers.tolist(), within.tolist(), strict=True)]

    def block(self, start: int, stop: int) -> pl.Series:
        """Ids from row ``start`` up to ``stop`` as a polars column."""
        import polars as pl

        parts = [pl.Series("id", [], dtype=pl.String)]
        for block in self._blocks:
            first, last = max(start - block.first_row, 0), min(stop - block.first_row, block.n_rows)
            if first < last:
                parts.append(block.ids.series(first, last))
        return pl.concat(parts)

    def keyed(self, key: bytes) -> NDArray[np.uint64]:
        """64 bits of each id under a key of 1 to 64 bytes: those of BLAKE2b, in the order of rows."""
        with ThreadPoolExecutor(thread_name_prefix="riffler-ids") as pool:
            return np.concatenate(list(pool.map(lambda block: block.ids.keyed(key), self._blocks)))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self._found([id])[0] >= 0)

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
        return int(self._bounds[-1])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BLOCK):
            yield from self.block(start, start + BLOCK)

    def __repr__(self) -> str:
        return f"<{len(self):,} ids on disk>"

    @cached_property
    def _hashes(self) -> IntArray:
        return open_array(self._folder, self._files["id_hashes"], "ids")

    @cached_property
    def _rows(self) -> IntArray:
        return open_array(self._folder, self._files["id_rows"], "ids")

    def _found(self, ids: list[str]) -> IntArray:
        """The row of each id, -1 where there is none; ids of equal hashes are told apart by themselves."""
        hashes = PackedIds.of(ids).hashes()
        firsts = np.searchsorted(self._hashes, hashes)
        rows = np.full(len(ids), -1, dtype=np.int64)
        for place, first in enumerate(firsts.tolist()):
            while first < len(self._hashes) and self._hashes[first] == hashes[place]:
                row = int(self._rows[first])
                if self[row] == ids[place]:
                    rows[place] = row
                    break
                first += 1
        return rows
