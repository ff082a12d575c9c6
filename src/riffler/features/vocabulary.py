"""Learn a vocabulary: the words and pairs of neighbouring words that are neither too rare nor too common.

Pairs are counted part by part, in a table of bounded size, since a collection has many more pairs than are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.features.columns import NO_PAIRS, Vocabulary, words_of_pairs
from riffler.features.tokens import CodedTexts
from riffler.records import BoolArray, IntArray

PAIRS_AT_ONCE = 1 << 19
WORDS_AT_ONCE = 1 << 20
NO_KEYS: IntArray = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Limits:
    """Terms are kept that are in ``at_least`` ... ``at_most`` texts; of these the ``n_most`` most used, if given."""

    at_least: float
    at_most: float
    n_most: int | None = None

    def allow(self, n_texts: IntArray) -> BoolArray:
        """Which numbers of texts are within the limits."""
        return (n_texts >= self.at_least) & (n_texts <= self.at_most)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Terms with the number of texts they are in and the number of times they are used."""

    terms: IntArray
    n_texts: IntArray
    n_times: IntArray

    def where(self, keep: BoolArray | IntArray) -> Counts:
        """Some of the terms."""
        return Counts(self.terms[keep], self.n_texts[keep], self.n_times[keep])


def learn_vocabulary(
    coded: CodedTexts, limits: Limits, *, with_words: bool, with_pairs: bool
) -> tuple[Vocabulary, IntArray, IntArray]:
    """Return the vocabulary, the number of texts of each column, and the new number of each word, -1 if dropped."""
    words = word_counts(coded)
    pairs = pair_counts(coded, words.n_texts, limits) if with_pairs else Counts(NO_KEYS, NO_PAIRS, NO_PAIRS)
    singles = words.where(limits.allow(words.n_texts) & with_words)
    if limits.n_most is not None:
        singles, pairs = _most_used(singles, pairs, limits.n_most)
    first, second = words_of_pairs(pairs.terms)
    kept = np.union1d(singles.terms, np.union1d(first, second))
    number = np.full(len(coded.words), -1, dtype=np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    column_of_word = np.full(len(kept), -1, dtype=np.int32)
    column_of_word[number[singles.terms]] = np.arange(len(singles.terms), dtype=np.int32)
    keys = number[first].astype(np.uint64) << np.uint64(32) | number[second].astype(np.uint64)
    vocabulary = Vocabulary(coded.words.take(kept), column_of_word, keys)
    return vocabulary, np.concatenate([singles.n_texts, pairs.n_texts]), number


def word_counts(coded: CodedTexts) -> Counts:
    """Counts of all words."""
    from riffler._fast.terms import count_texts

    n_words = len(coded.words)
    n_texts, last_seen = np.zeros(n_words, dtype=np.int32), np.full(n_words, -1, dtype=np.int32)
    count_texts(coded.bounds, coded.codes, NO_PAIRS, 0, last_seen, n_texts)
    n_times = np.zeros(n_words, dtype=np.int64)
    for first in range(0, len(coded.codes), WORDS_AT_ONCE):  # bincount makes a copy of 64 bits a word
        n_times += np.bincount(coded.codes[first : first + WORDS_AT_ONCE], minlength=n_words)
    return Counts(np.arange(n_words), n_texts, n_times)


def pair_counts(coded: CodedTexts, n_texts_of_word: IntArray, limits: Limits) -> Counts:
    """Counts of the pairs within the limits, sorted; a pair is in no more texts than each of its words."""
    from riffler._fast.terms import FREE, count_pairs

    usable = n_texts_of_word >= limits.at_least
    part_bits = max(0, (len(coded.codes) // PAIRS_AT_ONCE).bit_length())
    slot_bits = PAIRS_AT_ONCE.bit_length()
    keys = np.empty(1 << slot_bits, dtype=np.uint64)
    n_texts, n_times, last_seen = (np.empty(len(keys), dtype=np.int32) for _ in range(3))
    found = [Counts(NO_KEYS, NO_PAIRS, NO_PAIRS)]
    for part in range(1 << part_bits):
        keys.fill(FREE)
        count_pairs(coded.codes, coded.bounds, usable, part, part_bits, slot_bits, keys, n_texts, n_times, last_seen)
        used = np.flatnonzero(keys != FREE)
        found.append(Counts(keys, n_texts, n_times).where(used[limits.allow(n_texts[used])]))
    columns = zip(*((part.terms, part.n_texts, part.n_times) for part in found), strict=True)
    pairs = Counts(*(np.concatenate(column) for column in columns))
    return pairs.where(np.argsort(pairs.terms))


def _most_used(singles: Counts, pairs: Counts, n_most: int) -> tuple[Counts, Counts]:
    """Keep the terms used most; of equally used ones words go before pairs, and both by the alphabet."""
    best = np.argsort(-np.concatenate([singles.n_times, pairs.n_times]), kind="stable")[:n_most]
    n_singles = len(singles.terms)
    return singles.where(np.sort(best[best < n_singles])), pairs.where(np.sort(best[best >= n_singles]) - n_singles)
