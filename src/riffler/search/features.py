"""Rows that a search makes of texts unless it is given others."""

from __future__ import annotations

import math

import numpy as np

from riffler.data.collection import Collection
from riffler.data.texts import Texts
from riffler.errors import InputError
from riffler.features.embedding import stack_features
from riffler.features.latent import latent_rows
from riffler.features.text import TextFeatures
from riffler.records import Matrix

TITLE_SHARE, LATENT_SHARE = 0.1, 0.1
"""Similarity of two items = that of their words + so much of that of their titles and of their latent directions."""

FEW, MANY = 100, 20_000
"""With fewer texts, words that only one has are kept, and directions mean nothing; with more, pairs and directions take
too much room for what they tell."""

N_DIRECTIONS = 100


def search_features(collection: Collection) -> Matrix:
    """TF-IDF of words and pairs of the whole text, of the title once more, and latent directions of the words.

    Words and pairs that only one text has cannot tell anything about another one, and are left out. More than 20,000
    texts have words alone.
    """
    is_small, is_large = collection.n_items < FEW, collection.n_items > MANY
    words = (1, 1) if is_large else (1, 2)
    stop_words = "english" if is_large else None
    texts = _terms(collection.texts, words, stop_words, 1 if is_small else 2)
    if texts is None:
        raise InputError(
            f"{collection.source}: no words are left that some of the texts share and others do not have, so there is "
            "nothing to learn from. Check which columns were read as title and abstract, or pass features."
        )
    blocks, shares = [texts], [1.0]
    has_abstracts = any(text.strip() for text in collection.abstracts)
    titles = _terms(collection.titles, words, stop_words, 1 if is_small else 2) if has_abstracts else None
    if titles is not None:
        blocks.append(titles)
        shares.append(TITLE_SHARE)
    if not (is_small or is_large):
        latent = _latent(collection)
        if latent is not None:
            blocks.append(latent)
            shares.append(LATENT_SHARE)
    return stack_features(*blocks, weights=[math.sqrt(share) for share in shares]) if len(blocks) > 1 else texts


def _latent(collection: Collection) -> Matrix | None:
    words = _terms(collection.texts, (1, 1), "english", 2)
    if words is None:
        return None
    n_directions = min(N_DIRECTIONS, collection.n_items // 5, words.shape[1] - 1)
    if n_directions < 2:
        return None
    return latent_rows(words, n_directions, order=np.argsort(np.array(collection.ids), kind="stable"))


def _terms(texts: Texts, ngram_range: tuple[int, int], stop_words: str | None, min_df: int) -> Matrix | None:
    """TF-IDF rows; None where no term is left."""
    features = TextFeatures(ngram_range=ngram_range, stop_words=stop_words, min_df=min_df, max_df=0.95)
    try:
        return features.fit_transform(texts)
    except InputError:
        return None
