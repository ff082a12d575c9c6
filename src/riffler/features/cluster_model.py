"""Soft clusters that can be kept: fitted on a sample, written to a file, and asked for the memberships of any rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from riffler.errors import InputError
from riffler.features.clusters import BLOCK, N_COLUMNS, KMeansAffinity, kept_memberships, kmeans_affinity
from riffler.records import FloatArray, IntArray, Matrix

if TYPE_CHECKING:
    from scipy import sparse

SAMPLE = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class ClusterModel:
    """k-means of rows in some of their columns.

    Attributes
    ----------
    columns : the columns looked at, rising
    affinity : of rows of these columns to each cluster
    """

    columns: IntArray
    affinity: KMeansAffinity

    @property
    def n_clusters(self) -> int:
        """Clusters, without the one for rows that none explains."""
        return len(self.affinity.centres)

    def assign(self, rows: Matrix) -> sparse.csr_matrix:
        """Memberships, float32 of shape (n_rows, n_clusters + 1); rows that no cluster explains are in the last one."""
        from scipy import sparse

        parts = [
            kept_memberships(self.affinity(rows[start : start + BLOCK][:, self.columns]))
            for start in range(0, rows.shape[0], BLOCK)
        ]
        memberships = sparse.vstack(parts, format="csr")
        homeless = np.diff(memberships.indptr) == 0
        both: sparse.csr_matrix = sparse.hstack(
            [memberships, sparse.csr_matrix(homeless[:, None].astype(np.float32))], format="csr"
        )
        return both

    def save(self, target: IO[bytes]) -> None:
        """Write the model."""
        directions = np.empty((0, 0)) if self.affinity.directions is None else self.affinity.directions
        np.savez(target, columns=self.columns, directions=directions, centres=self.affinity.centres)

    @classmethod
    def load(cls, path: Path) -> ClusterModel:
        """Read a model."""
        with np.load(path, allow_pickle=False) as file:
            directions: FloatArray | None = file["directions"] if file["directions"].size else None
            return cls(file["columns"], KMeansAffinity(directions, file["centres"]))


def check_n_clusters(n_clusters: int, n_filled: int) -> None:
    """Raise unless there may be so many clusters of so many items with features."""
    if not 1 <= n_clusters <= n_filled:
        raise InputError(
            f"n_clusters must be at least 1 and at most the number of items with features, {n_filled:,}; "
            f"got {n_clusters!r}."
        )


def fit_clusters(
    rows_of: Callable[[IntArray], Matrix], n_items_of_column: IntArray, order: IntArray, n_clusters: int, seed: int = 0
) -> ClusterModel:
    """Fit the clusters that ``soft_clusters`` finds by k-means, without all rows in memory.

    Parameters
    ----------
    rows_of : gives the rows of some items, float32 CSR
    n_items_of_column : how many items have each column
    order : the items that have features, in an order that says nothing about them; the first are fitted on
    """
    from threadpoolctl import threadpool_limits

    columns = np.sort(np.argsort(-n_items_of_column, kind="stable")[:N_COLUMNS])
    check_n_clusters(n_clusters, len(order))
    rng = np.random.default_rng([seed, n_clusters])
    with threadpool_limits(limits=1):  # sums of several threads depend on how many there are
        sample = rows_of(order[: max(SAMPLE, n_clusters)])[:, columns]
        affinity = kmeans_affinity(sample, n_clusters, int(rng.integers(2**31)))
    return ClusterModel(columns, affinity)
