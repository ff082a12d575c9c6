"""Ids of all documents while they are indexed: none comes twice, however many files they are in.

An id that a column gives is refused when it comes again. Ids made of the content are numbered from the second on, as
in a file: ``key``, ``key-2``, ``key-3``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.disk.packed_ids import PackedIds, keys_of_digits
from riffler.errors import DataFileError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

FIRST_SLOTS = 1 << 16
FULL = 0.6
BYTES_OF_A_SLOT = 12


def n_slots(n_keys: int) -> int:
    """Slots of a table with so many keys; there are twice as many whenever it is too full.

    >>> n_slots(39_321), n_slots(39_322)
    (65536, 131072)
    """
    size = FIRST_SLOTS
    while n_keys > FULL * size:
        size *= 2
    return size


def most_bytes(n_keys: int) -> int:
    """What a table takes at most until it has so many keys: while it grows the old one is there beside the new.

    >>> most_bytes(39_321), most_bytes(39_322)
    (786432, 2359296)
    """
    size = n_slots(n_keys)
    return BYTES_OF_A_SLOT * (size if size == FIRST_SLOTS else size + size // 2)


class _KeyTable:
    """A growing table of 64-bit keys with a number of 32 bits each: 20 to 40 bytes a key, while it grows 60."""

    def __init__(self) -> None:
        self.keys: NDArray[np.uint64] = np.zeros(FIRST_SLOTS, dtype=np.uint64)
        self.numbers: NDArray[np.uint32] = np.zeros(FIRST_SLOTS, dtype=np.uint32)
        self.n_keys = 0

    def make_room(self, n_more: int) -> None:
        from riffler._fast.id_table import move_keys

        size = n_slots(self.n_keys + n_more)
        if size > len(self.keys):
            keys, numbers = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint32)
            move_keys(self.keys, self.numbers, keys, numbers)
            self.keys, self.numbers = keys, numbers


Place = Callable[[int], str]
"""Says where a document of a pack came from, for messages."""


class IdBook:
    """Ids so far, by hash, in packs one after the other."""

    def __init__(self) -> None:
        self._rows, self._contents = _KeyTable(), _KeyTable()
        self._packs: list[tuple[PackedIds, Place]] = []
        self._bounds = [0]

    @property
    def n_ids(self) -> int:
        """Ids so far."""
        return self._bounds[-1]

    def add_given(self, ids: pl.Series, place: Place) -> PackedIds:
        """Add the ids of a column; one that was there before is refused."""
        packed = PackedIds.of(ids)
        met = self._add(packed, place)
        for row, before in met:
            first = self._id(before)
            if first == self._id(row):
                raise DataFileError(
                    f"{self._place(row)} has the same id {first!r} as {self._place(before)}. Choose another column "
                    "with id= (--id), or 'content' for ids made of title, abstract and DOI; or leave out what is there "
                    "already."
                )
        return packed

    def add_contents(self, digits: list[str], place: Place) -> PackedIds:
        """Add ids made of the content by their digits; of equal contents the second gets ``-2`` behind, and so on."""
        n_so_far = self._count(keys_of_digits(digits)).tolist()
        ids = [key if n == 1 else f"{key}-{n}" for key, n in zip(digits, n_so_far, strict=True)]
        while taken := self._taken(ids):  # by ids of a column that look the same, such as those of an export
            again = self._count(keys_of_digits([digits[at] for at in taken])).tolist()
            for at, n in zip(taken, again, strict=True):
                ids[at] = f"{digits[at]}-{n}"
        packed = PackedIds.of(ids)
        self._add(packed, place)
        return packed

    def restore(self, packed: PackedIds, place: Place, digits: list[str]) -> None:
        """Take in the ids of a partition that is finished, and the digits of those that were made of contents."""
        if digits:
            self._count(keys_of_digits(digits))
        self._add(packed, place)

    def settle(self, n_packs: int, packed: PackedIds, place: Place) -> None:
        """Hold the last packs as one, such as a mapped one instead of several in memory."""
        self._packs[-n_packs:] = [(packed, place)]
        self._bounds[-n_packs:] = [self._bounds[-1]]

    def _add(self, packed: PackedIds, place: Place) -> list[tuple[int, int]]:
        """Add a pack; return the rows of ids whose hash was there, and the rows that have it."""
        from riffler._fast.id_table import insert_new

        first = self.n_ids
        self._packs.append((packed, place))
        self._bounds.append(first + len(packed))
        self._rows.make_room(len(packed))
        hashes = packed.hashes()
        met = []
        at, row = insert_new(hashes, 0, first, self._rows.keys, self._rows.numbers)
        while at < len(hashes):
            met.append((first + at, int(row)))
            at, row = insert_new(hashes, at + 1, first, self._rows.keys, self._rows.numbers)
        self._rows.n_keys += len(hashes) - len(met)
        return met

    def _taken(self, ids: list[str]) -> list[int]:
        """Places of ids that a document before has."""
        from riffler._fast.id_table import find_keys

        hashes = PackedIds.of(ids).hashes()
        found = np.empty(len(hashes), dtype=np.int64)
        find_keys(hashes, self._rows.keys, self._rows.numbers, found)
        return [at for at in np.flatnonzero(found >= 0).tolist() if self._id(int(found[at])) == ids[at]]

    def _count(self, keys: NDArray[np.uint64]) -> IntArray:
        from riffler._fast.id_table import count_keys

        self._contents.make_room(len(keys))
        n_so_far = np.empty(len(keys), dtype=np.int64)
        self._contents.n_keys += count_keys(keys, self._contents.keys, self._contents.numbers, n_so_far)
        return n_so_far

    def _id(self, row: int) -> str:
        pack = bisect_right(self._bounds, row) - 1
        return self._packs[pack][0][row - self._bounds[pack]]

    def _place(self, row: int) -> str:
        pack = bisect_right(self._bounds, row) - 1
        return self._packs[pack][1](row - self._bounds[pack])
