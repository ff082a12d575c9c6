"""Score the collection from what is known: the classifier of a search, and the items it presumes to be irrelevant."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from riffler.engine import Engine
from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.answers import Answers
from riffler.search.classifier import WarmClassifier
from riffler.search.costs import Costs, SideCosts
from riffler.search.ranking import LinearScores, Ranking, Scores
from riffler.search.row_store import RowStore


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """How a search learns.

    loss : "squared_hinge" or "logistic"
    costs : price of a mistake about each row
    presumed : unread items that are taken for irrelevant
    fresh : draw them anew each round (as AutoTAR does) instead of once
    """

    loss: str = "squared_hinge"
    costs: Costs = SideCosts()  # noqa: RUF009 - frozen
    presumed: int = 500
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.presumed < 0:
            raise InputError(f"presumed must be at least 0, got {self.presumed!r}.")


class Learner:
    """Fits the classifier after each round and scores every item.

    order : the items in a random order that does not depend on how they are sorted
    place : of each item in that order
    """

    def __init__(
        self, engine: Engine, settings: ClassifierSettings, order: IntArray, place: IntArray, seed: int
    ) -> None:
        self._settings, self._order, self._place, self._seed = settings, order, place, seed
        self._classifier = WarmClassifier(engine, loss=settings.loss, costs=settings.costs, store=self._store(engine))

    def ranking(self, answers: Answers) -> Ranking | None:
        """Score every item from the answers to some; None while nothing relevant is known.

        Within a turn the order of the answers does not matter.
        """
        rows = answers.rows[np.lexsort((self._place[answers.rows], answers.turns))]
        labels = answers.labels[rows]
        if not (labels == RELEVANT).any():
            return None
        known = labels != UNKNOWN
        return self._fitted(rows[known], labels[known], self._presumed(answers.seen, answers.turn))

    def copy(self) -> Learner:
        """Return a learner that goes on by itself from here."""
        twin = copy(self)
        twin._classifier = self._classifier.copy()
        return twin

    def column_weights(self) -> FloatArray:
        """Return the present weight of each column; all 0 while nothing relevant is known."""
        return self._classifier.column_weights()

    def _store(self, engine: Engine) -> RowStore | None:
        """Leave it to the classifier how rows are kept."""
        return None

    def _fitted(self, rows: IntArray, labels: IntArray, presumed: IntArray) -> Ranking:
        return Scores(self._classifier.fit(rows, labels, presumed))

    def _presumed(self, seen: BoolArray, turn: int) -> IntArray:
        n = self._settings.presumed
        if not self._settings.fresh:
            first = self._order[:n]
            return first[~seen[first]]
        unread = self._order[~seen[self._order]]
        rng = np.random.default_rng([self._seed, turn])
        return rng.choice(unread, size=min(n, unread.size), replace=False, shuffle=False)


class LeanLearner(Learner):
    """Fits the classifier after each round, and leaves the scores of all items to those who want the best of them."""

    def __init__(
        self, engine: Engine, settings: ClassifierSettings, order: IntArray, place: IntArray, seed: int
    ) -> None:
        super().__init__(engine, settings, order, place, seed)
        self._engine = engine

    def _store(self, engine: Engine) -> RowStore:
        return RowStore(engine)

    def _fitted(self, rows: IntArray, labels: IntArray, presumed: IntArray) -> Ranking:
        self._classifier.learn(rows, labels, presumed)
        weights = self._classifier.weights
        return LinearScores(self._engine, weights[:-1].copy(), float(weights[-1]))
