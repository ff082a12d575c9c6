"""Simulated reviews: a collection in the order of its ranking, answered from known labels, stopped by a rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.ledger import Entry
from riffler.records import BoolArray, IntArray
from riffler.stopping import Progress, StoppingRule


@dataclass(frozen=True, slots=True)
class Outcome:
    """Recall of everything read when the rule stopped, and how many documents that were."""

    recall: float
    cost: int
    stopped: bool  # before everything was read


def ranked_labels(
    rng: np.random.Generator, n_items: int, n_relevant: int, gap: float = 3.0, hard: float = 0.05
) -> IntArray:
    """Labels in the order of a ranking: normal scores, the relevant ones higher by ``gap``, a few hard ones by 1."""
    labels = np.zeros(n_items, dtype=np.int8)
    labels[:n_relevant] = 1
    scores = rng.normal(size=n_items)
    scores[:n_relevant] += np.where(rng.random(n_relevant) < hard, 1.0, gap)
    ordered: IntArray = labels[np.argsort(-scores)]
    return ordered


class Review:
    """A review in progress; item i is the i-th in the ranking."""

    def __init__(self, labels: IntArray, rng: np.random.Generator, *, blind: bool) -> None:
        self.labels, self.blind = labels, blind
        self.order = rng.permutation(labels.size)
        self.labelled: BoolArray = np.zeros(labels.size, dtype=bool)
        self.entries: list[Entry] = []
        self.rank = self.reach = self.n_read = 0

    def _ask(self, item: int, origin: str, round: int) -> None:
        probability = 1.0 / (self.labels.size - self.n_read) if origin == "control" else 1.0
        again = bool(self.labelled[item])
        cost = 0.0 if again else 1.0
        self.entries.append(Entry(item, round, origin, False, probability, int(self.labels[item]), cost, ""))
        self.labelled[item] = True
        self.n_read += not again

    def _skip(self) -> None:
        while self.reach < self.labels.size and self.labelled[self.order[self.reach]]:
            self.reach += 1

    def draw(self, n: int, round: int) -> None:
        """Label the next n of the random order that are not labelled."""
        for _ in range(n):
            self._skip()
            if self.reach == self.labels.size:
                return
            self._ask(int(self.order[self.reach]), "control", round)

    def go_on(self, n: int, round: int) -> None:
        """Label the next n of the ranking; control documents on the way are met again if the policy is blind."""
        asked = 0
        while asked < n and self.rank < self.labels.size:
            known = bool(self.labelled[self.rank])
            if self.blind or not known:
                self._ask(self.rank, "policy", round)
            asked += not known
            self.rank += 1

    def progress(self, target: float) -> Progress:
        """State of the review."""
        self._skip()
        return Progress(self.labels.size, self.entries, target=target, control_reach=self.reach)


def run(
    labels: IntArray, rule: StoppingRule, rng: np.random.Generator, target: float = 0.95, batch: int = 50
) -> Outcome:
    """Review until the rule stops or everything is read."""
    review = Review(labels, rng, blind=rule.blind)
    for round in range(labels.size + 1):
        progress = review.progress(target)
        if rule.decide(progress).stop or review.n_read == labels.size:
            break
        n_control = rule.controls(progress, batch)
        review.draw(n_control, round)
        review.go_on(batch - n_control, round)
    found = int(labels[review.labelled].sum())
    return Outcome(found / max(int(labels.sum()), 1), review.n_read, review.n_read < labels.size)
