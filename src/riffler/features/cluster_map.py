"""A map of a collection: groups of like items as bubbles on a plane, each with words that tell it from the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.errors import InputError
from riffler.features.clusters import soft_clusters
from riffler.features.stop_words import ENGLISH
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    from scipy import sparse

FEWEST, MOST = 8, 40  # clusters
SAMPLE = 5_000  # items that clusters are fitted on
N_COLUMNS = 5_000  # that are looked at, those that most items have
N_WORDS = 3
FILLED = 0.35  # share of the plane that the bubbles cover
N_PUSHES = 300


@dataclass(frozen=True, slots=True, eq=False)
class ClusterMap:
    """Clusters on a plane, the largest first.

    x, y : centre of each cluster; like clusters lie close to each other
    radius : of each bubble, in the same unit; its area grows with its items, and bubbles do not overlap
    size : items of each cluster
    words : of each cluster, what tells it from the others; empty where columns have no names
    cluster_of : cluster of each row
    """

    x: FloatArray
    y: FloatArray
    radius: FloatArray
    size: IntArray
    words: tuple[tuple[str, ...], ...]
    cluster_of: IntArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.size.size)


def cluster_map(
    X: Matrix, terms: Sequence[str] | None = None, n_clusters: int | None = None, seed: int = 0
) -> ClusterMap:
    """Group the rows of X and lay the groups out on a plane; the same X and seed give the same map.

    Parameters
    ----------
    X : dense array or CSR matrix of shape (n_items, n_columns)
    terms : names of the first columns; further columns have none
    n_clusters : at most so many; None takes a quarter of the root of the items, between 8 and 40
    seed : int

    >>> rows = np.repeat(np.eye(3, dtype=np.float32), [20, 10, 5], axis=0)
    >>> made = cluster_map(rows, ["snow", "sea", "sand"], n_clusters=3)
    >>> made.size.tolist(), made.words, made.cluster_of[[0, 20, 30]].tolist()
    ([20, 10, 5], (('snow',), ('sea',), ('sand',)), [0, 1, 2])
    """
    if terms is not None and len(terms) > X.shape[1]:
        raise InputError(f"terms must name columns of X: got {len(terms):,} names, and X has {X.shape[1]:,} columns.")
    columns = _common_columns(X)
    rows = X[:, columns] if columns.size < X.shape[1] else X
    cluster_of = _numbered_by_size(_clustered(rows, n_clusters, seed))
    size: IntArray = np.bincount(cluster_of)
    means = _means(rows, cluster_of, size)
    radius = np.sqrt(FILLED * size / size.sum() / math.pi)
    places = _pushed_apart(_laid_out(means), radius)
    names = [()] * size.size if terms is None else _told(means, size, columns, terms)
    return ClusterMap(places[:, 0], places[:, 1], radius, size, tuple(names), cluster_of)


def _clustered(X: Matrix, n_clusters: int | None, seed: int) -> IntArray:
    """Return the cluster of each row; rows without features share the last."""
    n_filled = int(np.sum(np.diff(X.tocsr().indptr) > 0) if is_sparse(X) else np.asarray(X).any(axis=1).sum())
    if n_clusters is not None and n_clusters < 1:
        raise InputError(f"n_clusters must be at least 1, got {n_clusters!r}.")
    if n_filled == 0:
        return np.zeros(X.shape[0], dtype=np.int64)
    wanted = n_clusters or min(max(round(math.sqrt(X.shape[0]) / 4), FEWEST), MOST)
    found = soft_clusters(X, n_clusters=min(wanted, max(1, n_filled // 2)), seed=seed, sample=SAMPLE)
    home: IntArray = np.asarray(found.memberships.argmax(axis=1)).ravel()
    return home


def _numbered_by_size(cluster_of: IntArray) -> IntArray:
    """Number clusters from the largest on, without those that no item is in."""
    kept, dense, size = np.unique(cluster_of, return_inverse=True, return_counts=True)
    number = np.empty(kept.size, dtype=np.int64)
    number[np.argsort(-size, kind="stable")] = np.arange(kept.size)
    return number[dense]


def _common_columns(X: Matrix) -> IntArray:
    if X.shape[1] <= N_COLUMNS:
        return np.arange(X.shape[1])
    n_items = np.bincount(X.indices, minlength=X.shape[1]) if is_sparse(X) else (X != 0).sum(axis=0)
    return np.sort(np.argsort(-n_items, kind="stable")[:N_COLUMNS])


def _means(X: Matrix, cluster_of: IntArray, size: IntArray) -> FloatArray:
    """Return the mean row of each cluster."""
    from scipy import sparse

    rows = np.arange(cluster_of.size)
    homes: sparse.csr_matrix = sparse.csr_matrix((np.ones(rows.size, np.float32), (cluster_of, rows)))
    sums = homes @ X
    means: FloatArray = np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=np.float64) / size[:, None]
    return means


def _laid_out(means: FloatArray) -> FloatArray:
    """Return places on the unit square, shape (n_clusters, 2), by classical scaling of the distances 1 - cosine."""
    unit = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    squares = np.maximum(1.0 - unit @ unit.T, 0.0) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    if values.size < 2:
        return np.full((values.size, 2), 0.5)
    places = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    largest = np.argmax(np.abs(places), axis=0)
    places *= np.where(places[largest, [0, 1]] < 0, -1.0, 1.0)  # an eigenvector has no sign of its own
    low, high = places.min(axis=0), places.max(axis=0)
    spread: FloatArray = (places - low) / np.maximum(high - low, 1e-12)
    return spread


def _pushed_apart(places: FloatArray, radius: FloatArray) -> FloatArray:
    """Move overlapping bubbles away from each other, along the line between them, until none overlap."""
    places = places.copy()
    needed = 1.02 * (radius[:, None] + radius)
    np.fill_diagonal(needed, 0.0)
    n = radius.size
    for _ in range(N_PUSHES):
        gaps = places[:, None] - places
        distance = np.hypot(gaps[..., 0], gaps[..., 1])
        overlap = np.maximum(needed - distance, 0.0)
        if not overlap.any():
            break
        # bubbles in the same place leave it in directions of their own
        turn = 2.0 * math.pi * np.arange(n) / n
        same = distance < 1e-9
        gaps[same] = 0.0
        push = (gaps * (0.5 * overlap / np.maximum(distance, 1e-9))[..., None]).sum(axis=1)
        push += 0.01 * np.where(same.sum(axis=1) > 1, 1.0, 0.0)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
        places += push
    return places


def _told(means: FloatArray, size: IntArray, columns: IntArray, terms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of each cluster: those that it has most of, beyond what all items have."""
    silent = set(ENGLISH)
    named = [at for at, column in enumerate(columns.tolist()) if column < len(terms)]
    telling = [at for at in named if silent.isdisjoint(terms[columns[at]].split(" "))]
    if not telling:
        return [()] * size.size
    overall = (means * size[:, None]).sum(axis=0) / size.sum()
    more = (means - overall)[:, telling]
    names = [terms[columns[at]] for at in telling]
    return [_first_words(row, names) for row in more]


def _first_words(more: FloatArray, names: Sequence[str]) -> tuple[str, ...]:
    """Return the strongest terms that have no word in common."""
    chosen: list[str] = []
    used: set[str] = set()
    for at in np.argsort(-more, kind="stable").tolist():
        parts = names[at].split(" ")
        if more[at] <= 0 or len(chosen) == N_WORDS:
            break
        if used.isdisjoint(parts):
            chosen.append(names[at])
            used.update(parts)
    return tuple(chosen)
