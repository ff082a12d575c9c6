"""A search on a durable review: takes in what people answered, fills the queue, and can be made anew at any moment."""

from __future__ import annotations

from itertools import groupby

from riffler.ledger import Entry
from riffler.review.queue import Proposal
from riffler.review.store import Review
from riffler.search.loop import ActiveSearch

WHY = {"policy": "looks most worth reading now", "control": "drawn at random, to measure what is still missing"}


class LiveSearch:
    """Keeps an ``ActiveSearch`` and its review in step; one at a time for a review.

    What the search takes in is written down before anything that follows from it is queued. So a search that is killed
    anywhere and made anew goes on with the same suggestions.
    """

    def __init__(self, review: Review) -> None:
        self.review = review
        self.search = self._rebuild()

    def refresh(self, n: int) -> list[str]:
        """Take in all answers, and put the next n suggestions into the queue; returns their ids."""
        pending = self.review.pending()
        while self.review.revision() != self.revision:  # asked last: of what changed before, nothing is overlooked
            self.search = self._rebuild()
            pending = self.review.pending()
        self._take(pending)
        names = self.search.suggest(n)
        self._save()  # looking for suggestions can end a round as well
        scores = dict(zip(self.search.collection.ids, self.search.scores().tolist(), strict=True))
        origin = self.search.batch_origin
        at = self.search.progress()
        chance = 1.0 / max(1, at.n_items - at.n_reviewed) if origin == "control" else 1.0
        self.review.fill_queue([Proposal(name, origin, at.round, chance, scores[name], WHY[origin]) for name in names])
        return names

    def _rebuild(self) -> ActiveSearch:
        self.revision = self.review.revision()  # read first: what changes meanwhile is noticed the next time
        search = ActiveSearch.replay(
            self.review.collection(), self.review.ledger(), **self.review.settings.for_search()
        )
        self._n_entries, self._n_events = len(search.ledger), len(search.ledger.events)
        return search

    def _take(self, pending: list[Entry]) -> None:
        """Take in what waits; control documents are rounds of their own, which the policy does not notice."""
        for _, entries in groupby(pending, key=lambda entry: entry.origin == "control"):
            self.search.take_in(entries)
        self._save()

    def _save(self) -> None:
        entries, events = list(self.search.ledger)[self._n_entries :], self.search.ledger.events[self._n_events :]
        if entries or events:
            self.review.record_rounds(entries, events)
        self._n_entries += len(entries)
        self._n_events += len(events)
