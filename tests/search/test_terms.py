"""The words that speak for and against relevance: those of the topic, with the weights that make the scores."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from riffler import InputError
from riffler.data.collection_reading import collection_from_frame
from riffler.data.docstrings import docstrings
from riffler.engine import LocalEngine
from riffler.search.classifier import WarmClassifier
from riffler.search.features import features_in_words
from riffler.search.loop import ActiveSearch
from riffler.search.row_store import RowStore
from riffler.search.similarity_store import SimilarityStore
from tests.search.test_loop import library, reviewed


def test_words_of_the_topic_speak_for_it_and_others_against_it() -> None:
    collection, truth = library()
    search = ActiveSearch(collection, policy="greedy", description="whale", seed=0)
    assert search.terms(5) == []
    reviewed(search, truth, n_rounds=20)
    terms = search.terms(5)
    weights = [weight for _, weight in terms]
    assert sorted(weights[:5], reverse=True) == weights[:5]
    assert sorted(weights[5:]) == weights[5:]
    assert len(terms) == 10
    assert {word for word, weight in terms if weight > 0} == {"whale", "ocean", "fin", "song", "krill"}
    assert {word for word, weight in terms if weight < 0} & {"market", "bond", "price", "trade", "stock"}
    assert search.terms(1) == [terms[0], terms[5]]


def test_words_of_docstrings_about_statistics() -> None:
    items = docstrings(most=1500)
    relevant = items.columns["topic"].to_numpy() == "scipy.stats"
    search = ActiveSearch(items, policy="greedy", description="probability distribution statistics", seed=0)
    truth = dict(zip(items.ids, relevant.tolist(), strict=True))
    for _ in range(12):
        ids = search.suggest(10)
        search.answer(ids, [int(truth[name]) for name in ids])
    speak_for = [word for word, weight in search.terms(30) if weight > 0]
    assert {"distribution", "random", "statistic"} & set(speak_for)
    assert not {"the", "of the", "of"} & set(speak_for)


def test_title_and_directions_are_told_in_the_words_of_the_text() -> None:
    """A column that is a term hands its weight to it; a direction hands it to the words that pull along it."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(40)])
    frame = pl.DataFrame(
        {
            "id": [f"d{row}" for row in range(150)],
            "title": [" ".join(rng.choice(words, 3)) for _ in range(150)],
            "abstract": [" ".join(rng.choice(words, 12)) for _ in range(150)],
        }
    )
    made = features_in_words(collection_from_frame(frame))
    assert made.words is not None
    texts, titles, latent = made.words.blocks
    assert texts.n_columns + titles.n_columns + latent.n_columns == made.rows.shape[1]
    columns = np.zeros(made.rows.shape[1])
    at = titles.terms.feature_names().index("word7")
    columns[texts.n_columns + at] = 2.0
    ((word, weight),) = made.words.strongest(columns, 3)
    assert word == "word7"
    assert weight == pytest.approx(2.0 * np.sqrt(0.1))
    columns[:] = 0.0
    columns[-latent.n_columns :] = made.rows[5, -latent.n_columns :].toarray().ravel()
    best = [word for word, _ in made.words.strongest(columns, 5)[:5]]
    own = set(frame["title"][5].split()) | set(frame["abstract"][5].split())
    assert len(own & set(best)) >= 4


def test_a_matrix_has_no_words() -> None:
    collection, _ = library()
    search = ActiveSearch(collection, policy="greedy", features=np.eye(collection.n_items), relevant=["d3"], seed=0)
    assert search.terms(5) == []
    with pytest.raises(InputError, match="n must be at least 1"):
        search.terms(0)


def test_weights_are_the_same_however_rows_are_kept() -> None:
    rows = np.random.default_rng(0).normal(size=(80, 12)).astype(np.float32)
    engine, numbers = LocalEngine([rows]), np.arange(30)
    labels = (rows[:30, 0] > 0).astype(np.int8)
    kept = [WarmClassifier(engine, store=store) for store in (RowStore(engine), SimilarityStore(engine))]
    for one in kept:
        scores = one.fit(numbers, labels, np.arange(30, 60))
        np.testing.assert_allclose(rows @ one.column_weights() + one.weights[-1], scores, atol=1e-4)
    np.testing.assert_allclose(kept[0].column_weights(), kept[1].column_weights(), atol=1e-3)


def test_features_of_another_search_are_taken_over() -> None:
    collection, truth = library()
    first = ActiveSearch(collection, policy="greedy", description="whale", seed=0)
    again = ActiveSearch(collection, policy="greedy", description="whale", seed=0, features=first.features)
    assert again.features is first.features
    assert reviewed(first, truth, 5) == reviewed(again, truth, 5)
    assert first.terms(3) == again.terms(3)
    with pytest.raises(InputError, match="a row for each of the 10 items"):
        ActiveSearch(collection.take(np.arange(10)), features=first.features)
