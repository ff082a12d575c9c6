"""Score the collection from what is known: the classifier of a search, and the items it presumes to be irrelevant."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from riffler.engine import LocalEngine
from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.answers import Answers
from riffler.search.classifier import WarmClassifier
from riffler.search.costs import Costs, SideCosts


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
    """

    def __init__(self, engine: LocalEngine, settings: ClassifierSettings, order: IntArray, seed: int) -> None:
        self._settings, self._order, self._seed = settings, order, seed
        self._place: IntArray = np.argsort(order)
        self._classifier = WarmClassifier(engine, loss=settings.loss, costs=settings.costs)

    def scores(self, answers: Answers) -> FloatArray | None:
        """Score every item from the answers to some; None while nothing relevant is known.

        Within a turn the order of the answers does not matter.
        """
        rows = answers.rows[np.lexsort((self._place[answers.rows], answers.turns))]
        labels = answers.labels[rows]
        if not (labels == RELEVANT).any():
            return None
        known = labels != UNKNOWN
        return self._classifier.fit(rows[known], labels[known], self._presumed(answers.seen, answers.turn))

    def copy(self) -> Learner:
        """Return a learner that goes on by itself from here."""
        twin = copy(self)
        twin._classifier = self._classifier.copy()
        return twin

    def column_weights(self) -> FloatArray:
        """Return the present weight of each column; all 0 while nothing relevant is known."""
        return self._classifier.column_weights()

    def _presumed(self, seen: BoolArray, turn: int) -> IntArray:
        n = self._settings.presumed
        if not self._settings.fresh:
            first = self._order[:n]
            return first[~seen[first]]
        unread = self._order[~seen[self._order]]
        rng = np.random.default_rng([self._seed, turn])
        return rng.choice(unread, size=min(n, unread.size), replace=False, shuffle=False)
