"""Texts to sparse rows of counts, each term in the column of its hash; no words are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.disk.settings import VectoriserSettings
from riffler.features.columns import NO_PAIRS
from riffler.features.stop_words import resolve_stop_words
from riffler.features.tokens import find_words, text_chunks
from riffler.features.words import PackedWords
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

STOP_SLOTS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class CountRows:
    """Rows of counts: row r has ``counts[bounds[r]:bounds[r + 1]]`` in the columns ``indices`` of the same places."""

    counts: IntArray  # uint8, uint16 or uint32
    indices: IntArray  # int32, rising in each row
    bounds: IntArray  # int64

    @classmethod
    def joined(cls, parts: list[CountRows]) -> CountRows:
        """Rows of several parts, one below the other."""
        sizes = [np.diff(part.bounds) for part in parts]
        bounds = np.concatenate([np.zeros(1, dtype=np.int64), *sizes]).cumsum()
        counts = np.concatenate([part.counts for part in parts]) if parts else np.empty(0, dtype=np.uint8)
        indices = np.concatenate([part.indices for part in parts]) if parts else np.empty(0, dtype=np.int32)
        return cls(counts, indices, bounds)


class HashedCounter:
    """Counts terms of texts; may be used by several threads at a time, and lets them run beside each other."""

    def __init__(self, settings: VectoriserSettings) -> None:
        from riffler._fast.hashed_terms import fill_stop_words

        self._settings = settings
        words = resolve_stop_words(None if settings.stop_words == "none" else settings.stop_words)
        self._stop_words = PackedWords.of(list(words))
        self._stop_slots = np.zeros(STOP_SLOTS, dtype=np.int32)
        fill_stop_words(self._stop_words.data, self._stop_words.starts, self._stop_slots)
        self._ones = np.ones(settings.n_columns)

    def rows(self, texts: pl.Series) -> CountRows:
        """Rows of texts without nulls."""
        scratch = np.zeros(self._settings.n_columns, dtype=np.int32)
        return CountRows.joined([self._chunk_rows(chunk, scratch) for chunk in text_chunks(self._cut(texts))])

    def n_cut(self, texts: pl.Series) -> int:
        """How many texts are longer than what of them counts."""
        return int((texts.str.len_bytes() > self._settings.most_bytes).sum())

    def _cut(self, texts: pl.Series) -> pl.Series:
        """Leave out what is beyond the longest text that counts; a character that would be cut in two goes too."""
        import polars as pl

        most = self._settings.most_bytes
        if not self.n_cut(texts):
            return texts
        cut = [text.encode()[:most].decode(errors="ignore") if len(text) > most // 4 else text for text in texts]
        return pl.Series(texts.name, cut, dtype=pl.String)

    def _chunk_rows(self, chunk: pl.Series, scratch: IntArray) -> CountRows:
        from riffler._fast.hashed_terms import hash_terms
        from riffler._fast.murmur import hash_pairs
        from riffler._fast.terms import write_rows

        mask = np.uint32(self._settings.n_columns - 1)
        packed, starts, ends, n_tokens = find_words(chunk)
        singles = np.empty(len(starts), dtype=np.int32)
        stop = self._stop_words.data, self._stop_words.starts, self._stop_slots
        n_kept = hash_terms(packed.data, starts, ends, n_tokens, *stop, mask, singles)
        bounds = np.zeros(len(chunk) + 1, dtype=np.int64)
        np.cumsum(n_tokens, out=bounds[1:])
        pairs = NO_PAIRS
        if self._settings.with_pairs:
            pairs = np.empty(n_kept, dtype=np.int32)
            places = np.arange(n_kept, dtype=np.int32)
            hash_pairs(packed.data, starts[:n_kept], ends[:n_kept], places, bounds, mask, pairs)
        room = n_kept + len(pairs)
        indices, counts = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        row_bounds = np.zeros(len(chunk) + 1, dtype=np.int64)
        n = write_rows(
            bounds, singles[:n_kept], pairs, self._ones, False, False, scratch, indices, counts, row_bounds[1:], 0
        )
        largest = counts[:n].max(initial=0.0)
        kind = np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32
        return CountRows(counts[:n].astype(kind), indices[:n].copy(), row_bounds)
