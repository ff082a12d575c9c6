"""Words behind the hashed columns of a collection on disk, as far as documents that are looked at have them."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise

import numpy as np

from riffler.disk import DiskCollection
from riffler.engine import Engine
from riffler.records import FloatArray, IntArray

KEPT = 2000  # documents whose words are remembered
LONGEST = 100_000  # characters that are looked at


class HashedWords:
    """Words of single documents, each with the column that it is hashed into; pairs of words are left out.

    Rows come from the engine, which may have them elsewhere. Texts are read from the folder, as ids are: whoever
    searches has its records at hand, and whoever reviews copies documents from them.
    """

    def __init__(self, collection: DiskCollection, engine: Engine) -> None:
        self._collection, self._engine = collection, engine
        self._words: OrderedDict[int, dict[str, int]] = OrderedDict()  # by row: words and their columns

    def strongest(self, rows: IntArray, weights: FloatArray, n: int) -> list[tuple[str, float]]:
        """Return the n words of some documents of the largest weights above 0, then the n of the lowest below 0."""
        columns = {word: column for words in self._words_of(rows) for word, column in words.items()}
        found = sorted(((float(weights[column]), word) for word, column in columns.items()), key=_falling)
        speak_for = [(word, weight) for weight, word in found[:n] if weight > 0]
        against = [(word, weight) for weight, word in found[::-1][:n] if weight < 0]
        return speak_for + against

    def strongest_of(self, rows: IntArray, weights: FloatArray, n: int) -> list[list[str]]:
        """Return the n words that add most to the score of each of some documents."""
        if not rows.size:
            return []
        reasons = []
        values = self._engine.rows(rows)
        for at, words in enumerate(self._words_of(rows)):
            own = slice(values.indptr[at], values.indptr[at + 1])
            columns = values.indices[own]
            gain = dict(zip(columns.tolist(), (values.data[own] * weights[columns]).tolist(), strict=True))
            found = sorted(((gain.get(column, 0.0), word) for word, column in words.items()), key=_falling)
            reasons.append([word for value, word in found[:n] if value > 0])
        return reasons

    def _words_of(self, rows: IntArray) -> list[dict[str, int]]:
        numbers = rows.tolist()
        new = [row for row in dict.fromkeys(numbers) if row not in self._words]
        if new:
            self._words.update(zip(new, self._read(np.array(new, dtype=np.int64)), strict=True))
        for row in numbers:
            self._words.move_to_end(row)
        found = [self._words[row] for row in numbers]
        while len(self._words) > KEPT:
            self._words.popitem(last=False)
        return found

    def _read(self, rows: IntArray) -> list[dict[str, int]]:
        """Give the words of documents that have a column: all but stop words."""
        from riffler.features.tokens import code_texts

        coded = code_texts([text[:LONGEST] for text in self._collection.texts.take(rows)])
        words = coded.words.texts()
        if not words:
            return [{} for _ in rows]
        hashed = self._collection.vectoriser.transform(words)  # each is a text of one word
        column = {
            code: int(hashed.indices[start])
            for code, (start, stop) in enumerate(pairwise(hashed.indptr.tolist()))
            if stop == start + 1
        }
        codes = (np.unique(coded.codes[start:stop]).tolist() for start, stop in pairwise(coded.bounds.tolist()))
        return [{words[code]: column[code] for code in own if code in column} for own in codes]


def _falling(found: tuple[float, str]) -> tuple[float, str]:
    return -found[0], found[1]
