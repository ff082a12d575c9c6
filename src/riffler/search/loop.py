"""The search itself: score, select, reveal, update, until everything relevant is found or nobody wants to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from riffler.data.collection import Collection
from riffler.engine import LocalEngine
from riffler.errors import InputError, LabelError
from riffler.features.bm25 import bm25_scores
from riffler.features.text import TextFeatures
from riffler.ledger import RELEVANT, UNKNOWN, Item, Ledger
from riffler.oracles.base import checked_answer
from riffler.records import FloatArray, IntArray, Matrix
from riffler.search import policy_from
from riffler.search.classifier import WarmClassifier
from riffler.search.view import Policy, SearchView

PRESUMED = 500  # items drawn once and taken for irrelevant until they are reviewed


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """How far a search has come."""

    n_items: int
    n_reviewed: int
    n_relevant: int
    round: int


class ActiveSearch:
    """Walk through a collection: ``suggest`` what to review next, ``answer`` what it was.

    The same collection, seed and answers in the same order give the same suggestions, so a search can be rebuilt from
    its ledger alone (:meth:`replay`).

    Parameters
    ----------
    collection : texts with stable ids
    policy : "greedy", "uncertainty", "random" or an object with ``propose``
    features : matrix with a row for each item, or None for TF-IDF of words and pairs
    description : what is sought, in a sentence; ranks the items while nothing relevant is known
    seed : int

    >>> import polars as pl
    >>> from riffler import collection_from_frame
    >>> texts = ["snow on the alps", "deep snow falls", "a warm beach", "sun and sea", "the snow melts", "beach sand"]
    >>> collection = collection_from_frame(pl.DataFrame({"id": list("abcdef"), "title": texts}))
    >>> search = ActiveSearch(collection, description="snow", seed=0)
    >>> search.suggest(1)
    ['a']
    >>> search.answer(["a", "c"], [1, 0])
    >>> sorted(search.suggest(2))
    ['b', 'e']
    """

    def __init__(
        self,
        collection: Collection,
        *,
        policy: str | Policy = "greedy",
        features: Matrix | None = None,
        description: str | None = None,
        seed: int = 0,
    ) -> None:
        self.collection = collection
        self.ledger = Ledger()
        self._policy = policy_from(policy)
        if features is None:
            features = TextFeatures(ngram_range=(1, 2), stop_words=None, max_df=0.95).fit_transform(collection.texts)
        if features.shape[0] != collection.n_items:
            raise InputError(
                f"features must have a row for each of the {collection.n_items:,} items, got {features.shape[0]:,}."
            )
        self._engine = LocalEngine([features])
        self._classifier = WarmClassifier(self._engine)
        self._row_of = {name: row for row, name in enumerate(collection.ids)}
        self._labels: IntArray = np.full(collection.n_items, UNKNOWN, dtype=np.int8)
        self._asked = np.zeros(collection.n_items, dtype=bool)
        self._seed, self._round = seed, 0
        self._presumed = np.random.default_rng([seed, 0]).permutation(collection.n_items)[:PRESUMED]
        self._scores: FloatArray = np.zeros(collection.n_items)
        if description is not None:
            self._scores = np.asarray(bm25_scores(collection.texts, description), dtype=float)

    @classmethod
    def replay(
        cls,
        collection: Collection,
        ledger: Ledger,
        *,
        policy: str | Policy = "greedy",
        features: Matrix | None = None,
        description: str | None = None,
        seed: int = 0,
    ) -> ActiveSearch:
        """Rebuild a search from its ledger: the same rounds, in the same order."""
        search = cls(collection, policy=policy, features=features, description=description, seed=seed)
        for _, entries in groupby(ledger, key=lambda entry: entry.round):
            batch = list(entries)
            search.answer([str(entry.item) for entry in batch], [entry.answer for entry in batch], batch[0].origin)
        return search

    def suggest(self, n: int = 1) -> list[str]:
        """Return the ids of the next n items to review; fewer where not so many are left."""
        if n < 1:
            raise InputError(f"n must be at least 1, got {n!r}.")
        view = SearchView(
            self._engine, self._scores, self._asked, np.flatnonzero(self._labels == RELEVANT), self._round,
            np.random.default_rng([self._seed, 1 + self._round]),
        )  # fmt: skip
        return [self.collection.ids[row] for row in self._policy.propose(view, n).tolist()]

    def answer(self, ids: Sequence[str], labels: Iterable[object], origin: str = "policy") -> None:
        """Take in answers: 1 or yes, 0 or no, None or ? for "don't know"; all of them, or none if one is bad."""
        answers = [checked_answer(label, name) for name, label in zip(ids, labels, strict=True)]
        rows = self._rows_of(ids)
        items: list[Item] = list(ids)
        self.ledger.record(
            items, round=self._round, origin=origin, in_top=False, probability=1.0, answers=answers, cost=1.0
        )
        self._labels[rows] = answers
        self._asked[rows] = True
        self._round += 1
        self._learn()

    def _rows_of(self, ids: Sequence[str]) -> IntArray:
        unknown = [name for name in ids if name not in self._row_of]
        if unknown:
            raise InputError(f"No item has the id {unknown[0]!r}. Answer with the ids that suggest() returned.")
        rows = np.array([self._row_of[name] for name in ids], dtype=np.int64)
        again = [name for name, row in zip(ids, rows, strict=True) if self._asked[row]]
        if again or len(set(ids)) < len(ids):
            twice = again[0] if again else next(name for name in ids if list(ids).count(name) > 1)
            raise LabelError(f"Item {twice!r} has an answer already. Answer each item once.")
        return rows

    def _learn(self) -> None:
        known = np.flatnonzero(self._labels != UNKNOWN)
        if not (self._labels[known] == RELEVANT).any():
            return  # what was scored before stays the best guess
        presumed = self._presumed[~self._asked[self._presumed]]
        model = self._classifier.fit(known, self._labels[known], presumed)
        self._scores = model.scores(self._engine)

    def progress(self) -> SearchProgress:
        """Say how far the search has come."""
        return SearchProgress(
            n_items=self.collection.n_items,
            n_reviewed=int(self._asked.sum()),
            n_relevant=int((self._labels == RELEVANT).sum()),
            round=self._round,
        )
