"""What a search makes of texts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from riffler import InputError, TextFeatures
from riffler.data.collection_reading import collection_from_frame
from riffler.search.features import TITLE_SHARE, search_features

TITLES = ["wolves in snow", "gulls at sea", "wolves at sea"]
ABSTRACTS = ["they hunt by night", "they hunt by day", "nobody saw them"]


def test_similarity_is_that_of_the_texts_and_a_share_of_that_of_the_titles() -> None:
    collection = collection_from_frame(pl.DataFrame({"title": TITLES, "abstract": ABSTRACTS}))
    X = search_features(collection)

    def similarity(texts: list[str]) -> np.ndarray:
        rows = TextFeatures(ngram_range=(1, 2), stop_words=None, max_df=0.95).fit_transform(texts)
        return np.asarray((rows @ rows.T).todense())

    both = [f"{title}\n{abstract}" for title, abstract in zip(TITLES, ABSTRACTS, strict=True)]
    expected = similarity(both) + TITLE_SHARE * similarity(TITLES)
    np.testing.assert_allclose(np.asarray((X @ X.T).todense()), expected, rtol=1e-5)


def test_titles_alone_count_once() -> None:
    collection = collection_from_frame(pl.DataFrame({"title": TITLES}))
    rows = TextFeatures(ngram_range=(1, 2), stop_words=None, max_df=0.95).fit_transform(TITLES)
    assert (search_features(collection) != rows).nnz == 0


def test_words_of_a_single_text_are_left_out_of_larger_collections() -> None:
    titles = [f"record number{row} about gulls and {'sea' if row % 2 else 'land'}" for row in range(120)]
    X = search_features(collection_from_frame(pl.DataFrame({"id": list(map(str, range(120))), "title": titles})))
    assert X.shape[1] < 50


def test_titles_without_a_word_of_their_own_are_left_out() -> None:
    frame = pl.DataFrame(
        {
            "title": [f"Report {row}" for row in range(120)],
            "abstract": [f"{'gulls' if row % 3 else 'owls'} fly" for row in range(120)],
        }
    )
    X = search_features(collection_from_frame(frame))
    assert X.shape == (120, 6)  # words and pairs of the texts; too few for directions, and no title alone


def test_directions_do_not_depend_on_the_order_of_the_collection() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(60)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    collection = collection_from_frame(pl.DataFrame({"id": [f"d{row}" for row in range(200)], "title": texts}))
    order = rng.permutation(200)
    X, again = search_features(collection), search_features(collection.take(order))
    assert X.shape[1] > TextFeatures(ngram_range=(1, 2), stop_words=None, min_df=2).fit_transform(texts).shape[1]
    assert (X[order] != again).nnz == 0


def test_texts_without_a_common_word_are_refused() -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["gulls", "gulls"]})  # a word of all texts tells nothing
    with pytest.raises(InputError, match="frame: no words are left that some of the texts share"):
        search_features(collection_from_frame(frame))


def test_large_collections_have_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.search.features.MANY", 2)
    collection = collection_from_frame(pl.DataFrame({"title": TITLES}))
    rows = TextFeatures(max_df=0.95).fit_transform(TITLES)
    assert (search_features(collection) != rows).nnz == 0
