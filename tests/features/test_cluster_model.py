"""Clusters that are kept are those of the rows in memory, and the same after they were read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from riffler.errors import InputError
from riffler.features.cluster_model import ClusterModel, fit_clusters
from riffler.features.clusters import soft_clusters


def grouped_rows(n: int, n_columns: int) -> sparse.csr_matrix:
    """Rows of five groups, each with columns of its own; the first row has none."""
    rng = np.random.default_rng(1)
    dense = rng.random((n, n_columns)) * (rng.random((n, n_columns)) < 0.05)
    for row in range(n):
        dense[row, row % 5 * 10 : row % 5 * 10 + 10] += rng.random(10)
    dense[0] = 0
    return sparse.csr_matrix(dense.astype(np.float32))


@pytest.mark.parametrize("n_columns", [60, 150])
def test_a_model_gives_the_memberships_of_soft_clusters(n_columns: int, tmp_path: Path) -> None:
    rows = grouped_rows(200, n_columns)
    filled = np.flatnonzero(np.diff(rows.indptr))
    n_items = np.bincount(rows.indices, minlength=n_columns)
    model = fit_clusters(lambda chosen: rows[chosen], n_items, filled, 5, seed=3)
    expected = soft_clusters(rows, n_clusters=5, seed=3).memberships.toarray()
    found = model.assign(rows)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    assert found[0].toarray().tolist() == [[0, 0, 0, 0, 0, 1]]
    with (tmp_path / "clusters.npz").open("wb") as stream:
        model.save(stream)
    again = ClusterModel.load(tmp_path / "clusters.npz")
    assert again.n_clusters == 5
    np.testing.assert_array_equal(again.assign(rows).toarray(), found.toarray())


def test_more_clusters_than_rows_are_refused() -> None:
    rows = grouped_rows(4, 60)
    with pytest.raises(InputError, match="at most the number of items with features, 3; got 9"):
        fit_clusters(lambda chosen: rows[chosen], np.ones(60, dtype=np.int64), np.array([1, 2, 3]), 9)
