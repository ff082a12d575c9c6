"""Which column a word or a pair of neighbouring words has: by a vocabulary learned from texts, or by its hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from riffler.features.tokens import CodedTexts
from riffler.features.words import PackedWords
from riffler.records import IntArray

BLOCK_TEXTS = 4096
NO_PAIRS: IntArray = np.empty(0, dtype=np.int32)


class ColumnBlock(NamedTuple):
    """Columns of some texts: of the word at each place and of the pair that begins there, -1 for none."""

    bounds: IntArray  # text t of the block has the places bounds[t] ... bounds[t + 1] - 1
    singles: IntArray
    pairs: IntArray  # empty where pairs do not count


class Columns(Protocol):
    """What turns words into columns."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def known(self) -> PackedWords | None:
        """Words that are numbered first when texts are coded, if there are any."""
        ...

    def blocks(self, coded: CodedTexts) -> Iterator[ColumnBlock]:
        """Columns of all texts, a block of texts at a time, in order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Columns of known words and pairs; pairs follow the words.

    ``column_of_word[w]`` is -1 for a word that is only part of pairs; a pair is ``first << 32 | second``, sorted.
    """

    words: PackedWords
    column_of_word: IntArray  # int32
    pairs: IntArray  # uint64

    @property
    def n_columns(self) -> int:
        """Number of columns: words with one, then pairs."""
        return self._n_singles + len(self.pairs)

    @property
    def known(self) -> PackedWords:
        """The words of the vocabulary."""
        return self.words

    @property
    def _n_singles(self) -> int:
        return int((self.column_of_word >= 0).sum())

    def names(self) -> list[str]:
        """Words, then pairs with a blank between, in the order of the columns."""
        words = self.words.texts()
        singles = [words[w] for w in np.flatnonzero(self.column_of_word >= 0)]
        first, second = words_of_pairs(self.pairs)
        return singles + [f"{words[a]} {words[b]}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]

    def blocks(self, coded: CodedTexts) -> Iterator[ColumnBlock]:
        """Columns of texts that were coded with the words of this vocabulary first; other words have none."""
        from riffler._fast.terms import FREE, fill_pairs, find_pairs

        column_of_code = np.full(len(coded.words) + 1, -1, dtype=np.int32)  # the last is for words that were dropped
        column_of_code[: len(self.words)] = self.column_of_word
        slot_bits = max(4, (2 * len(self.pairs)).bit_length())
        keys = np.full(1 << slot_bits if len(self.pairs) else 1, FREE, dtype=np.uint64)
        numbers = np.empty(len(keys), dtype=np.int32)
        fill_pairs(self.pairs, slot_bits, keys, numbers)
        for codes, bounds in _text_blocks(coded):
            pairs = NO_PAIRS
            if len(self.pairs):
                pairs = np.empty(len(codes), dtype=np.int32)
                find_pairs(codes, bounds, slot_bits, keys, numbers, self._n_singles, pairs)
            yield ColumnBlock(bounds, column_of_code[codes], pairs)


@dataclass(frozen=True, slots=True)
class Hashing:
    """Column = MurmurHash3 of the UTF-8 word, or of "word next_word", modulo 2^n_bits."""

    n_bits: int
    with_words: bool
    with_pairs: bool

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return 1 << self.n_bits

    @property
    def known(self) -> None:
        """No words: any has a column."""
        return

    def blocks(self, coded: CodedTexts) -> Iterator[ColumnBlock]:
        """Columns of texts."""
        from riffler._fast.murmur import hash_pairs, hash_words

        mask = np.uint32(self.n_columns - 1)
        packed = coded.words.data, coded.words.starts[:-1], coded.words.starts[1:]
        column_of_code = np.full(len(coded.words), -1, dtype=np.int32)
        if self.with_words:
            hash_words(*packed, mask, column_of_code)
        for codes, bounds in _text_blocks(coded):
            pairs = NO_PAIRS
            if self.with_pairs:
                pairs = np.empty(len(codes), dtype=np.int32)
                hash_pairs(*packed, codes, bounds, mask, pairs)
            yield ColumnBlock(bounds, column_of_code[codes], pairs)


def _text_blocks(coded: CodedTexts) -> Iterator[tuple[IntArray, IntArray]]:
    for first in range(0, coded.n_texts, BLOCK_TEXTS):
        bounds = coded.bounds[first : first + BLOCK_TEXTS + 1]
        yield coded.codes[bounds[0] : bounds[-1]], bounds - bounds[0]


def words_of_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """First and second word of each pair."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def n_texts_of_columns(columns: Columns, coded: CodedTexts) -> IntArray:
    """Number of texts that each column is in."""
    from riffler._fast.terms import count_texts

    n_texts = np.zeros(columns.n_columns, dtype=np.int32)
    last_seen = np.full(columns.n_columns, -1, dtype=np.int32)
    first_text = 0
    for block in columns.blocks(coded):
        count_texts(block.bounds, block.singles, block.pairs, first_text, last_seen, n_texts)
        first_text += len(block.bounds) - 1
    return n_texts
