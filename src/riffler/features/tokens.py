"""Texts to word numbers: lower-cased, cut into words and numbered chunk by chunk, without a string for each word.

A word is a run of at least two word characters: letters, numbers, combining marks, underscores and joiners of any
script. polars lower-cases and packs the texts; one compiled pass finds the words in the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from riffler.errors import InputError
from riffler.features.words import PackedWords, WordTable
from riffler.records import BoolArray, IntArray

CHUNK_BYTES = 1_000_000  # a chunk takes about ten times as much while it is worked on
CHUNK_TEXTS = 4096
FIRST_CHUNK = 256
FIRST_CODES = 1 << 20
RENUMBER_AT_ONCE = 1 << 18
ASCII = 0x80
CODE_POINTS = 0x110000


@dataclass(frozen=True, slots=True, eq=False)
class CodedTexts:
    """Texts as word numbers: text t is ``codes[bounds[t]:bounds[t + 1]]``, and word w is ``words[w]``."""

    codes: IntArray  # int32
    bounds: IntArray  # int64, one more than there are texts
    words: PackedWords

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.bounds) - 1


def code_texts(
    texts: Iterable[str] | pl.Series, stop_words: Sequence[str] = (), known: PackedWords | None = None
) -> CodedTexts:
    """Number the words of texts, but for stop words, in alphabetical order; or known words first, as they are numbered.

    >>> coded = code_texts(["The cat, the cat!", "A CAT on Île"], stop_words=["the", "on"])
    >>> coded.words.texts(), coded.codes.tolist(), coded.bounds.tolist()
    (['cat', 'île'], [0, 0, 0, 1], [0, 2, 4])
    """
    table = WordTable()
    for chunk in text_chunks(stop_words):
        _chunk_codes(chunk, table)
    n_stop = table.n_words
    if known is not None:
        table.codes(known)
    codes = _Growing()
    sizes: list[IntArray] = [np.zeros(1, dtype=np.int64)]
    for chunk in text_chunks(texts):
        found, n_tokens = _chunk_codes(chunk, table)
        kept, n_kept = _without_first(found, n_tokens, n_stop)
        codes.add(kept)
        sizes.append(n_kept)
    coded = CodedTexts(codes.all(), np.cumsum(np.concatenate(sizes)), table.words(n_stop))
    return coded if known is not None else _in_alphabetical_order(coded)


def renumber(codes: IntArray, number: IntArray) -> None:
    """Replace each code by its new number, in place: a copy would be as large as the coded collection."""
    for first in range(0, len(codes), RENUMBER_AT_ONCE):
        codes[first : first + RENUMBER_AT_ONCE] = number[codes[first : first + RENUMBER_AT_ONCE]]


class _Growing:
    """Codes of one chunk after the other in one array, which the system makes longer where it is: no second copy."""

    def __init__(self) -> None:
        self._codes = np.empty(FIRST_CODES, dtype=np.int32)
        self._size = 0

    def add(self, codes: IntArray) -> None:
        size = self._size + len(codes)
        if size > len(self._codes):
            self._codes.resize(max(size, len(self._codes) * 9 // 8), refcheck=False)
        self._codes[self._size : size] = codes
        self._size = size

    def all(self) -> IntArray:
        self._codes.resize(self._size, refcheck=False)
        return self._codes


def text_chunks(texts: Iterable[str] | pl.Series) -> Iterator[pl.Series]:
    """Cut texts into string series of about CHUNK_BYTES; an entry that is no text is an error."""
    if isinstance(texts, str | bytes):
        raise InputError(f"Expected several texts, got one of type {type(texts).__name__}. Put it in a list.")
    take = _taker_of_series(texts) if isinstance(texts, pl.Series) else _taker_of_strings(texts)
    size = FIRST_CHUNK
    while len(chunk := take(size)) > 0:
        yield chunk
        n_bytes = max(1, int(chunk.str.len_bytes().sum()))
        size = min(max(CHUNK_BYTES * len(chunk) // n_bytes, 1), CHUNK_TEXTS)


def _taker_of_series(texts: pl.Series) -> Callable[[int], pl.Series]:
    _check_series(texts)
    first = 0

    def take(size: int) -> pl.Series:
        nonlocal first
        first += size
        return texts.slice(first - size, size)

    return take


def _taker_of_strings(texts: Iterable[str]) -> Callable[[int], pl.Series]:
    rest, first = iter(texts), 0

    def take(size: int) -> pl.Series:
        nonlocal first
        chunk = _as_series(list(islice(rest, size)), first)
        first += len(chunk)
        return chunk

    return take


def _check_series(texts: pl.Series) -> None:
    if texts.dtype != pl.String and len(texts) > 0:
        raise InputError(f"Expected a column of strings, got {texts.dtype}. Cast it to polars.String.")
    if texts.null_count() > 0:
        row = int(texts.is_null().arg_max() or 0)
        raise InputError(f"Text {row} is missing. Fill missing texts with '' (fill_null).")


def _as_series(part: list[Any], first: int) -> pl.Series:
    """A series of strings; only where there is none are the entries looked at one by one."""
    try:
        series = pl.Series(part, dtype=pl.String)
    except (TypeError, UnicodeEncodeError) as error:
        raise _complaint(part, first) from error
    if series.null_count() > 0:
        raise _complaint(part, first)
    return series


def _complaint(part: list[Any], first: int) -> InputError:
    """Say which text is none."""
    row, found = next((i, text) for i, text in enumerate(part) if not _is_unicode(text))
    if isinstance(found, str):
        return InputError(
            f"Text {first + row} holds half a character (a lone surrogate), so it is no valid Unicode. "
            "Read the file with its right encoding, or use text.encode(errors='replace').decode()."
        )
    return InputError(
        f"Text {first + row} is {found!r} of type {type(found).__name__}; expected a string. "
        "Use '' where a text is missing."
    )


def _is_unicode(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _chunk_codes(chunk: pl.Series, table: WordTable) -> tuple[IntArray, IntArray]:
    """Word numbers of a chunk one text after the other, and how many each text has."""
    packed, starts, ends, n_tokens = find_words(chunk)
    return table.codes_at(packed.data, starts, ends), n_tokens


def find_words(chunk: pl.Series) -> tuple[PackedWords, IntArray, IntArray, IntArray]:
    """Lower-case and pack texts; return them, first and past-the-last byte of each word, and how many each text has."""
    from riffler._fast.tokens import find_tokens

    packed = PackedWords.of(chunk.str.to_lowercase())
    in_words = _word_characters(bool((packed.data >= ASCII).any()))
    most = (len(packed.data) + len(packed)) // 3 + 1  # a word takes two bytes, and one or the end of the text part two
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n_tokens = np.empty(len(packed), dtype=np.int64)
    n_found = find_tokens(packed.data, packed.starts[1:], in_words, starts, ends, n_tokens)
    return packed, starts[:n_found], ends[:n_found], n_tokens


@cache
def _word_characters(beyond_ascii: bool) -> BoolArray:
    """Which code points are part of words: those of ``\\w`` in polars, and numbers like the two of CO₂."""
    n_points = CODE_POINTS if beyond_ascii else ASCII
    points = np.arange(n_points, dtype="<u4")
    points = points[(points < 0xD800) | (points > 0xDFFF)]  # surrogates are no characters
    every = pl.Series([points.tobytes().decode("utf-32-le")])
    found = every.str.replace_all(r"[^\w\p{N}]+", "").item()
    in_words = np.zeros(n_points, dtype=np.bool_)
    in_words[np.frombuffer(found.encode("utf-32-le"), dtype="<u4")] = True
    return in_words


def _without_first(codes: IntArray, sizes: IntArray, n_first: int) -> tuple[IntArray, IntArray]:
    """Drop the words 0 ... n_first - 1 and number the rest from 0 on."""
    if n_first == 0:
        return codes, sizes
    keep = codes >= n_first
    n_before = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(keep, out=n_before[1:])
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return codes[keep] - np.int32(n_first), np.diff(n_before[bounds])


def _in_alphabetical_order(coded: CodedTexts) -> CodedTexts:
    """Number words by the alphabet, so that neither the order of texts nor the chunks make a difference."""
    order = coded.words.alphabetical()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    renumber(coded.codes, rank)
    return CodedTexts(coded.codes, coded.bounds, coded.words.take(order))
