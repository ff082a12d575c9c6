"""The control side of a search: documents drawn in random orders fixed in advance, and the rule they serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN, Entry, Ledger
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.search.answers import Answers
from riffler.search.ranking import Ranking
from riffler.stopping import Decision, Progress, StoppingRule, control_order, control_reach
from riffler.stopping.progress import n_unresolved, needs_scores
from riffler.stopping.recall_interval import RecallEstimate, StratumSample, estimate_recall
from riffler.stopping.strata import controls_strata, decide_strata, part_confidence


@dataclass(frozen=True, slots=True)
class Goal:
    """Recall that is wanted, and how sure a certificate shall be."""

    target: float
    confidence: float


class Controls:
    """Asks a stopping rule how many documents to draw at random, and whether it is enough.

    A batch is either drawn or proposed, never both: what the policy proposes, and when it learns, then does not depend
    on the answers to control documents, which is what the proof of a blind rule asks for.

    orders : the items of each stratum in the random order in which they are drawn
    """

    def __init__(self, rule: StoppingRule, orders: Sequence[IntArray], goal: Goal) -> None:
        self.rule = rule
        self._orders, self._goal = tuple(orders), goal
        self._confidence = part_confidence(goal.confidence, len(self._orders))
        self._n_items = sum(order.size for order in orders)
        self._chances: tuple[Ranking, FloatArray] | None = None
        self._stratum: IntArray | None = None  # of each item, where there are several
        if len(self._orders) > 1:
            self._stratum = np.zeros(self._n_items, dtype=np.int32)
            for at, order in enumerate(self._orders):
                self._stratum[order] = at

    def draw(self, ledger: Ledger, answers: Answers, ranking: Ranking, n: int) -> IntArray:
        """Return the documents to draw now, at most n; none where the policy's turn has come."""
        whole, parts = self._progress(ledger, answers, ranking)
        drawn = []
        for order, part, wanted in zip(self._orders, parts, controls_strata(self.rule, whole, parts, n), strict=True):
            drawn.append(_first_open(order, answers.answered, part.control_reach, wanted))
        return np.concatenate(drawn)

    def decide(self, ledger: Ledger, answers: Answers, ranking: Ranking) -> Decision:
        """Ask the rule; where everything is read it is over, whatever the rule still waits for."""
        return decide_strata(self.rule, *self._progress(ledger, answers, ranking))

    def recall(self, ledger: Ledger, answers: Answers, ranking: Ranking) -> RecallEstimate:
        """Say how much of what is relevant has been found, with an interval."""
        whole, parts = self._progress(ledger, answers, ranking)
        samples = [self._sample(at, part, answers) for at, part in enumerate(parts)]
        decision = decide_strata(self.rule, whole, parts)
        return estimate_recall(samples, decision, self._goal.target, self._goal.confidence)

    def n_left(self, row: int, answers: Answers) -> int:
        """Count the items that may be drawn as control documents beside this one, itself included."""
        at = 0 if self._stratum is None else int(self._stratum[row])
        return int(self._orders[at].size) - self._answered_of(at, answers).size

    def _answered_of(self, at: int, answers: Answers) -> IntArray:
        """The items of a stratum that have an answer, first answered first."""
        first = np.array(answers.first, dtype=np.int64)
        return first if self._stratum is None else first[self._stratum[first] == at]

    def _sample(self, at: int, part: Progress, answers: Answers) -> StratumSample:
        history, order, answered = part.history(), self._orders[at], self._answered_of(at, answers)
        n_drawn = part.control_reach if self.rule.blind else 0
        return StratumSample(
            n_items=order.size,
            n_found=history.n_found,
            n_met=history.n_found - _n_missed(answered, answers),
            n_possible=order.size - int(np.sum(history.answer != UNKNOWN)),
            n_drawn=n_drawn,
            n_missed=_n_missed(order[:n_drawn], answers),
            n_control=int(history.control.sum()),
            n_unresolved=n_unresolved(history) + part.n_open,
        )

    def _progress(self, ledger: Ledger, answers: Answers, ranking: Ranking) -> tuple[Progress, list[Progress]]:
        """Return the progress of the whole, and of each stratum; the only stratum is the whole.

        Where scores are not kept a rule that says that it does not need them gets none: they cost a pass over all rows.
        """
        chances = self._chances_of(ranking) if ranking.is_kept or needs_scores(self.rule) else None
        parts = [
            self._progress_of(at, entries, answers, chances)
            for at, entries in enumerate(self._by_stratum(ledger, answers))
        ]
        if len(parts) == 1:
            return parts[0], parts
        goal = self._goal
        return Progress(self._n_items, tuple(ledger), target=goal.target, confidence=goal.confidence), parts

    def _chances_of(self, ranking: Ranking) -> FloatArray:
        """Chances by the scores of a ranking, which never changes: who asks several times in a turn pays one pass."""
        if self._chances is None or self._chances[0] is not ranking:
            self._chances = ranking, expit(ranking.all())
        return self._chances[1]

    def _progress_of(self, at: int, entries: Sequence[Entry], answers: Answers, chances: FloatArray | None) -> Progress:
        order, none = self._orders[at], np.empty(0)
        reach = control_reach(order, answers.answered)
        drawn = {answers.row(str(entry.item)) for entry in entries if entry.origin == "control"}
        open_rows = order[:reach][answers.labels[order[:reach]] == UNKNOWN]
        return Progress(
            order.size,
            entries,
            scores=none if chances is None else chances[self._open_of(at, answers)],
            target=self._goal.target,
            confidence=self._confidence,
            control_reach=reach,
            n_open=sum(row not in drawn for row in open_rows.tolist()),
            known_scores=none if chances is None else chances[self._answered_of(at, answers)],
        )

    def _open_of(self, at: int, answers: Answers) -> BoolArray:
        """Which items belong to a stratum and have no answer."""
        return ~answers.answered if self._stratum is None else ~answers.answered & (self._stratum == at)

    def _by_stratum(self, ledger: Ledger, answers: Answers) -> Sequence[Sequence[Entry]]:
        if self._stratum is None:
            return [tuple(ledger)]
        entries: list[list[Entry]] = [[] for _ in self._orders]
        for entry in ledger:
            entries[self._stratum[answers.row(str(entry.item))]].append(entry)
        return entries


def _first_open(order: IntArray, answered: BoolArray, start: int, n: int) -> IntArray:
    """The first n items of an order without an answer, from a place on: no further is looked than need be."""
    found, n_found, size = [order[:0]], 0, 1024
    while n_found < n and start < order.size:
        rows = order[start : start + size]
        found.append(rows[~answered[rows]])
        n_found, start, size = n_found + found[-1].size, start + size, 2 * size
    return np.concatenate(found)[: max(n, 0)]


def _n_missed(rows: IntArray, answers: Answers) -> int:
    """Count the relevant items among some that the policy has not come to."""
    return int(np.sum(answers.hidden[rows] & (answers.labels[rows] == RELEVANT)))


def recall_by_logic(answers: Answers, goal: Goal) -> RecallEstimate:
    """Say what can be said without control documents: what is found is there, and what is irrelevant is not."""
    n_possible = int(np.sum(answers.labels == UNKNOWN))
    found = answers.n_relevant
    sample = StratumSample(answers.labels.size, found, found, n_possible, 0, 0, 0, 0)
    return estimate_recall([sample], None, goal.target, goal.confidence)


def stratum_orders(
    collection: Collection | DiskCollection, strata: Sequence[Sequence[str]] | None, seed: int
) -> list[IntArray]:
    """Return the rows of each stratum in the random order in which its control documents are drawn.

    The order of a stratum depends on the seed and its ids alone: what is added later does not change it.
    """
    order = control_order(collection.ids, f"{seed}/control").astype(np.int32)
    if strata is None:
        return [order]
    if isinstance(collection, DiskCollection):
        raise InputError(f"{collection.source}: strata are for collections in memory. Leave them out: it is one part.")
    stratum_of = {name: at for at, names in enumerate(strata) for name in names}
    n_named = sum(len(names) for names in strata)
    if set(stratum_of) != set(collection.ids) or n_named != collection.n_items:
        raise InputError(
            f"strata must name each of the {collection.n_items:,} items once, got {n_named:,} ids, "
            f"{len(set(stratum_of) & set(collection.ids)):,} of them items of the collection."
        )
    home = np.array([stratum_of[collection.ids[row]] for row in order.tolist()], dtype=np.int64)
    return [order[home == at] for at, names in enumerate(strata) if names]
