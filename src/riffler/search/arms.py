"""Soft clusters of a search: given, or fitted in the background while the review has already begun."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from riffler.engine import Engine
from riffler.errors import InputError, UnknownName
from riffler.features.clusters import METHODS, SoftClusters, soft_clusters
from riffler.ledger import Event, Ledger
from riffler.records import IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    from scipy import sparse

JOINED = "clusters"
"""Name of the event in the ledger: from this round on the policy sees clusters."""


class Arms:
    """Memberships of the items, from the round on in which they were ready.

    The ledger records that round. A replay waits there for the same clusters, so it makes the same suggestions.

    order : the items in an order that does not depend on how they are sorted, in which they are clustered
    """

    def __init__(self, clusters: SoftClusters | str | None, engine: Engine, order: IntArray, seed: int) -> None:
        self.memberships: sparse.csr_matrix | None = None
        self._work: Future[sparse.csr_matrix] | None = None
        if isinstance(clusters, str):
            if clusters not in METHODS:
                raise UnknownName.among("method of clustering", clusters, METHODS)
            pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="riffler-clusters")
            self._work = pool.submit(_memberships, engine.rows(order), clusters, seed, np.argsort(order))
            pool.shutdown(wait=False)
        elif clusters is not None:
            if clusters.n_items != engine.n_rows:
                raise InputError(
                    f"clusters must be those of the {engine.n_rows:,} items, got memberships of {clusters.n_items:,}."
                )
            self.memberships = clusters.memberships

    def join_when_ready(self, ledger: Ledger, round: int) -> None:
        """Let finished clusters join, and write down when."""
        if self._work is not None and self._work.done():
            self._join()
            ledger.note(Event(round, JOINED))

    def join_as_recorded(self, ledger: Ledger, recorded: Ledger, round: int) -> None:
        """Let clusters join where a recorded search had them join; wait for them if need be."""
        for event in recorded.events:
            if event.name == JOINED and event.round == round and self._work is not None:
                self._join()
                ledger.note(event)

    def _join(self) -> None:
        if self._work is not None:
            work, self._work = self._work, None  # what went wrong is said once, and the search can go on without
            self.memberships = work.result()


def _memberships(rows: Matrix, method: str, seed: int, places: IntArray) -> sparse.csr_matrix:
    return search_clusters(rows, method, seed).memberships[places]


def search_clusters(features: Matrix, method: str, seed: int = 0) -> SoftClusters:
    """Soft clusters of the rows of a search.

    LDA and NMF need values of at least 0: of sparse rows they get the columns that have no others. So they see words
    and not the latent directions beside them.
    """
    if method != "kmeans" and is_sparse(features):
        positive = features.min(axis=0).toarray().ravel() >= 0
        if positive.any() and not positive.all():
            features = features[:, positive]
    return soft_clusters(features, method=method, seed=seed)
