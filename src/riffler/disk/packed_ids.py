"""Ids one after the other in UTF-8, as they lie on the disk, and their 64-bit hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riffler.features.words import PackedWords
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

N_DIGITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class PackedIds:
    """Id i is ``data[ends[i - 1]:ends[i]]``; the arrays may be mapped.

    >>> packed = PackedIds.of(["p1", "été"])
    >>> packed[1], packed.series().to_list(), len(packed)
    ('été', ['p1', 'été'], 2)
    """

    data: NDArray[np.uint8]
    ends: IntArray

    @classmethod
    def of(cls, ids: pl.Series | list[str]) -> PackedIds:
        """Pack ids."""
        packed = PackedWords.of(ids)
        return cls(packed.data, packed.starts[1:])

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> str:
        start = int(self.ends[row - 1]) if row else 0
        return bytes(self.data[start : int(self.ends[row])]).decode()

    def series(self, start: int = 0, stop: int | None = None) -> pl.Series:
        """The ids of some rows as a polars column."""
        import polars as pl

        stop = len(self) if stop is None else min(stop, len(self))
        if start >= stop:
            return pl.Series("id", [], dtype=pl.String)
        first = int(self.ends[start - 1]) if start else 0
        ends = (np.asarray(self.ends[start:stop]) - first).tolist()
        data = bytes(self.data[first : first + ends[-1]])
        ids = [data[begin:end].decode() for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        return pl.Series("id", ids, dtype=pl.String)

    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each id, never 0, the same on every machine."""
        from riffler._fast.id_table import hash_ids

        out = np.empty(len(self), dtype=np.uint64)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), self.ends[:-1]])[: len(self)]
        hash_ids(self.data, starts, np.asarray(self.ends), out)
        return out

    def keyed(self, key: bytes) -> NDArray[np.uint64]:
        """64 bits of each id under a key: those of BLAKE2b."""
        from riffler._fast.blake2 import keyed_digests

        out = np.empty(len(self), dtype=np.uint64)
        keyed_digests(np.asarray(self.data), np.asarray(self.ends), np.frombuffer(key, dtype=np.uint8), out)
        return out


def keys_of_digits(digits: list[str]) -> NDArray[Any]:
    """The numbers that ids made of the content write in sixteen digits; never 0.

    >>> keys_of_digits(["00000000000000ff"]).tolist()
    [255]
    """
    keys = np.frombuffer(bytes.fromhex("".join(digits)), dtype=">u8").astype(np.uint64)
    return np.maximum(keys, np.uint64(1))
