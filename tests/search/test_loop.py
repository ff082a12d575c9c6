"""The search loop: finds what is like what was found, and is the same again from its ledger."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from riffler import AnswerError, InputError, LabelError, RifflerError, UnknownName
from riffler.data.collection import Collection
from riffler.data.collection_reading import collection_from_frame
from riffler.ledger import UNKNOWN
from riffler.records import IntArray
from riffler.search import POLICIES
from riffler.search.loop import ActiveSearch

N = 300


def library() -> tuple[Collection, IntArray]:
    """Short texts of two topics; one in ten is about whales."""
    rng = np.random.default_rng(0)
    about_whales = rng.random(N) < 0.1
    topics = {True: ["whale", "ocean", "fin", "song", "krill"], False: ["market", "bond", "price", "trade", "stock"]}
    common = [
        "the",
        "report",
        "says",
        "that",
        "we",
        "find",
        "new",
        "results",
        "in",
        "this",
        "study",
        "of",
        "many",
        "years",
    ]
    texts = [" ".join([*rng.choice(topics[bool(one)], 2), *rng.choice(common, 8)]) for one in about_whales]
    frame = pl.DataFrame({"id": [f"d{row}" for row in range(N)], "title": texts})
    return collection_from_frame(frame), about_whales.astype(int)


def reviewed(search: ActiveSearch, truth: IntArray, n_rounds: int, n: int = 5) -> list[str]:
    """Answer truly for some rounds; return what was suggested."""
    seen: list[str] = []
    for _ in range(n_rounds):
        ids = search.suggest(n)
        seen += ids
        search.answer(ids, [int(truth[int(name[1:])]) for name in ids])
    return seen


def test_what_is_like_what_was_found_comes_first() -> None:
    collection, truth = library()
    search = ActiveSearch(collection, description="whales and krill in the ocean", seed=0)
    reviewed(search, truth, n_rounds=8)
    assert search.progress().n_relevant == truth.sum()
    assert search.progress().n_reviewed == 40 < N // 5


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_search_is_the_same_again_from_its_ledger(policy: str) -> None:
    collection, truth = library()
    search = ActiveSearch(collection, policy=policy, seed=3)
    seen = reviewed(search, truth, n_rounds=6)
    assert len(set(seen)) == len(seen)  # nothing is suggested twice
    again = ActiveSearch.replay(collection, search.ledger, policy=policy, seed=3)
    assert again.suggest(20) == search.suggest(20)
    assert again.progress() == search.progress()
    assert ActiveSearch(collection, policy=policy, seed=3).suggest(5) == seen[:5]


def test_dont_know_is_reviewed_and_teaches_nothing() -> None:
    collection, truth = library()
    search = ActiveSearch(collection, seed=0)
    relevant, other = (f"d{int(np.flatnonzero(truth == label)[0])}" for label in (1, 0))
    search.answer([relevant, other, "d5"], ["yes", "no", "?"])
    assert "d5" not in search.suggest(N)
    assert search.ledger.answer_of("d5") == UNKNOWN
    assert search.progress().n_reviewed == 3
    assert search.progress().n_relevant == 1


def test_the_end_of_the_collection() -> None:
    collection, truth = library()
    search = ActiveSearch(collection, policy="random", seed=1)
    assert len(reviewed(search, truth, n_rounds=2, n=200)) == N
    assert search.suggest(1) == []


def test_features_may_come_in_any_form() -> None:
    collection, truth = library()
    counts = np.random.default_rng(0).integers(0, 3, (N, 40))
    counts[np.flatnonzero(truth), :3] = 4
    X = sparse.csr_matrix(counts)
    walks = []
    forms = [X, X.tocsc(), X.tocoo(), X.toarray(), X.toarray().tolist(), X.astype(np.float32), sparse.csr_array(X)]
    for features in forms:
        search = ActiveSearch(collection, features=features, policy="greedy", relevant=["d1"], seed=0)
        walks.append(reviewed(search, truth, n_rounds=5))
    assert all(walk == walks[0] for walk in walks)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": np.ones(N)}, r"features must be a matrix of numbers, got shape \(300,\)"),
        ({"features": [["a"]] * N}, "features must be a matrix of numbers, got shape .* of <U1"),
        ({"features": np.full((N, 2), np.nan)}, "features: row 1, column 1 is nan"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"target": 95}, "target must lie between 0 and 1, both excluded, got 95"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"relevant": "d1"}, "relevant must be a list of ids, got the text 'd1'"),
        ({"relevant": ["d1"], "irrelevant": ["d1"]}, "'d1' has an answer already"),
    ],
)
def test_bad_settings_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RifflerError, match=message):
        ActiveSearch(library()[0], **settings)


def test_bad_input_is_named_and_nothing_is_half_taken_in() -> None:
    collection, _ = library()
    search = ActiveSearch(collection, seed=0)
    with pytest.raises(InputError, match="No item has the id 'x9'"):
        search.answer(["d1", "x9"], [1, 0])
    with pytest.raises(AnswerError, match=r"item 'd2' is 'perhaps'.* none of these answers was taken in"):
        search.answer(["d1", "d2"], [1, "perhaps"])
    with pytest.raises(LabelError, match="'d1' has an answer already"):
        search.answer(["d1", "d1"], [1, 1])
    with pytest.raises(InputError, match="2 ids and 1 answers came"):
        search.answer(["d1", "d2"], [1])
    with pytest.raises(InputError, match="ids must be a list of ids, got the text 'd1'"):
        search.answer("d1", [1])
    with pytest.raises(InputError, match=r"a whole number, got 2\.5"):
        search.suggest(2.5)  # type: ignore[arg-type]
    assert len(search.ledger) == search.progress().n_reviewed == 0
    search.answer(["d1"], [0])
    with pytest.raises(LabelError, match="'d1' has an answer already"):
        search.answer(["d1"], [1])
    with pytest.raises(InputError, match="n must be at least 1"):
        search.suggest(0)
    with pytest.raises(InputError, match=r"a row for each of the 300 items, got 2"):
        ActiveSearch(collection, features=np.eye(2))
    with pytest.raises(UnknownName, match=r"No search policy called 'best'. Known: .*greedy, .*random, .*uncertainty"):
        ActiveSearch(collection, policy="best")
