"""Dense embeddings: given ones are checked, WordLlama is optional, blocks stack."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from riffler.errors import InputError
from riffler.features import embedding
from riffler.features.embedding import as_embedding, embed_texts, stack_features
from riffler.features.text import TextFeatures


@pytest.fixture(autouse=True)
def fresh_model() -> None:
    embedding._word_llama.cache_clear()


def test_rows_get_length_one() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 5))
    ours = as_embedding(rows)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, rows / np.linalg.norm(rows, axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_array_equal(as_embedding(pl.Series(rows.tolist())), ours)
    np.testing.assert_array_equal(as_embedding(pl.Series(rows, dtype=pl.Array(pl.Float64, 5))), ours)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([1.0, 2.0], "shape"),
        ([["a", "b"]], "must be numbers"),
        ([[1.0, 2.0], [np.nan, 1.0]], "Row 1 of the embeddings holds NaN"),
        (pl.Series([[1.0, 2.0], [1.0]]), "Row 1 of the embeddings has 1 numbers, the first has 2"),
        (pl.Series([[1.0, 2.0], None]), "Row 1 of the embeddings has 0 numbers"),
        ([[1.0, 2.0], [1.0]], "as many numbers in each row"),
        (pl.Series("vector", ["a"]), "a column of lists of numbers, 'vector' is one of String"),
    ],
)
def test_bad_embeddings(rows: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_embedding(rows)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(InputError, match=r"riffler\[embeddings\]"):
        embed_texts(["gold"])


def test_texts_are_embedded_without_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def load(**settings: object) -> SimpleNamespace:
        asked.update(settings)
        return SimpleNamespace(embed=lambda texts, norm: np.array([[len(t), 1.0] for t in texts], dtype=np.float32))

    package = ModuleType("wordllama")
    package.__file__ = "/somewhere/wordllama/__init__.py"
    package.WordLlama = SimpleNamespace(load=load)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wordllama", package)
    rows = embed_texts(["gold", "", " \n"])
    assert asked["disable_download"] is True
    assert asked["cache_dir"].name == "wordllama"
    np.testing.assert_allclose(rows, np.array([[4.0, 1.0], [0.0, 0.0], [0.0, 0.0]]) / 17**0.5, rtol=1e-6)
    with pytest.raises(InputError, match="no texts to embed"):
        embed_texts([])


def test_word_llama_puts_like_beside_like() -> None:
    pytest.importorskip("wordllama")
    rows = embed_texts(["a gold mine in the mountains", "silver and gold are mined here", "she plays the violin", ""])
    assert rows.shape == (4, 256)
    assert rows.dtype == np.float32
    likeness = rows @ rows.T
    assert likeness[0, 1] > likeness[0, 2]
    np.testing.assert_allclose(np.diag(likeness), [1, 1, 1, 0], atol=1e-5)


def test_blocks_stand_beside_each_other() -> None:
    terms = TextFeatures().fit_transform(["gold river", "fish"])
    dense = as_embedding([[1.0, 2.0], [0.0, -1.0]])
    both = stack_features(terms, dense, weights=[1.0, 0.5])
    assert sparse.isspmatrix_csr(both)
    assert both.dtype == np.float32
    assert both.indices.dtype == np.int32
    np.testing.assert_allclose(both.toarray(), np.hstack([terms.toarray(), 0.5 * dense]))
    with pytest.raises(InputError, match="same rows"):
        stack_features(terms, dense[:1])
    with pytest.raises(InputError, match="one weight for each block"):
        stack_features(terms, dense, weights=[1.0])
