"""Tokens of sentences, column by column: different values, the number of its value for each token, and its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.data.conll import usual_columns
from riffler.errors import FeatureMismatch, InputError
from riffler.features.token_template import MARKS
from riffler.records import IntArray

Sentences = Sequence[Sequence[Any]]
"""Of every sentence its tokens: words, or tuples of a word and its other columns."""

NOTHING = -1
"""The number of what a token does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedTokens:
    """All tokens, of sentence after sentence, as numbers.

    >>> CodedTokens.of([["a", "b"], ["a"]], ["word"]).numbers["word"].tolist()
    [0, 1, 0]
    """

    values: dict[str, list[str]]  # of each column its different values; of a mark, "yes" and nothing
    numbers: dict[str, IntArray]  # of each column the value of every token
    place: IntArray  # of each token in its sentence
    length: IntArray  # of its sentence

    @classmethod
    def of(cls, sentences: Sentences, columns: Sequence[str]) -> CodedTokens:
        """Number the values of the columns of all tokens."""
        tokens = _flat(sentences, len(columns))
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        place = np.arange(len(tokens)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        length = np.repeat(lengths, lengths)
        values, numbers = {mark: ["yes", ""] for mark in MARKS}, {}
        numbers["is_first"], numbers["is_last"] = (place != 0).astype(np.int64), (place != length - 1).astype(np.int64)
        for column, name in enumerate(columns):
            known: dict[str, int] = {}
            found = (known.setdefault(token[column], len(known)) for token in tokens)
            numbers[name], values[name] = np.fromiter(found, np.int64, len(tokens)), list(known)
        return cls(values, numbers, place, length)

    def shifted(self, codes: IntArray, offset: int, n_values: int) -> IntArray:
        """Give each token the code of the one ``offset`` further; past an end, ``n_values`` and the distance above."""
        if offset == 0:
            return codes
        there = self.place + offset
        if offset < 0:
            outside, distance = there < 0, -there
        else:
            outside, distance = there >= self.length, there - self.length + 1
        return np.where(outside, n_values + distance - 1, np.roll(codes, -offset))


def names_of_columns(sentences: Sentences, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Give the names of the columns of a token: those passed, or the usual ones for as many as the first token has.

    >>> names_of_columns([[], [("a", "DT")]], None)
    ('word', 'pos')
    """
    if columns is None:
        first = next((token for sentence in sentences for token in sentence), None)
        if first is None:
            raise InputError("There is no token: all sentences are empty. Pass at least one with a token.")
        return usual_columns(len(first) if isinstance(first, tuple | list) else 1)
    if not _are_names(columns):
        raise InputError(
            f"columns must be a list of different names such as ['word', 'pos'], of letters, digits and _, and none of "
            f"{', '.join(MARKS)}; got {columns!r}."
        )
    return tuple(columns)


def _are_names(columns: object) -> bool:
    """Whether a template can name these columns."""
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        return False
    are_words = all(isinstance(name, str) and re.fullmatch(r"\w+", name) for name in columns)
    return are_words and len(set(columns)) == len(columns) and not set(columns) & set(MARKS)


def _flat(sentences: Sentences, n_columns: int) -> list[tuple[str, ...]]:
    """All tokens as tuples; raises where one has other columns, or values that are no text."""
    tokens: list[Any] = []
    for place, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise InputError(f"Sentence {place} is a text: {sentence[:40]!r}. Pass a list of its tokens.")
        tokens.extend(sentence)  # += of an array is NumPy's addition
    if n_columns == 1:
        tokens = [(token,) if isinstance(token, str) else token for token in tokens]
    if not all(_is_token(token, n_columns) for token in tokens):
        _refuse_first_strange(sentences, n_columns)
    return tokens


def _is_token(token: object, n_columns: int) -> bool:
    return isinstance(token, tuple | list) and len(token) == n_columns and all(isinstance(one, str) for one in token)


def _refuse_first_strange(sentences: Sentences, n_columns: int) -> None:
    what = "a word, or a tuple of one text" if n_columns == 1 else f"a tuple of {n_columns} texts"
    for place, sentence in enumerate(sentences):
        for token in sentence:
            if not (_is_token(token, n_columns) or (n_columns == 1 and isinstance(token, str))):
                raise FeatureMismatch(
                    f"Sentence {place} has the token {token!r}; expected {what}. Give every token all columns."
                )
