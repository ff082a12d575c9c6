"""Soft clusters: how much each item belongs to each of many groups, found without labels.

Fitted on a sample, so that the cost of fitting does not grow with the collection; all items are then assigned in
blocks. Only the largest memberships of an item are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riffler.errors import InputError, UnknownName
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    from scipy import sparse

Assign = Callable[[Matrix], FloatArray]
"""Turns rows into non-negative affinities to the clusters, shape (n_rows, n_clusters)."""

N_CLUSTERS = 200
N_COLUMNS = 20_000  # columns of sparse rows that are looked at, those that most items have
N_DIRECTIONS = 100  # of the space in which k-means runs
TYPICAL_COUNT = 3.0  # what an entry of TF-IDF counts for in LDA, on average
SHARPNESS = 20.0  # of the softmax over cosines; at 20 an item has about three clusters that matter
KEPT, LEAST = 10, 0.02  # memberships of an item: at most so many, each at least so large
BLOCK = 4_096  # rows assigned at a time


@dataclass(frozen=True, slots=True, eq=False)
class SoftClusters:
    """Memberships of items in clusters.

    memberships : float32 CSR of shape (n_items, n_clusters); rows sum to 1
    method : how they were found
    """

    memberships: sparse.csr_matrix
    method: str

    @property
    def n_items(self) -> int:
        """Items that were clustered."""
        return int(self.memberships.shape[0])

    @property
    def n_clusters(self) -> int:
        """Clusters, the one for items without features included where there is one."""
        return int(self.memberships.shape[1])


def soft_clusters(
    X: Matrix, method: str = "kmeans", n_clusters: int | None = None, seed: int = 0, sample: int = 50_000
) -> SoftClusters:
    """Find soft clusters of the rows of X.

    An item keeps its 10 largest memberships that are at least 0.02, scaled to sum to 1. Items that no cluster explains
    (rows without features among them) are not spread over all: they share one more cluster, the last, if there are any.
    The same X and seed give the same clusters.

    Parameters
    ----------
    X : dense array or CSR matrix of shape (n_items, n_columns)
        Of sparse rows the 20,000 columns are used that most items have.
    method : "kmeans", "lda" or "nmf"
        k-means in the space of the main directions, softened by the cosine to each centre, much the fastest; latent
        Dirichlet allocation of counts (or weights like TF-IDF); non-negative matrix factorisation. The last two need
        X ≥ 0.
    n_clusters : int, or None for 200, or a fifth of the items where these are less than 1,000
    seed : int
    sample : int
        Items to fit on, at most.

    >>> rows = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    >>> clusters = soft_clusters(rows, n_clusters=3)
    >>> clusters.memberships.max(axis=1).toarray().min().item()  # each item has one home
    1.0
    """
    from threadpoolctl import threadpool_limits

    X, filled = _checked(X, method)
    n_clusters = _checked_number(n_clusters, filled.size)
    if sample < n_clusters:
        raise InputError(f"sample must be at least n_clusters = {n_clusters}, got {sample!r}.")
    rng = np.random.default_rng([seed, n_clusters])
    chosen = filled if filled.size <= sample else np.sort(rng.choice(filled, sample, replace=False))
    # sums of several threads depend on how many there are
    with threadpool_limits(limits=1):
        assign = METHODS[method](X[chosen], n_clusters, int(rng.integers(2**31)))
        memberships = _assigned(X, assign)
    return SoftClusters(memberships, method)


def _checked(X: Matrix, method: str) -> tuple[Matrix, IntArray]:
    """Return X as float32 CSR or array with the columns to use, and the rows that have features."""
    from riffler.data.finite import check_finite_matrix

    if method not in METHODS:
        raise UnknownName.among("method of clustering", method, METHODS)
    X = X.tocsr() if is_sparse(X) else np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"Clusters need rows with at least one column, got shape {X.shape}.")
    check_finite_matrix(X, "features to cluster")
    values = X.data if is_sparse(X) else X
    if method != "kmeans" and values.size and values.min() < 0:
        raise InputError(f"method={method!r} needs values of at least 0, got {values.min()}. Use method='kmeans'.")
    if is_sparse(X) and X.shape[1] > N_COLUMNS:
        n_items = np.bincount(X.indices, minlength=X.shape[1])
        X = X[:, np.sort(np.argsort(-n_items, kind="stable")[:N_COLUMNS])]
    filled = np.flatnonzero(np.diff(X.indptr) if is_sparse(X) else X.any(axis=1))
    return X.astype(np.float32, copy=False), filled


def _checked_number(n_clusters: int | None, n_filled: int) -> int:
    if n_clusters is None:
        n_clusters = max(1, min(N_CLUSTERS, n_filled // 5))
    if not 1 <= n_clusters <= n_filled:
        raise InputError(
            f"n_clusters must be at least 1 and at most the number of items with features, {n_filled:,}; "
            f"got {n_clusters!r}."
        )
    return n_clusters


def _assigned(X: Matrix, assign: Assign) -> sparse.csr_matrix:
    """Memberships of all rows, a block at a time; those without any get the last cluster, if there are some."""
    from scipy import sparse

    parts = [kept_memberships(assign(X[start : start + BLOCK])) for start in range(0, X.shape[0], BLOCK)]
    memberships: sparse.csr_matrix = sparse.vstack(parts, format="csr")
    homeless = np.diff(memberships.indptr) == 0
    if homeless.any():
        last = sparse.csr_matrix(homeless[:, None].astype(np.float32))
        memberships = sparse.hstack([memberships, last], format="csr")
    return memberships


def kept_memberships(affinities: FloatArray) -> sparse.csr_matrix:
    """Scale rows to sum to 1, drop what is small, and scale again; a row of zeros stays empty."""
    from scipy import sparse

    n_kept = min(KEPT, affinities.shape[1])
    columns = np.argpartition(affinities, -n_kept, axis=1)[:, -n_kept:]
    shares = np.take_along_axis(affinities, columns, axis=1).astype(np.float64)
    total = affinities.sum(axis=1, keepdims=True, dtype=np.float64)
    np.divide(shares, total, out=shares, where=total > 0)
    shares[shares < np.minimum(LEAST, shares.max(axis=1, keepdims=True))] = 0.0
    total = shares.sum(axis=1, keepdims=True)
    np.divide(shares, total, out=shares, where=total > 0)
    rows = np.repeat(np.arange(shares.shape[0]), n_kept)
    kept = sparse.csr_matrix((shares.ravel().astype(np.float32), (rows, columns.ravel())), affinities.shape)
    kept.eliminate_zeros()
    return kept


def _lda(X: Matrix, n_clusters: int, seed: int) -> Assign:
    """Topics of the documents: online variational Bayes, three passes.

    Weights that are no counts are scaled first: unit rows would be documents of a few words, which tell topics badly.
    """
    from sklearn.decomposition import LatentDirichletAllocation

    values = X.data if is_sparse(X) else X[X > 0]
    counted = bool((values == np.floor(values)).all())
    scale = np.float32(1.0 if counted else TYPICAL_COUNT / values.mean(dtype=np.float64))
    model = LatentDirichletAllocation(
        n_clusters, learning_method="online", batch_size=256, max_iter=3, max_doc_update_iter=50, random_state=seed
    )
    model.fit(X * scale)
    return lambda rows: _of_filled(rows, n_clusters, lambda filled: model.transform(filled * scale))


def _nmf(X: Matrix, n_clusters: int, seed: int) -> Assign:
    """Non-negative parts: each row is a sum of them, and belongs to each as much as it takes from it."""
    from sklearn.decomposition import MiniBatchNMF

    init = "nndsvda" if n_clusters <= min(X.shape) else "random"
    # tol=0: the passes are few and all made, so there is nothing to warn of
    model = MiniBatchNMF(n_clusters, init=init, batch_size=1024, max_iter=20, tol=0.0, random_state=seed)
    model.fit(X)
    size = model.components_.sum(axis=1)  # a part may be large where its weights are small
    return lambda rows: model.transform(rows) * size


@dataclass(frozen=True, slots=True, eq=False)
class KMeansAffinity:
    """exp(SHARPNESS · cosine to each centre), of rows in the main directions (None: as they are).

    directions : shape (n_directions, n_columns); centres : unit rows, shape (n_clusters, n_directions)
    """

    directions: FloatArray | None
    centres: FloatArray

    def __call__(self, rows: Matrix) -> FloatArray:
        """Affinities of rows, shape (n_rows, n_clusters)."""
        from riffler._fast.cosines import cosines_to

        placed = _placed(rows, self.directions)
        cosines = np.empty((placed.shape[0], self.centres.shape[0]))
        cosines_to(placed, np.ascontiguousarray(self.centres.T, dtype=np.float64), cosines)
        affinities: FloatArray = np.exp(SHARPNESS * (cosines - cosines.max(axis=1, keepdims=True)))
        affinities[~placed.any(axis=1)] = 0.0
        return affinities


def kmeans_affinity(X: Matrix, n_clusters: int, seed: int) -> KMeansAffinity:
    """k-means of unit rows in the main directions."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    n_directions = min(N_DIRECTIONS, X.shape[1] - 1)
    reduced = n_directions == N_DIRECTIONS
    directions = TruncatedSVD(n_directions, random_state=seed).fit(X).components_ if reduced else None
    unit = normalize(_placed(X, directions))
    model = MiniBatchKMeans(n_clusters, batch_size=4096, n_init=1, random_state=seed).fit(unit)
    return KMeansAffinity(directions, normalize(model.cluster_centers_))


def _placed(rows: Matrix, directions: FloatArray | None) -> FloatArray:
    """Rows in the main directions, dense."""
    placed = rows if directions is None else rows @ directions.T
    dense: FloatArray = placed.toarray() if is_sparse(placed) else np.ascontiguousarray(placed)
    return dense


def _of_filled(rows: Matrix, n_clusters: int, assign: Assign) -> FloatArray:
    """Affinities where rows without features have none, whatever the method makes of them."""
    affinities = np.zeros((rows.shape[0], n_clusters))
    filled = np.flatnonzero(np.diff(rows.indptr) if is_sparse(rows) else rows.any(axis=1))
    if filled.size:
        affinities[filled] = assign(rows[filled])
    return affinities


METHODS: dict[str, Callable[[Matrix, int, int], Assign]] = {"kmeans": kmeans_affinity, "lda": _lda, "nmf": _nmf}
"""The one table of methods: each fits on sample rows and returns what assigns any rows."""
