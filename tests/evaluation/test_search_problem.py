"""What is to be searched: labels that must be there, topics one against the rest, numbers as features."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from riffler.data import collection_from_frame
from riffler.data.table import Schema, Table
from riffler.errors import LabelError
from riffler.evaluation.search_problem import (
    frequent_topics,
    keyed_order,
    number_features,
    table_problem,
    text_problem,
    topic_problems,
    with_clusters,
)
from tests.evaluation.searches import collection, frame, problem


def test_items_without_a_label_are_left_out_and_told() -> None:
    known = frame().with_columns(
        pl.when(pl.col("id") == "d20").then(None).otherwise(pl.col("label_included")).alias("label_included")
    )
    with pytest.warns(UserWarning, match="toy: 1 of 120 items have no label and are left out"):
        found = text_problem(collection_from_frame(known, source="toy"))
    assert found.n_items == 119
    assert "d20" not in found.collection.ids
    assert found.features.shape[0] == found.labels.size == 119


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0] * 120, "toy: none of the 120 items is relevant, so there is nothing to find"),
        ([1] * 120, "toy: all of the 120 items are relevant"),
    ],
)
def test_one_kind_of_labels_is_refused(labels: list[int], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        text_problem(collection().with_labels(labels))


def test_one_document_or_no_labels_are_refused() -> None:
    with pytest.raises(LabelError, match="all of the 1 items are relevant"):
        text_problem(collection(1, 1))
    bare = collection_from_frame(frame().drop("label_included"), source="toy")
    with pytest.raises(LabelError, match=r"toy: no label is known\. Name the column .* Columns: id, title, abstract"):
        text_problem(bare)


def test_each_topic_is_a_search_against_the_rest() -> None:
    whole = collection()
    topics = topic_problems(whole, "topics", None, min_relevant=2)
    assert [one.name for one in topics] == frequent_topics(whole, "topics", 2)
    assert {one.name for one in topics} == {"music", "wheat"}
    for one in topics:
        has = [one.name in words.split("|") for words in whole.columns["topics"].to_list()]
        assert one.labels.tolist() == [int(flag) for flag in has]
        assert one.features is topics[0].features
    assert topics[0].n_relevant >= topics[1].n_relevant
    assert topics[0].fingerprint() != topics[1].fingerprint()
    assert [one.name for one in topic_problems(whole, "topics", ["wheat"])] == ["wheat"]


def test_topics_that_are_not_there_are_refused() -> None:
    with pytest.raises(LabelError, match=r"no item has 'rye' in column 'topics'\. Topics: wheat, music"):
        topic_problems(collection(), "topics", ["rye"])
    with pytest.raises(LabelError, match=r"no topic of column 'topics' has at least 500 items.*Lower --min-relevant"):
        topic_problems(collection(), "topics", None, min_relevant=500)


def test_rows_of_numbers_have_length_one_and_the_same_labels() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)) * [1, 10, 100, 0], np.arange(50) % 5 == 0
    found = table_problem(Table(X, y.astype(int), None, np.arange(50), "numbers", Schema(4)))
    np.testing.assert_allclose(np.linalg.norm(found.features, axis=1), 1.0, rtol=1e-5)
    assert found.features.dtype == np.float32
    assert found.labels.tolist() == y.astype(int).tolist()
    assert found.collection.ids[:3] == ("0", "1", "2")
    rows = number_features(sparse.csr_matrix(np.array([[3.0, 4.0], [0.0, 0.0]])))
    np.testing.assert_allclose(rows.toarray(), [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


def test_repeated_ids_of_a_table_are_refused() -> None:
    with pytest.raises(LabelError, match="numbers: ids repeat"):
        table_problem(Table(np.eye(3), np.array([0, 1, 0]), None, np.array([1, 1, 2]), "numbers", Schema(3)))


def test_the_fingerprint_knows_labels_and_features() -> None:
    first = problem()
    assert first.fingerprint() == problem().fingerprint()
    assert first.fingerprint() != problem(n_relevant=14).fingerprint()
    assert first.fingerprint() != problem(seed=1).fingerprint()
    assert first.slim(texts=False).fingerprint() == first.fingerprint()
    assert first.slim(texts=False).collection.texts[0] == ""
    assert first.slim(texts=True).collection.texts[0] == first.collection.texts[0]


@pytest.mark.parametrize("method", ["kmeans", "lda", "nmf"])
def test_clusters_are_made_once_for_topics_that_share_features(method: str) -> None:
    topics = with_clusters(topic_problems(collection(), "topics", None, min_relevant=2), method)
    assert topics[0].clusters is topics[1].clusters
    assert topics[0].clusters is not None
    assert topics[0].clusters.n_items == 120


def test_a_keyed_order_is_a_permutation_that_follows_the_ids() -> None:
    ids = [f"d{number}" for number in range(40)]
    order = keyed_order(ids, "3/prior")
    assert sorted(order.tolist()) == list(range(40))
    turned = keyed_order(ids[::-1], "3/prior")
    assert [ids[row] for row in order] == [ids[::-1][row] for row in turned]
    assert order.tolist() != keyed_order(ids, "4/prior").tolist()
