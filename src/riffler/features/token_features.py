"""Features of tokens by a template: a binary column for each value seen, in a sparse matrix.

Columnar: a function is applied to different words only, a feature is a whole number for all tokens at once, and parts
that are looked at together are one number made of two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from riffler.errors import InputError
from riffler.features.coded_tokens import NOTHING, CodedTokens, Sentences, names_of_columns
from riffler.features.token_functions import FUNCTIONS
from riffler.features.token_template import Feature, Part, default_template, parse_template
from riffler.records import IntArray


class TokenFeatures(BaseEstimator):
    """Turn the tokens of sentences into rows of a sparse binary matrix, by a template.

    Parameters
    ----------
    template : str, list of str or None
        Lines as :mod:`riffler.features.token_template` reads them; None for the default of the columns there are.
    columns : list of str or None
        Names of the columns of a token; None for word, pos, chunk, column3, ...
    min_count : int
        Features of fewer tokens are left out.

    Attributes
    ----------
    columns_ : tuple of str
    features_ : tuple of features of the template
    n_features_ : int
        Columns of the matrix.

    Examples
    --------
    >>> features = TokenFeatures(["word[0]", "word[-1] + word[0]"]).fit([["the", "gull"], ["the", "owl"]])
    >>> features.get_feature_names_out().tolist()[:4]
    ['word[0]=the', 'word[0]=gull', 'word[0]=owl', 'word[-1] + word[0]=the|gull']
    >>> features.transform([["the", "owl", "gull"]]).toarray().astype(int).tolist()
    [[1, 0, 0, 0, 0, 1], [0, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 0]]
    """

    def __init__(
        self,
        template: str | Sequence[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        min_count: int = 1,
    ) -> None:
        self.template = template
        self.columns = columns
        self.min_count = min_count

    def fit(self, sentences: Sentences, y: object = None) -> Self:
        """Learn which values there are."""
        self._learn(sentences)
        return self

    def fit_transform(self, sentences: Sentences, y: object = None) -> sparse.csr_matrix:
        """Learn which values there are, and give the features of these tokens."""
        return self._matrix(self._learn(sentences))

    def transform(self, sentences: Sentences) -> sparse.csr_matrix:
        """Give the features of all tokens, of sentence after sentence; what was not seen in fit is left out."""
        check_is_fitted(self)
        tokens = CodedTokens.of(sentences, self.columns_)
        values = {base: table.look_up(tokens.values[base[0]]) for base, table in self._tables.items()}
        return self._matrix(
            [line.look_up([self._codes(tokens, part, values) for part in line.feature]) for line in self._lines]
        )

    def get_feature_names_out(self) -> NDArray[Any]:
        r"""Name the columns of the matrix; in values \, | and < have a \ before them, so that no two names are one."""
        check_is_fitted(self)
        named = [line.names([self._spelled(part) for part in line.feature]) for line in self._lines]
        return np.array(list(chain.from_iterable(named)), dtype=object)

    def strings(self, sentences: Sentences) -> list[list[list[str]]]:
        """Give the names of the features that each token of each sentence has, as other libraries want them."""
        names = self.get_feature_names_out()
        X = self.transform(sentences)
        rows = [names[X.indices[start:end]].tolist() for start, end in pairwise(X.indptr)]
        ends = np.cumsum([0, *map(len, sentences)]).tolist()
        return [rows[start:end] for start, end in pairwise(ends)]

    def _learn(self, sentences: Sentences) -> list[IntArray]:
        """Learn tables and lines; give the column of every token for each line."""
        given: Any = self.min_count
        if not isinstance(given, int | np.integer) or given < 1:
            raise InputError(f"min_count must be 1 or more, got {given!r}. Pass a whole number.")
        self.columns_ = names_of_columns(sentences, self.columns)
        template = default_template(self.columns_) if self.template is None else self.template
        self.features_ = parse_template(template, self.columns_)
        tokens = CodedTokens.of(sentences, self.columns_)
        parts = dict.fromkeys(chain.from_iterable(self.features_))
        self._tables = {base: _Table(base[1]) for base in dict.fromkeys((one.column, one.functions) for one in parts)}
        values = {base: table.learn(tokens.values[base[0]]) for base, table in self._tables.items()}
        self._lines: list[_Line] = []
        found, self.n_features_ = [], 0
        for feature in self.features_:
            line = _Line(feature, self.n_features_, [self._size(part) for part in feature])
            found.append(line.learn([self._codes(tokens, part, values) for part in feature], self.min_count))
            self._lines.append(line)
            self.n_features_ += line.n_columns
        return found

    def _matrix(self, columns_of_lines: list[IntArray]) -> sparse.csr_matrix:
        table = np.stack(columns_of_lines, axis=1)
        there = table != NOTHING
        indptr = np.zeros(len(table) + 1, dtype=np.int64)
        np.cumsum(there.sum(axis=1), out=indptr[1:])
        indices = table[there]
        data = np.ones(len(indices), dtype=np.float32)
        return sparse.csr_matrix((data, indices, indptr), shape=(len(table), self.n_features_))

    def _codes(self, tokens: CodedTokens, part: Part, values: dict[Any, IntArray]) -> IntArray:
        """The number of a part for each token; past the ends of a sentence, numbers above those of the table."""
        own = values[part.column, part.functions][tokens.numbers[part.column]]
        return tokens.shifted(own, part.offset, self._tables[part.column, part.functions].n_values)

    def _size(self, part: Part) -> int:
        return self._tables[part.column, part.functions].n_values + abs(part.offset)

    def _spelled(self, part: Part) -> list[str]:
        side = "begin" if part.offset < 0 else "end"
        beyond = [f"<{side}-{distance}>" for distance in range(1, abs(part.offset) + 1)]
        return [*map(_escaped, self._tables[part.column, part.functions].numbers), *beyond]


@dataclass(slots=True, eq=False)
class _Table:
    """Numbers of the values that functions make of a column."""

    functions: tuple[tuple[str, int | None], ...]
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def n_values(self) -> int:
        return len(self.numbers)

    def learn(self, words: Sequence[str]) -> IntArray:
        made = [self._apply(word) for word in words]
        found = [self.numbers.setdefault(one, len(self.numbers)) if one else NOTHING for one in made]
        return np.array(found, dtype=np.int64)

    def look_up(self, words: Sequence[str]) -> IntArray:
        return np.array([self.numbers.get(self._apply(word), NOTHING) for word in words], dtype=np.int64)

    def _apply(self, word: str) -> str:
        """Pass a word through the functions; an empty text is no value."""
        for name, number in self.functions:
            word = (FUNCTIONS[name].apply(word) if number is None else FUNCTIONS[name].apply(word, number)) or ""
        return word


@dataclass(slots=True, eq=False)
class _Line:
    """A feature of the template: the combinations seen of its parts, joined one after the other, and their columns."""

    feature: Feature
    first_column: int
    sizes: list[int]
    joins: list[IntArray] = field(default_factory=list)  # the pairs seen at each join, sorted: left * size + right
    columns: IntArray = field(default_factory=lambda: np.empty(0, np.int32))  # of every combination

    @property
    def n_columns(self) -> int:
        return int((self.columns != NOTHING).sum())

    def learn(self, codes: list[IntArray], min_count: int) -> IntArray:
        """Learn the combinations of these tokens; give the column of each token."""
        joined = codes[0]
        for right, size in zip(codes[1:], self.sizes[1:], strict=True):
            key = _paired(joined, right, size)
            seen, place = np.unique(key, return_inverse=True)
            n_without = int(seen[:1].tolist() == [NOTHING])  # those without the feature sort first
            self.joins.append(seen[n_without:])
            joined = place - n_without
        n_values = len(self.joins[-1]) if self.joins else self.sizes[0]
        counts = np.bincount(joined[joined != NOTHING], minlength=n_values)
        kept = counts >= min_count
        self.columns = np.where(kept, self.first_column + np.cumsum(kept) - 1, NOTHING).astype(np.int32)
        return self._columns_of(joined)

    def look_up(self, codes: list[IntArray]) -> IntArray:
        """Give the column of each token; NOTHING for combinations that were not seen."""
        joined = codes[0]
        for right, size, seen in zip(codes[1:], self.sizes[1:], self.joins, strict=True):
            key = _paired(joined, right, size)
            place = np.minimum(np.searchsorted(seen, key), max(len(seen) - 1, 0))
            known = seen[place] == key if len(seen) else np.zeros(len(key), np.bool_)
            joined = np.where(known, place, NOTHING)
        return self._columns_of(joined)

    def names(self, spelled: list[list[str]]) -> list[str]:
        """Name the columns; ``spelled`` has the values of each part."""
        values = spelled[0]
        for right, size, seen in zip(spelled[1:], self.sizes[1:], self.joins, strict=True):
            left, own = divmod(seen, size)
            values = [f"{values[one]}|{right[two]}" for one, two in zip(left.tolist(), own.tolist(), strict=True)]
        head = " + ".join(map(str, self.feature))
        return [f"{head}={values[place]}" for place in np.flatnonzero(self.columns != NOTHING).tolist()]

    def _columns_of(self, joined: IntArray) -> IntArray:
        padded = np.append(self.columns, np.int32(NOTHING))  # NOTHING, taken as an index, is the last
        return padded[joined]


def _escaped(value: str) -> str:
    r"""Tell a value from marks, and from values that are joined.

    >>> print(_escaped("<begin-1>"), _escaped("a|b"))
    \<begin-1> a\|b
    """
    return re.sub(r"([\\|<])", r"\\\1", value)


def _paired(left: IntArray, right: IntArray, size: int) -> IntArray:
    """One number for two; NOTHING where either is missing."""
    return np.where((left == NOTHING) | (right == NOTHING), NOTHING, left * size + right)
