"""A search on a durable review: takes in what people answered, fills the queue, and can be made anew at any moment."""

from __future__ import annotations

from itertools import groupby
from types import TracebackType
from typing import Self

from riffler.cores import n_cores
from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.engine import Engine, LocalEngine, engine_from, rows_on_disk
from riffler.ledger import Entry
from riffler.review.queue import Proposal
from riffler.review.store import Review
from riffler.search.features import SearchFeatures
from riffler.search.ground import Place
from riffler.search.loop import ActiveSearch
from riffler.search.snapshot import Snapshot, newest_common, worth_keeping

WHY = {"policy": "looks most worth reading now", "control": "drawn at random, to measure what is still missing"}


class LiveSearch:
    """Keeps an ``ActiveSearch`` and its review in step; one at a time for a review.

    What the search takes in is written down before anything that follows from it is queued. So a search that is killed
    anywhere and made anew goes on with the same suggestions.

    After an undo or a correction the search goes back to a moment before it, and takes in the rounds since then; the
    suggestions are those of a search that is made anew.

    place : where the heavy steps on a collection on disk run; what was made there ends by :meth:`close`
    """

    def __init__(self, review: Review, place: Place = Place()) -> None:  # noqa: B008 - frozen
        self.review = review
        self._place = place
        self._engine: Engine | None = None  # of a collection on disk
        self.revision = review.revision()  # read first: what changes meanwhile is noticed the next time
        try:
            self.search = self._replayed(review.opened_folder() or review.collection(), None)
        except BaseException:
            self.close()  # nobody gets hold of it
            raise

    def close(self) -> None:
        """Let go of the engine of a collection on disk: the connection to a cluster, and a cluster of its own."""
        if self._engine is not None:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def refresh(self, n: int, *, ahead: int = 0) -> list[str]:
        """Take in all answers, and put the next n suggestions into the queue; returns their ids.

        Behind these the queue gets so many of the policy's that there are ``ahead``: n is what a reader is asked to
        judge before the search has learned, ``ahead`` what there is to read should it be late.
        """
        self._save()  # what could not be written the last time: the disk may have room now
        pending = self.review.pending()
        while self.review.revision() != self.revision:  # asked last: of what changed before, nothing is overlooked
            self._follow_changes()
            pending = self.review.pending()
        self._take(pending)
        in_hand = self.review.names_in_hand()  # somebody reads it, or has: more is looked for behind it
        batch = self.search.suggest(n + len(in_hand))
        self._save()  # looking for suggestions can end a round as well
        names = [name for name in batch if name not in in_hand][:n]
        proposals = self._proposals(names, self.search.batch_origin)
        if len(names) < ahead:
            more = self.search.look_ahead(ahead + len(in_hand))
            further = [name for name in more if name not in names and name not in in_hand]
            proposals += self._proposals(further[: ahead - len(names)], "policy")
        if isinstance(self.search.collection, DiskCollection):
            self.review.bring_in(self.search.collection, [one.document for one in proposals])
        self.review.fill_queue(proposals)
        return names

    def _proposals(self, names: list[str], origin: str) -> list[Proposal]:
        at = self.search.progress()
        whys = [WHY[origin]] * len(names)
        if origin == "policy":
            told = self.search.reasons(names)
            whys = [f"{WHY[origin]}: {', '.join(words)}" if words else WHY[origin] for words in told]
        return [
            Proposal(name, origin, at.round, self.search.probability(name), score, why)
            for name, score, why in zip(names, self.search.scores_of(names), whys, strict=True)
        ]

    def _follow_changes(self) -> None:
        """Bring the search in step with what it cannot take in: an undo, a correction, documents, other settings."""
        before, found = self.revision, self.review.revision()
        if before.n_strata != found.n_strata:
            self.search = self._replayed(self.review.collection(), None)
        elif before.n_settings != found.n_settings:
            self.search = self._replayed(self.search.collection, self.search.features)
        else:
            self._go_back()
        self.revision = found  # not before: where the database could not be read it is tried again

    def _replayed(self, collection: Collection | DiskCollection, features: SearchFeatures | None) -> ActiveSearch:
        self._kept: dict[int, Snapshot] = {}
        self._n_kept = 0
        settings = self.review.settings.for_search()
        if isinstance(collection, DiskCollection):
            if self._engine is None:
                self._engine = _engine(collection, self._place)
            settings["clusters"] = None  # the folder has its own
            search = ActiveSearch.replay(collection, self.review.ledger(), engine=self._engine, **settings)
        else:
            strata = list(self.review.strata().values())
            search = ActiveSearch.replay(collection, self.review.ledger(), features=features, strata=strata, **settings)
        self._n_entries, self._n_events = len(search.ledger), len(search.ledger.events)
        return search

    def _go_back(self) -> None:
        ledger = self.review.ledger()
        kept = newest_common(list(self._kept.values()), self.search.ledger, ledger)
        if kept is None:
            self.search = self._replayed(self.search.collection, self.search.features)
            return
        self.search.go_back(kept, ledger)
        self._kept = {number: one for number, one in self._kept.items() if one.n_entries <= kept.n_entries}
        self._n_entries, self._n_events = len(self.search.ledger), len(self.search.ledger.events)

    def _take(self, pending: list[Entry]) -> None:
        """Take in what waits; control documents are rounds of their own, which the policy does not notice."""
        if pending:
            self._keep()
        for _, entries in groupby(pending, key=lambda entry: entry.origin == "control"):
            self.search.take_in(entries)
        self._save()

    def _keep(self) -> None:
        """Keep this moment, and let go of those that are no longer worth their room."""
        self._n_kept += 1
        self._kept[self._n_kept] = self.search.snapshot()
        self._kept = {number: one for number, one in self._kept.items() if worth_keeping(number, self._n_kept)}

    def _save(self) -> None:
        entries, events = list(self.search.ledger)[self._n_entries :], self.search.ledger.events[self._n_events :]
        if entries or events:
            self.review.record_rounds(entries, events)
        self._n_entries += len(entries)
        self._n_events += len(events)


def _engine(collection: DiskCollection, place: Place) -> Engine:
    """Make the engine of a collection on disk; on this machine the page keeps a core for itself."""
    rows = rows_on_disk(collection)
    if place.engine == "local":
        return LocalEngine(rows, threads=max(1, n_cores() - 1))
    return engine_from(place.engine, rows, place.tls)
