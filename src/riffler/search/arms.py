"""Soft clusters of a search: given, or fitted in the background while the review has already begun."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from riffler.engine import LocalEngine
from riffler.ledger import Event, Ledger

if TYPE_CHECKING:
    from scipy import sparse

    from riffler.features.clusters import SoftClusters

JOINED = "clusters"
"""Name of the event in the ledger: from this round on the policy sees clusters."""


class Arms:
    """Memberships of the items, from the round on in which they were ready.

    The ledger records that round. A replay waits there for the same clusters, so it makes the same suggestions.
    """

    def __init__(self, clusters: SoftClusters | str | None, engine: LocalEngine, seed: int) -> None:
        self.memberships: sparse.csr_matrix | None = None
        self._work: Future[SoftClusters] | None = None
        if isinstance(clusters, str):
            from riffler.features.clusters import soft_clusters

            pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="riffler-clusters")
            every = engine.rows(np.arange(engine.n_rows))
            self._work = pool.submit(soft_clusters, every, method=clusters, seed=seed)
            pool.shutdown(wait=False)
        elif clusters is not None:
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
            self.memberships, self._work = self._work.result().memberships, None
