"""Rows that a search makes of texts unless it is given others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from riffler.data.collection import Collection
from riffler.data.finite import check_finite_matrix
from riffler.data.texts import Texts
from riffler.errors import InputError
from riffler.features.embedding import stack_features
from riffler.features.latent import latent_space
from riffler.features.text import TextFeatures
from riffler.records import Matrix, is_sparse
from riffler.search.words import ColumnWords, WordBlock

TITLE_SHARE, LATENT_SHARE = 0.1, 0.1
"""Similarity of two items = that of their words + so much of that of their titles and of their latent directions."""

FEW, MANY = 100, 20_000
"""With fewer texts, words that only one has are kept, and directions mean nothing; with more, pairs and directions take
too much room for what they tell."""

N_DIRECTIONS = 100


@dataclass(frozen=True, slots=True, eq=False)
class SearchFeatures:
    """Rows of a search, and what their columns mean; None where somebody else made them."""

    rows: Matrix
    words: ColumnWords | None


def search_features(collection: Collection) -> Matrix:
    """TF-IDF of words and pairs of the whole text, of the title once more, and latent directions of the words.

    Words and pairs that only one text has cannot tell anything about another one, and are left out. More than 20,000
    texts have words alone.
    """
    return features_in_words(collection).rows


def checked_features(collection: Collection, features: Matrix | SearchFeatures | None) -> SearchFeatures:
    """Return rows for each item, dense or CSR, finite, in float32 or float64: those given, or those of the texts."""
    if features is None:
        return features_in_words(collection)
    given = features.rows if isinstance(features, SearchFeatures) else features
    X = given.tocsr() if is_sparse(given) else np.asarray(given)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"features must be a matrix of numbers, got shape {X.shape} of {X.dtype}.")
    if X.shape[0] != collection.n_items:
        raise InputError(f"features must have a row for each of the {collection.n_items:,} items, got {X.shape[0]:,}.")
    if isinstance(features, SearchFeatures):
        return features
    check_finite_matrix(X, "features")
    return SearchFeatures(X if X.dtype in (np.float32, np.float64) else X.astype(np.float32), None)


def features_in_words(collection: Collection) -> SearchFeatures:
    """Make the rows of :func:`search_features`, and keep the words behind them."""
    is_small, is_large = collection.n_items < FEW, collection.n_items > MANY
    words = (1, 1) if is_large else (1, 2)
    stop_words = "english" if is_large else None
    texts = _terms(collection.texts, words, stop_words, 1 if is_small else 2)
    if texts is None:
        raise InputError(
            f"{collection.source}: no words are left that some of the texts share and others do not have, so there is "
            "nothing to learn from. Check which columns were read as title and abstract, or pass features."
        )
    made: list[tuple[Matrix, WordBlock]] = [(texts[0], WordBlock(texts[1]))]
    has_abstracts = any(text.strip() for text in collection.abstracts)
    titles = _terms(collection.titles, words, stop_words, 1 if is_small else 2) if has_abstracts else None
    if titles is not None:
        made.append((titles[0], WordBlock(titles[1], math.sqrt(TITLE_SHARE))))
    if not (is_small or is_large):
        made += _latent(collection)
    rows, blocks = [one for one, _ in made], [block for _, block in made]
    together = stack_features(*rows, weights=[block.share for block in blocks]) if len(rows) > 1 else rows[0]
    return SearchFeatures(together, ColumnWords(blocks))


def _latent(collection: Collection) -> list[tuple[Matrix, WordBlock]]:
    """Return one block of directions, or none where there are too few words."""
    made = _terms(collection.texts, (1, 1), "english", 2)
    if made is None:
        return []
    words, terms = made
    n_directions = min(N_DIRECTIONS, collection.n_items // 5, words.shape[1] - 1)
    if n_directions < 2:
        return []
    space = latent_space(words, n_directions, order=np.argsort(np.array(collection.ids), kind="stable"))
    return [(space.rows, WordBlock(terms, math.sqrt(LATENT_SHARE), space.pulls))]


def _terms(
    texts: Texts, ngram_range: tuple[int, int], stop_words: str | None, min_df: int
) -> tuple[Matrix, TextFeatures] | None:
    """TF-IDF rows and what made them; None where no term is left."""
    features = TextFeatures(ngram_range=ngram_range, stop_words=stop_words, min_df=min_df, max_df=0.95)
    try:
        return features.fit_transform(texts), features
    except InputError:
        return None
