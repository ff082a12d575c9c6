"""Soft clusters: memberships that sum to 1, the same for a seed, and groups found again where there are some."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from riffler.errors import InputError, RifflerError, UnknownName
from riffler.features import clusters as module
from riffler.features.clusters import KEPT, METHODS, soft_clusters
from riffler.features.text import TextFeatures
from riffler.records import FloatArray, IntArray

every_method = pytest.mark.parametrize("method", sorted(METHODS))
N_GROUPS, N_EACH, N_TERMS = 4, 60, 15


def grouped_counts(seed: int = 0) -> tuple[sparse.csr_matrix, IntArray]:
    """Documents of 30 words, most of them from the words of their group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(N_GROUPS), N_EACH)
    chance = np.full((N_GROUPS, N_GROUPS * N_TERMS), 0.1)
    for one in range(N_GROUPS):
        chance[one, one * N_TERMS : (one + 1) * N_TERMS] = 2.0
    counts = np.array([rng.multinomial(30, chance[one] / chance[one].sum()) for one in group])
    return sparse.csr_matrix(counts.astype(np.float32)), group


def purity(memberships: sparse.csr_matrix, group: IntArray) -> float:
    """Mean over items of the share of their own group in their clusters."""
    own = np.eye(N_GROUPS)[group]
    share = (memberships.T @ own) / np.maximum(np.asarray(memberships.sum(axis=0)).ravel(), 1e-12)[:, None]
    return float(((memberships @ share) * own).sum(axis=1).mean())


def unit_rows(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Weights as TF-IDF has them: rows of length 1."""
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    scaled = counts.copy()
    scaled.data /= np.repeat(length, np.diff(counts.indptr)).astype(np.float32)
    return scaled


def as_counts(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    return counts


def as_dense(counts: sparse.csr_matrix) -> FloatArray:
    dense: FloatArray = counts.toarray()
    return dense


@every_method
@pytest.mark.parametrize("form", [as_counts, unit_rows, as_dense])
def test_groups_are_found_again(method: str, form: Callable[[sparse.csr_matrix], object]) -> None:
    counts, group = grouped_counts()
    found = soft_clusters(form(counts), method=method, n_clusters=8, seed=0)
    assert found.method == method
    assert found.n_items == N_GROUPS * N_EACH
    assert found.n_clusters == 8
    assert purity(found.memberships, group) > 0.6  # by chance 0.25


@every_method
def test_rows_sum_to_one_with_few_entries_and_a_seed_repeats(method: str) -> None:
    counts, _ = grouped_counts(1)
    found, again = (soft_clusters(counts, method=method, n_clusters=30, seed=3).memberships for _ in range(2))
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.asarray(found.sum(axis=1)).ravel(), 1.0, atol=1e-6)
    assert np.diff(found.indptr).max() <= KEPT
    assert (found.data > 0).all()
    np.testing.assert_array_equal(found.indices, again.indices)
    np.testing.assert_array_equal(found.data, again.data)


@every_method
def test_rows_without_features_share_one_more_cluster(method: str) -> None:
    counts, _ = grouped_counts(2)
    full = soft_clusters(counts, method=method, n_clusters=6)
    empty = sparse.csr_matrix(np.zeros((2, counts.shape[1]), dtype=np.float32))
    rows = sparse.vstack([counts[:100], empty, counts[100:]], format="csr")
    memberships = soft_clusters(rows, method=method, n_clusters=6).memberships
    assert memberships.shape == (242, 7)
    np.testing.assert_array_equal(memberships[[100, 101]].toarray(), np.eye(7)[[6, 6]])
    assert memberships[:, 6].sum() == 2.0
    assert full.n_clusters == 6


@every_method
def test_a_sample_serves_all_and_blocks_make_no_difference(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, group = grouped_counts(3)
    whole = soft_clusters(counts, method=method, n_clusters=8, sample=100).memberships
    assert whole.shape[0] == counts.shape[0]
    assert purity(whole, group) > 0.5
    monkeypatch.setattr(module, "BLOCK", 37)
    pieces = soft_clusters(counts, method=method, n_clusters=8, sample=100).memberships
    np.testing.assert_allclose(whole.toarray(), pieces.toarray(), atol=2e-2)


def test_only_the_commonest_columns_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, group = grouped_counts(4)
    rare = sparse.random(counts.shape[0], 500, density=0.002, random_state=0, dtype=np.float32)
    wide = sparse.hstack([rare, counts], format="csr")
    monkeypatch.setattr(module, "N_COLUMNS", counts.shape[1])
    found = soft_clusters(wide, method="kmeans", n_clusters=8).memberships
    np.testing.assert_allclose(
        found.toarray(), soft_clusters(counts, method="kmeans", n_clusters=8).memberships.toarray()
    )
    assert purity(found, group) > 0.6


def test_a_small_collection_gets_fewer_clusters() -> None:
    counts, _ = grouped_counts(5)
    assert soft_clusters(counts).n_clusters == counts.shape[0] // 5
    assert soft_clusters(counts[:3]).n_clusters == 1
    assert soft_clusters(counts[:1]).memberships.toarray().tolist() == [[1.0]]


def test_bad_input_is_named() -> None:
    counts, _ = grouped_counts(6)
    with pytest.raises(UnknownName, match=r"No method of clustering called 'gmm'\. Known: kmeans, lda, nmf"):
        soft_clusters(counts, method="gmm")
    with pytest.raises(InputError, match=r"at most the number of items with features, 240; got 241"):
        soft_clusters(counts, n_clusters=241)
    with pytest.raises(InputError, match=r"n_clusters must be at least 1 .* got 0"):
        soft_clusters(counts, n_clusters=0)
    with pytest.raises(InputError, match=r"items with features, 0; got 1"):
        soft_clusters(sparse.csr_matrix((5, 3)))
    with pytest.raises(InputError, match=r"sample must be at least n_clusters = 9, got 8"):
        soft_clusters(counts, n_clusters=9, sample=8)
    with pytest.raises(InputError, match=r"method='lda' needs values of at least 0, got -1.0. Use method='kmeans'"):
        soft_clusters(-np.eye(3), method="lda")
    with pytest.raises(RifflerError, match="row 2, column 1 is nan"):
        soft_clusters(np.array([[0.0, 1.0], [np.nan, 1.0]]))
    with pytest.raises(InputError, match=r"at least one column, got shape \(0, 3\)"):
        soft_clusters(np.empty((0, 3)))


def test_clusters_of_real_texts_tell_the_labels_apart(data_folder: Path) -> None:
    """An item of a newsgroup meets its own group in its clusters many times as often as in the collection."""
    source = data_folder / "20newsgroups" / "documents.csv.xz"
    if not source.is_file():
        pytest.skip("needs 20newsgroups")
    frame = pl.read_csv(lzma.decompress(source.read_bytes()), infer_schema=False)
    frame = frame.sample(3000, seed=0)
    X = TextFeatures().fit_transform((frame["title"] + "\n" + frame["text"].fill_null("")).to_list())
    memberships = soft_clusters(X, n_clusters=60).memberships
    hockey = (frame["labels"].str.contains("rec.sport.hockey", literal=True)).to_numpy().astype(float)
    rate = (memberships.T @ hockey) / np.maximum(np.asarray(memberships.sum(axis=0)).ravel(), 1e-12)
    assert (memberships @ rate)[hockey > 0].mean() > 5 * hockey.mean()
