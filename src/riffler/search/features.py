"""Rows that a search makes of texts unless it is given others."""

from __future__ import annotations

import math

from riffler.data.collection import Collection
from riffler.data.texts import Texts
from riffler.errors import InputError
from riffler.features.embedding import stack_features
from riffler.features.text import TextFeatures
from riffler.records import Matrix

TITLE_SHARE = 0.1
"""Similarity of two items = that of their texts + this much of that of their titles."""

FEW_TEXTS = 100  # of so few, words that only one text has are kept as well


def search_features(collection: Collection) -> Matrix:
    """TF-IDF of words and pairs, of the whole text and again of the title: what a title says weighs more.

    Words and pairs that only one text has cannot tell anything about another one, and are left out.
    """
    least = 2 if collection.n_items >= FEW_TEXTS else 1
    texts = _words(collection.texts, least)
    try:
        titles = _words(collection.titles, least)
    except InputError:
        return texts  # no title has a word that tells anything
    if not any(text.strip() for text in collection.abstracts):
        return texts  # the titles are all there is
    return stack_features(texts, titles, weights=[1.0, math.sqrt(TITLE_SHARE)])


def _words(texts: Texts, min_df: int) -> Matrix:
    return TextFeatures(ngram_range=(1, 2), stop_words=None, min_df=min_df, max_df=0.95).fit_transform(texts)
