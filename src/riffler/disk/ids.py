"""Ids of a collection on disk: by row from mapped bytes, and back by a sorted, mapped list of their hashes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.cores import n_cores
from riffler.disk.block import Block
from riffler.disk.files import open_array
from riffler.disk.locating import locate
from riffler.disk.manifest import Manifest, as_opened
from riffler.disk.packed_ids import PackedIds
from riffler.disk.strings import StringsOnDisk
from riffler.errors import UnknownName
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl


class DiskIds(StringsOnDisk):
    """One id a document, all different; none of them is held in memory."""

    def __init__(self, folder: Path, blocks: Sequence[Block], manifest: Manifest) -> None:
        self._folder, self._blocks = folder, blocks
        self._files, self._generation = manifest.files, manifest.generation
        self._bounds = np.array([*(block.first_row for block in blocks), blocks[-1].first_row + blocks[-1].n_rows])

    def row_of(self, id: str) -> int:
        """The row of an id; an error where there is none."""
        return int(self.rows_of([id])[0])

    def rows_of(self, ids: Iterable[str]) -> IntArray:
        """The rows of ids; the first that is not there is an error."""
        wanted = list(ids)
        rows = self.found(wanted)
        if (rows < 0).any():
            missing = wanted[int(np.argmax(rows < 0))]
            raise UnknownName(f"{self._folder}: no document has the id {missing!r}. Its ids are such as {self[0]!r}.")
        return rows

    def found(self, ids: list[str]) -> IntArray:
        """The row of each id, -1 where there is none; ids of equal hashes are told apart by themselves."""
        # half of a surrogate pair is in no id, and cannot be packed
        hashes = PackedIds.of([id if id.isascii() else id.encode(errors="replace").decode() for id in ids]).hashes()
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
        with ThreadPoolExecutor(n_cores(), thread_name_prefix="riffler-ids") as pool:  # each keeps memory of its own
            return np.concatenate(list(pool.map(lambda block: block.ids.keyed(key), self._blocks)))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self.found([id])[0] >= 0)

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def __repr__(self) -> str:
        return f"<{len(self):,} ids on disk>"

    @cached_property
    def _hashes(self) -> IntArray:
        return self._array("id_hashes")

    @cached_property
    def _rows(self) -> IntArray:
        return self._array("id_rows")

    def _array(self, what: str) -> IntArray:
        with as_opened(self._folder, self._generation):
            return open_array(self._folder, self._files[what], "ids")
