"""Rank texts by a sentence that describes what is sought (BM25)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from riffler.errors import InputError
from riffler.features.stop_words import resolve_stop_words
from riffler.records import FloatArray

if TYPE_CHECKING:
    import polars as pl


def bm25_scores(
    texts: Iterable[str] | pl.Series,
    query: str,
    *,
    k1: float = 1.2,
    b: float = 0.75,
    stop_words: str | Sequence[str] | None = "english",
) -> FloatArray:
    """Score of each text for a query, float64; texts without any word of the query score 0.

    The score of text d is the sum over the words w of the query, each as often as it is there, of

        idf(w) * count(w, d) * (k1 + 1) / (count(w, d) + k1 * (1 - b + b * length(d) / mean length)),
        idf(w) = log(1 + (n - n_w + 1/2) / (n_w + 1/2)),

    for n texts of which n_w hold the word. Lengths count words that are no stop words.

    >>> texts = ["Gold in rivers", "Rivers and their fish", "Silver mines"]
    >>> bm25_scores(texts, "Where is gold in rivers?").round(2).tolist()
    [1.45, 0.47, 0.0]
    """
    from riffler.features.tokens import code_texts

    if k1 < 0 or not 0 <= b <= 1:
        raise InputError(f"BM25 needs k1 of at least 0 and b from 0 to 1, got k1={k1!r} and b={b!r}.")
    left_out = resolve_stop_words(stop_words)
    sought = code_texts([query], left_out)
    if len(sought.codes) == 0:
        raise InputError(
            f"The query {query!r} has no word of two or more letters that is no stop word. Describe what is sought in "
            "a few words, or use stop_words=None."
        )
    coded = code_texts(texts, left_out, known=sought.words)
    if coded.n_texts == 0:
        raise InputError("There are no texts to rank. Pass at least one.")
    lengths = np.diff(coded.bounds)
    if not lengths.any():
        return np.zeros(coded.n_texts)
    damping = k1 * (1.0 - b + b * lengths / lengths.mean())
    text_of_place = np.repeat(np.arange(coded.n_texts, dtype=np.int32), lengths)
    scores = np.zeros(coded.n_texts)
    for word, times in enumerate(np.bincount(sought.codes).tolist()):
        counts = np.bincount(text_of_place[coded.codes == word], minlength=coded.n_texts)
        held = np.flatnonzero(counts)
        idf = np.log1p((coded.n_texts - len(held) + 0.5) / (len(held) + 0.5))
        scores[held] += times * idf * counts[held] * (k1 + 1.0) / (counts[held] + damping[held])
    return scores
