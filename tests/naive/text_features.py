"""Slow and obvious words, TF-IDF and BM25: strings, dictionaries and loops."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence

JOINERS = "\u200c\u200d"
LETTERS_IN_FRAMES = [(0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)]


def is_word_character(character: str) -> bool:
    """Letters, numbers, marks, connecting punctuation, joiners, and letters in circles and squares."""
    return (
        character.isalnum()
        or unicodedata.category(character) in ("Mn", "Mc", "Me", "Pc")
        or character in JOINERS
        or any(first <= ord(character) <= last for first, last in LETTERS_IN_FRAMES)
    )


def words(text: str) -> list[str]:
    found, word = [], ""
    for character in [*text.lower(), " "]:
        if is_word_character(character):
            word += character
            continue
        if len(word) >= 2:
            found.append(word)
        word = ""
    return found


def terms(text: str, ngram_range: tuple[int, int], stop_words: Sequence[str]) -> list[str]:
    kept = [word for word in words(text) if word not in stop_words]
    pairs = [f"{kept[i]} {kept[i + 1]}" for i in range(len(kept) - 1)]
    return (kept if ngram_range[0] == 1 else []) + (pairs if ngram_range[1] == 2 else [])


def tf_idf(
    texts: Sequence[str], ngram_range: tuple[int, int], stop_words: Sequence[str], at_least: int, at_most: int
) -> list[dict[str, float]]:
    """One dictionary of term to weight a text: sublinear counts, smoothed idf, rows of length 1."""
    counts = [Counter(terms(text, ngram_range, stop_words)) for text in texts]
    n_texts = Counter(term for row in counts for term in row)
    rows = []
    for row in counts:
        weights = {
            term: (1 + math.log(count)) * (math.log((1 + len(texts)) / (1 + n_texts[term])) + 1)
            for term, count in row.items()
            if at_least <= n_texts[term] <= at_most
        }
        length = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        rows.append({term: weight / length for term, weight in weights.items()})
    return rows


def bm25(texts: Sequence[str], query: str, stop_words: Sequence[str], k1: float, b: float) -> list[float]:
    collection = [terms(text, (1, 1), stop_words) for text in texts]
    mean_length = sum(map(len, collection)) / len(collection) or 1.0
    scores = []
    for text in collection:
        score = 0.0
        for word in terms(query, (1, 1), stop_words):
            n_with = sum(word in other for other in collection)
            idf = math.log(1 + (len(collection) - n_with + 0.5) / (n_with + 0.5))
            count = text.count(word)
            score += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * len(text) / mean_length)) if count else 0.0
        scores.append(score)
    return scores
