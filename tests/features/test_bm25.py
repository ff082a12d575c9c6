"""BM25 against loops over strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.errors import InputError
from riffler.features.bm25 import bm25_scores
from tests.naive import text_features as naive

WORDS = ["gold", "Gold", "river", "silver", "île", "the", "mine", "fish"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(
    texts=st.lists(TEXT, min_size=1, max_size=10),
    query=st.lists(st.sampled_from(WORDS), max_size=5).map(lambda words: " ".join([*words, "fish", "unheard"])),
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
)
def test_scores_are_those_of_loops(texts: list[str], query: str, k1: float, b: float) -> None:
    ours = bm25_scores(texts, query, k1=k1, b=b, stop_words=["the"])
    np.testing.assert_allclose(ours, naive.bm25(texts, query, ["the"], k1, b), rtol=1e-12)


def test_the_text_that_says_it_all_comes_first() -> None:
    texts = ["Fish in rivers", "Gold and silver mines", "Panning for gold in rivers", ""]
    scores = bm25_scores(texts, "Where do rivers carry gold?")
    assert scores.argmax() == 2
    assert scores[3] == 0


@pytest.mark.parametrize(
    ("texts", "query", "settings", "message"),
    [
        ([], "gold", {}, "There are no texts"),
        (["gold"], "the a ?", {}, "has no word"),
        (["gold", 7], "gold", {}, "Text 1 is 7"),
        (["gold"], "gold", {"k1": -1.0}, "k1 of at least 0"),
        (["gold"], "gold", {"b": 1.5}, "b from 0 to 1"),
    ],
)
def test_bad_input(texts: list[str], query: str, settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bm25_scores(texts, query, **settings)  # type: ignore[arg-type]
