"""TF-IDF rows against scikit-learn's and against dictionaries; hashing; bad input."""

from __future__ import annotations

import lzma
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import murmurhash3_32

from riffler.errors import InputError, UnknownName
from riffler.features import columns, tokens, vocabulary
from riffler.features.text import TextFeatures
from riffler.records import Matrix
from tests.naive import text_features as naive

RANGES = [(1, 1), (1, 2), (2, 2)]
WORDS = ["gold", "Gold", "river", "SILVER", "île", "of", "the", "x", "a1", "mine"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=12)


def some_texts(n_texts: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(300)] + ["the", "of"]
    shares = 1.0 / np.arange(1, len(words) + 1)
    return [" ".join(rng.choice(words, size=rng.integers(0, 60), p=shares / shares.sum())) for _ in range(n_texts)]


def peer(texts: list[str], settings: dict[str, Any]) -> tuple[Matrix, list[str]]:
    vectorizer = TfidfVectorizer(**{"sublinear_tf": True, **settings})
    return vectorizer.fit_transform(texts), list(vectorizer.get_feature_names_out())


def assert_same_as_peer(features: TextFeatures, X: Matrix, expected: Matrix, names: list[str]) -> None:
    ours = features.feature_names()
    assert sorted(ours) == names
    column = {name: j for j, name in enumerate(names)}
    expected = expected[:, [column[name] for name in ours]].tocsr()
    expected.sort_indices()
    np.testing.assert_array_equal(X.indices, expected.indices)
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_allclose(X.data, expected.data, rtol=3e-7)  # float32 against float64


@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stop_words": ["the", "of", "w0"]},
        {"min_df": 3, "max_df": 0.5},
        {"min_df": 0.01, "max_df": 100},
        {"sublinear_tf": False, "norm": None},
    ],
)
def test_rows_are_those_of_scikit_learn(ngram_range: tuple[int, int], settings: dict[str, Any]) -> None:
    texts, new = some_texts(300), some_texts(40, seed=1)
    settings = {"stop_words": None, "ngram_range": ngram_range, **settings}
    features = TextFeatures(**settings)
    X = features.fit_transform(texts)
    expected, names = peer(texts, settings)
    assert_same_as_peer(features, X, expected, names)
    vectorizer = TfidfVectorizer(**{"sublinear_tf": True, **settings}).fit(texts)
    assert_same_as_peer(features, features.transform(new), vectorizer.transform(new), names)


def test_one_word_columns_have_scikit_learns_order() -> None:
    texts = some_texts(100)
    features = TextFeatures(stop_words=None).fit(texts)
    assert features.feature_names() == peer(texts, {})[1] == list(features.get_feature_names_out())


def test_max_features_keeps_the_terms_used_most() -> None:
    texts = some_texts(300)
    features = TextFeatures(stop_words=None, ngram_range=(1, 2), max_features=7)
    X = features.fit_transform(texts)
    expected, names = peer(texts, {"ngram_range": (1, 2), "max_features": 7})
    assert_same_as_peer(features, X, expected, names)
    ties = TextFeatures(max_features=2, ngram_range=(1, 2)).fit(["dd cc", "bb aa"])
    assert ties.feature_names() == ["aa", "bb"]


@given(texts=TEXTS, ngram_range=st.sampled_from(RANGES), at_least=st.integers(1, 2))
def test_rows_are_those_of_dictionaries(texts: list[str], ngram_range: tuple[int, int], at_least: int) -> None:
    expected = naive.tf_idf(texts, ngram_range, ["the", "of"], at_least, len(texts))
    features = TextFeatures(ngram_range=ngram_range, stop_words=["the", "of"], min_df=at_least)
    if not any(expected):
        with pytest.raises(InputError):
            features.fit(texts)
        return
    X = features.fit_transform(texts)
    names = features.feature_names()
    found = [dict(zip([names[j] for j in row.indices], row.data, strict=True)) for row in X]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("settings", [{"ngram_range": (1, 2), "min_df": 2}, {"n_bits": 10, "ngram_range": (1, 2)}])
def test_rows_are_sorted_float32_and_the_same_whatever_is_read_at_once(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = some_texts(400)
    features = TextFeatures(**settings)
    X = features.fit_transform(texts)
    assert (X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float32, np.int32, np.int32)
    assert all((np.diff(X[i].indices) > 0).all() for i in range(X.shape[0]))
    np.testing.assert_allclose(X.multiply(X).sum(axis=1)[X.getnnz(axis=1) > 0], 1, rtol=1e-6)
    monkeypatch.setattr(tokens, "CHUNK_BYTES", 500)
    monkeypatch.setattr(columns, "BLOCK_TEXTS", 7)
    monkeypatch.setattr(vocabulary, "PAIRS_AT_ONCE", 256)
    again = TextFeatures(**settings)
    for other in (again.fit_transform(iter(texts)), again.transform(pl.Series(texts)), features.transform(texts)):
        assert (other.indices == X.indices).all()
        assert (other.data == X.data).all()
        assert (other.indptr == X.indptr).all()
    if "n_bits" not in settings:
        assert again.feature_names() == features.feature_names()


@pytest.mark.parametrize("ngram_range", RANGES)
def test_hashed_columns_are_murmurhash_of_the_term(ngram_range: tuple[int, int]) -> None:
    texts, n_bits = some_texts(60), 8
    X = TextFeatures(n_bits=n_bits, ngram_range=ngram_range, sublinear_tf=False, norm=None).fit_transform(texts)
    expected = np.zeros((60, 2**n_bits))
    for row, text in enumerate(texts):
        for term in naive.terms(text, ngram_range, ["the", "of"]):
            expected[row, murmurhash3_32(term.encode(), seed=0, positive=True) % 2**n_bits] += 1
    expected *= np.log(61 / (1 + (expected > 0).sum(axis=0))) + 1
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-6)


def test_wide_hashing_gives_the_rows_of_the_vocabulary() -> None:
    texts = some_texts(50)
    hashed = TextFeatures(n_bits=26).fit_transform(texts)
    plain = TextFeatures().fit_transform(texts)
    np.testing.assert_allclose((hashed @ hashed.T).toarray(), (plain @ plain.T).toarray(), atol=1e-6)


@pytest.mark.parametrize("settings", [{"ngram_range": (1, 2), "stop_words": ["w1"]}, {"n_bits": 12}])
def test_pickles_and_clones(settings: dict[str, Any]) -> None:
    texts = some_texts(50)
    features = TextFeatures(**settings).fit(texts)
    copy = pickle.loads(pickle.dumps(features))
    assert abs(copy.transform(texts) - features.transform(texts)).nnz == 0
    fresh = clone(features)
    assert fresh.get_params() == features.get_params()
    assert not hasattr(fresh, "idf_")
    assert repr(TextFeatures(min_df=2)) == "TextFeatures(min_df=2)"
    with pytest.raises(InputError, match="no parameter 'mindf'"):
        features.set_params(mindf=2)


def test_is_a_step_of_a_pipeline() -> None:
    texts = ["gold in the river", "river fish", "golden mine", "fish soup"] * 5
    labels = [1, 0, 1, 0] * 5
    pipeline = make_pipeline(TextFeatures(), LogisticRegression()).fit(texts, labels)
    assert pipeline.set_params(textfeatures__min_df=2).fit(texts, labels).score(texts, labels) == 1.0


def test_later_changes_of_parameters_do_not_change_what_was_learned() -> None:
    features = TextFeatures(stop_words=["gold"]).fit(["gold river", "river fish"])
    before = features.transform(["gold river fish"])
    features.set_params(stop_words=None)
    assert abs(features.transform(["gold river fish"]) - before).nnz == 0


def test_texts_without_known_words_are_rows_of_zeros() -> None:
    features = TextFeatures(ngram_range=(1, 2)).fit(["gold river", ""])
    X = features.transform(["", "silver", "the the", "river gold"])
    assert X.getnnz(axis=1).tolist() == [0, 0, 0, 2]
    assert features.transform([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([], {}, "There are no texts"),
        (["", " ", "a !"], {}, "None of the 3 texts has a word"),
        (["the", "and"], {}, "None of the 2 texts has a word"),
        (["gold", "river"], {"min_df": 2}, "No term is left"),
        (["gold"], {"ngram_range": (2, 2)}, "No term is left"),
        (["gold", None], {}, "Text 1 is None"),
        (["gold"], {"min_df": 0.9, "max_df": 0.1}, "Lower min_df or raise max_df"),
        (["gold"], {"min_df": 0}, "min_df must be a number of texts"),
        (["gold"], {"max_df": 1.5}, "max_df must be a number of texts"),
        (["gold"], {"min_df": True}, "min_df must be a number of texts"),
        (["gold"], {"max_features": 0}, "max_features must be"),
        (["gold"], {"ngram_range": (1, 3)}, "ngram_range must be"),
        (["gold"], {"norm": "l1"}, "norm must be"),
        (["gold"], {"n_bits": 40}, "n_bits must be"),
        (["gold"], {"n_bits": 8, "min_df": 2}, "hashing has none"),
        (["gold"], {"stop_words": [3]}, "Stop words must be strings, got 3"),
    ],
)
def test_bad_input(texts: list[str], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        TextFeatures(**settings).fit_transform(texts)


def test_unknown_names_and_states() -> None:
    with pytest.raises(UnknownName, match="Known: english"):
        TextFeatures(stop_words="klingon").fit(["gold"])
    with pytest.raises(InputError, match="Call fit"):
        TextFeatures().transform(["gold"])
    with pytest.raises(InputError, match="have no names"):
        TextFeatures(n_bits=4).fit(["gold"]).feature_names()


DATA = Path(os.environ.get("RIFFLER_DATA", "")) / "screening-nagtegaal2019" / "documents.csv.xz"


@pytest.mark.skipif(not os.environ.get("RIFFLER_DATA"), reason="RIFFLER_DATA names no folder of data sets")
def test_rows_of_a_screening_collection_are_those_of_scikit_learn() -> None:
    with lzma.open(DATA) as file:
        frame = pl.read_csv(file.read(), infer_schema=False)
    texts = (frame["title"].fill_null("") + "\n" + frame["abstract"].fill_null("")).to_list()
    features = TextFeatures(stop_words=None, ngram_range=(1, 2), min_df=2)
    X = features.fit_transform(texts)
    expected, names = peer(texts, {"ngram_range": (1, 2), "min_df": 2})
    assert_same_as_peer(features, X, expected, names)
