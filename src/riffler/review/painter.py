"""Makes the pictures of a search when they are due: none takes more than a small share of the learner's time."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.ledger import RELEVANT
from riffler.review.panel import Panel, Reading
from riffler.review.pictures import Picture

if TYPE_CHECKING:
    from riffler.features.cluster_map import ClusterMap
    from riffler.review.live import LiveSearch
    from riffler.review.rounds import Revision
    from riffler.search.loop import ActiveSearch

N_TERMS = 30  # more would mark every other word
PROGRESS_SECONDS = 0.3
BUSY_SHARE, IDLE_SHARE = 0.05, 1.0
"""Of the time, that one picture may take: while there is something to learn, and when there is not."""


@dataclass
class Schedule:
    """When a picture is made again: after so many seconds at the least, later where it takes long."""

    every: float
    made_at: float = -np.inf
    took: float = 0.0
    known: object = None  # what it was made of

    def is_due(self, moment: float, state: object, share: float) -> bool:
        """Tell whether something is new, and the time has come."""
        return state != self.known and moment - self.made_at >= max(self.every, self.took / share)


def _schedules() -> dict[str, Schedule]:
    return {
        "progress": Schedule(PROGRESS_SECONDS),
        "terms": Schedule(1.0),
        "scores": Schedule(10.0),
        "map": Schedule(10.0),
    }


@dataclass
class Painter:
    """Makes pictures of a search, and knows when each was made.

    The clusters of the map are found in the background, once for a collection.
    """

    live: LiveSearch
    _schedules: dict[str, Schedule] = field(default_factory=_schedules)
    _background: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "map"))
    _clusters: Future[ClusterMap] | None = None
    _mapped: object = None  # the ids of the collection that the clusters are of
    _search: ActiveSearch | None = None
    _revision: Revision | None = None
    _panel: Panel | None = None

    def due(self, ledger_id: int, learner: dict[str, Any], share: float) -> list[Picture]:
        """Return the pictures that are due; ``ledger_id`` is the last row that the search knows."""
        self._look()
        made = []
        for name, make in self._makers(learner).items():
            schedule, state = self._schedules[name], (ledger_id, self.live.revision)
            start = time.monotonic()
            if schedule.is_due(start, state, share):
                made.append(make(ledger_id))
                is_first = schedule.known is None  # it loads what the next ones find there
                schedule.made_at, schedule.known = time.monotonic(), state
                schedule.took = 0.0 if is_first else schedule.made_at - start
        return made

    def close(self) -> None:
        """Do not wait for what is going on in the background."""
        self._background.shutdown(wait=False, cancel_futures=True)

    def _look(self) -> None:
        """Notice a search that was made anew, and other documents."""
        search = self.live.search
        if (search, self.live.revision) != (self._search, self._revision):
            self._search, self._revision = search, self.live.revision
            self._panel = Panel(self.live.review, search, self._revision)
            self._schedules["progress"] = Schedule(PROGRESS_SECONDS)  # at once: what it claimed was withdrawn
        if search.features is not None and search.collection.ids is not self._mapped:
            self._mapped = search.collection.ids
            self._clusters = self._background.submit(search.cluster_map)

    def _makers(self, learner: dict[str, Any]) -> dict[str, Callable[[int], Picture]]:
        assert self._panel is not None
        assert self._search is not None
        panel, search = self._panel, self._search
        makers: dict[str, Callable[[int], Picture]] = {
            "progress": lambda at: Picture.of("progress", at, panel.values(learner)),
            "terms": lambda at: Picture.of("terms", at, [[term, float(one)] for term, one in search.terms(N_TERMS)]),
        }
        if search.features is not None:  # of a collection on disk neither all scores nor a map are made
            makers["scores"] = lambda at: Picture("scores", at, search.scores().astype(np.float32).tobytes())
        if self._clusters is not None and self._clusters.done():
            clusters = self._clusters.result()
            makers["map"] = lambda at: Picture.of("map", at, map_of(clusters, panel.reading()))
        return makers


def map_of(clusters: ClusterMap, read: Reading) -> dict[str, Any]:
    """Return the clusters, with what has been explored of each."""
    at = clusters.cluster_of[read.rows]
    n_reviewed = np.bincount(at, minlength=clusters.n_clusters)
    n_relevant = np.bincount(at[read.answers == RELEVANT], minlength=clusters.n_clusters)
    places = zip(clusters.x, clusters.y, clusters.radius, clusters.size, n_reviewed, n_relevant, strict=True)
    return {
        "clusters": [
            {
                "x": float(x),
                "y": float(y),
                "radius": float(radius),
                "size": int(size),
                "words": list(words),
                "n_reviewed": int(read_here),
                "n_relevant": int(found),
            }
            for (x, y, radius, size, read_here, found), words in zip(places, clusters.words, strict=True)
        ]
    }
