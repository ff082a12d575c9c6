"""What the columns of a search's features mean in words, so that weights of columns become weights of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riffler.features.stop_words import ENGLISH
from riffler.features.text import TextFeatures
from riffler.records import BoolArray, FloatArray, IntArray, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class WordBlock:
    """Columns that stand beside each other.

    terms : words and pairs that the columns are made of
    share : number that the columns were multiplied by
    pulls : of shape (n_terms, n_columns) where the columns are directions that each term has a part in; None where
        each column is one term
    """

    terms: TextFeatures
    share: float = 1.0
    pulls: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the block."""
        return self.terms.n_features_ if self.pulls is None else int(self.pulls.shape[1])

    def term_weights(self, weights: FloatArray) -> FloatArray:
        """Return what a term adds to a score, from the weights of the columns."""
        return self.share * (weights if self.pulls is None else self.pulls @ weights)


class ColumnWords:
    """Columns of a search in words; the terms of the first block name them all.

    >>> features = TextFeatures()
    >>> rows = features.fit_transform(["deep snow", "warm sea", "the sea"])
    >>> words = ColumnWords([WordBlock(features)])
    >>> words.names
    ['deep', 'sea', 'snow', 'warm']
    >>> words.strongest(np.array([0.1, -2.0, 1.5, 0.0]), 2)
    [('snow', 1.5), ('deep', 0.1), ('sea', -2.0)]
    """

    def __init__(self, blocks: list[WordBlock]) -> None:
        self.blocks = tuple(blocks)

    @cached_property
    def names(self) -> list[str]:
        """Terms of the first block, in the order of its columns."""
        return self.blocks[0].terms.feature_names()

    def strongest(self, columns: FloatArray, n: int) -> list[tuple[str, float]]:
        """Return the n terms of the largest weights above 0, then the n of the lowest below 0; no stop words."""
        weights = np.where(self._telling, self.term_weights(columns), 0.0)
        order = np.argsort(-weights, kind="stable")
        speak_for = [place for place in order[:n].tolist() if weights[place] > 0]
        against = [place for place in order[::-1][:n].tolist() if weights[place] < 0]
        return [(self.names[place], float(weights[place])) for place in speak_for + against]

    def strongest_of(self, row: Matrix, columns: FloatArray, n: int) -> list[str]:
        """Return the n terms that add most to the score of a row; no two with a word in common, no stop words."""
        places, values = _filled(row, self.blocks[0].n_columns)
        gains = values * columns[places]
        chosen: list[str] = []
        used: set[str] = set()
        for at in np.argsort(-gains, kind="stable").tolist():
            name = self.names[places[at]]
            parts = name.split(" ")
            if gains[at] <= 0 or len(chosen) == n:
                break
            if self._telling[places[at]] and used.isdisjoint(parts):
                chosen.append(name)
                used.update(parts)
        return chosen

    def term_weights(self, columns: FloatArray) -> FloatArray:
        """Return the weight of each term, from the weights of all columns."""
        total = np.zeros(len(self.names))
        start = 0
        for block, places in zip(self.blocks, self._places, strict=True):
            found = block.term_weights(columns[start : start + block.n_columns])
            total[places[places >= 0]] += found[places >= 0]
            start += block.n_columns
        return total

    @cached_property
    def _places(self) -> list[IntArray]:
        """Of each term of each block its place among the names; -1 where it is none of them."""
        place = {name: at for at, name in enumerate(self.names)}
        first: IntArray = np.arange(len(self.names))
        others = [np.array([place.get(name, -1) for name in one.terms.feature_names()]) for one in self.blocks[1:]]
        return [first, *others]

    @cached_property
    def _telling(self) -> BoolArray:
        """Which terms say what a text is about: those without a stop word in them."""
        silent = set(ENGLISH)
        return np.array([silent.isdisjoint(name.split(" ")) for name in self.names], dtype=bool)


def _filled(row: Matrix, n_columns: int) -> tuple[IntArray, FloatArray]:
    """Return which of the first columns a sparse row has, and their values."""
    first = row.indices < n_columns
    return row.indices[first], row.data[first]
