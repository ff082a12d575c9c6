"""Words as whole numbers: a growing table that turns packed UTF-8 words into codes, and words back into text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class PackedWords:
    """Words one after the other in UTF-8: word w is ``data[starts[w]:starts[w + 1]]``.

    >>> PackedWords.of(["ape", "été"]).texts()
    ['ape', 'été']
    """

    data: Bytes
    starts: IntArray

    @classmethod
    def of(cls, words: pl.Series | list[str]) -> PackedWords:
        """Pack words."""
        import polars as pl

        series = pl.Series(words, dtype=pl.String)
        starts = np.zeros(len(series) + 1, dtype=np.int64)
        np.cumsum(series.str.len_bytes().to_numpy(), out=starts[1:])
        return cls(np.frombuffer(series.str.join("").item().encode(), dtype=np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def texts(self) -> list[str]:
        """Words as strings."""
        data, starts = self.data.tobytes(), self.starts.tolist()
        return [data[start:stop].decode() for start, stop in pairwise(starts)]

    def alphabetical(self) -> IntArray:
        """Word numbers in the order of their code points; no word may hold the end of a line."""
        import polars as pl

        if len(self) == 0:
            return np.empty(0, dtype=np.int64)
        lines = np.full(len(self.data) + len(self), ord("\n"), dtype=np.uint8)
        lines[np.arange(len(self.data)) + np.repeat(np.arange(len(self)), np.diff(self.starts))] = self.data
        words = pl.Series([lines[:-1].tobytes().decode()]).str.split("\n").explode()
        order: IntArray = words.arg_sort().to_numpy()
        return order

    def take(self, words: IntArray) -> PackedWords:
        """Some of the words, in the order given."""
        lengths = np.diff(self.starts)[words]
        starts = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        # place p of word w is read from where w starts in the old packing, p - starts[w] further on
        source = np.repeat(self.starts[:-1][words] - starts[:-1], lengths) + np.arange(starts[-1])
        return PackedWords(self.data[source], starts)


class WordTable:
    """Numbers for words in the order of first sight.

    >>> table = WordTable()
    >>> table.codes(PackedWords.of(["a", "b", "a"])).tolist(), table.codes(PackedWords.of(["c", "b"])).tolist()
    ([0, 1, 0], [2, 1])
    >>> table.words().texts()
    ['a', 'b', 'c']
    """

    def __init__(self) -> None:
        self.n_words = 0
        self._slots: Any = np.zeros(1024, dtype=np.uint64)
        self._starts: Any = np.zeros(513, dtype=np.int64)
        self._arena: Any = np.empty(4096, dtype=np.uint8)

    def codes(self, words: PackedWords) -> IntArray:
        """Number of each word, int32; new words get new numbers."""
        return self.codes_at(words.data, words.starts[:-1], words.starts[1:])

    def codes_at(self, data: Bytes, starts: IntArray, ends: IntArray) -> IntArray:
        """Number of each word ``data[starts[t]:ends[t]]``, int32; new words get new numbers."""
        from riffler._fast.words import number_words

        self._make_room(len(starts), len(data))
        codes = np.empty(len(starts), dtype=np.int32)
        table = self._slots, self._arena, self._starts
        self.n_words = number_words(data, starts, ends, *table, self.n_words, codes)
        return codes

    def words(self, first: int = 0) -> PackedWords:
        """The words known, from number ``first`` on."""
        starts = self._starts[first : self.n_words + 1]
        return PackedWords(self._arena[starts[0] : starts[-1]].copy(), starts - starts[0])

    def _make_room(self, n_new: int, n_bytes: int) -> None:
        from riffler._fast.words import move_slots

        most = self.n_words + n_new
        self._arena = _grown(self._arena, int(self._starts[self.n_words]) + n_bytes)
        self._starts = _grown(self._starts, most + 1)
        if 2 * most > len(self._slots):
            larger = np.zeros(1 << (2 * most - 1).bit_length(), dtype=np.uint64)
            move_slots(self._slots, larger)
            self._slots = larger


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    if size <= len(array):
        return array
    larger = np.empty(max(size, 3 * len(array) // 2), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
