"""The control side of a search: documents drawn in random orders fixed in advance, and the rule they serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from riffler.data.collection import Collection
from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN, Entry, Ledger
from riffler.records import FloatArray, IntArray
from riffler.search.answers import Answers
from riffler.stopping import Decision, Progress, StoppingRule, control_order, control_reach
from riffler.stopping.progress import n_unresolved
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
        self._stratum: IntArray = np.zeros(sum(order.size for order in orders), dtype=np.int64)
        for at, order in enumerate(self._orders):
            self._stratum[order] = at

    def draw(self, ledger: Ledger, answers: Answers, scores: FloatArray, n: int) -> IntArray:
        """Return the documents to draw now, at most n; none where the policy's turn has come."""
        whole, parts = self._progress(ledger, answers, scores)
        drawn = []
        for order, part, wanted in zip(self._orders, parts, controls_strata(self.rule, whole, parts, n), strict=True):
            rest = order[part.control_reach :]
            drawn.append(rest[~answers.answered[rest]][:wanted])
        return np.concatenate(drawn)

    def decide(self, ledger: Ledger, answers: Answers, scores: FloatArray) -> Decision:
        """Ask the rule; where everything is read it is over, whatever the rule still waits for."""
        return decide_strata(self.rule, *self._progress(ledger, answers, scores))

    def recall(self, ledger: Ledger, answers: Answers, scores: FloatArray) -> RecallEstimate:
        """Say how much of what is relevant has been found, with an interval."""
        whole, parts = self._progress(ledger, answers, scores)
        samples = [self._sample(order, part, answers) for order, part in zip(self._orders, parts, strict=True)]
        decision = decide_strata(self.rule, whole, parts)
        return estimate_recall(samples, decision, self._goal.target, self._goal.confidence)

    def n_left(self, row: int, answers: Answers) -> int:
        """Count the items that may be drawn as control documents beside this one, itself included."""
        return int(np.sum(~answers.answered[self._orders[self._stratum[row]]]))

    def _sample(self, order: IntArray, part: Progress, answers: Answers) -> StratumSample:
        history = part.history()
        n_drawn = part.control_reach if self.rule.blind else 0
        missed = answers.hidden & (answers.labels == RELEVANT)
        return StratumSample(
            n_items=order.size,
            n_found=history.n_found,
            n_met=history.n_found - int(np.sum(missed[order])),
            n_possible=order.size - int(np.sum(history.answer != UNKNOWN)),
            n_drawn=n_drawn,
            n_missed=int(np.sum(missed[order[:n_drawn]])),
            n_control=int(history.control.sum()),
            n_unresolved=n_unresolved(history) + part.n_open,
        )

    def _progress(self, ledger: Ledger, answers: Answers, scores: FloatArray) -> tuple[Progress, list[Progress]]:
        """Return the progress of the whole, and of each stratum; the only stratum is the whole."""
        chances = expit(scores)
        parts = [
            self._progress_of(at, entries, answers, chances)
            for at, entries in enumerate(self._by_stratum(ledger, answers))
        ]
        if len(parts) == 1:
            return parts[0], parts
        goal = self._goal
        return Progress(self._stratum.size, tuple(ledger), target=goal.target, confidence=goal.confidence), parts

    def _progress_of(self, at: int, entries: Sequence[Entry], answers: Answers, chances: FloatArray) -> Progress:
        order, own = self._orders[at], self._stratum == at
        reach = control_reach(order, answers.answered)
        drawn = {answers.row(str(entry.item)) for entry in entries if entry.origin == "control"}
        open_rows = order[:reach][answers.labels[order[:reach]] == UNKNOWN]
        first = np.array(answers.first, dtype=np.int64)
        return Progress(
            order.size,
            entries,
            scores=chances[own & ~answers.answered],
            target=self._goal.target,
            confidence=self._confidence,
            control_reach=reach,
            n_open=sum(row not in drawn for row in open_rows.tolist()),
            known_scores=chances[first[own[first]]],
        )

    def _by_stratum(self, ledger: Ledger, answers: Answers) -> Sequence[Sequence[Entry]]:
        if len(self._orders) == 1:
            return [tuple(ledger)]
        entries: list[list[Entry]] = [[] for _ in self._orders]
        for entry in ledger:
            entries[self._stratum[answers.row(str(entry.item))]].append(entry)
        return entries


def recall_by_logic(answers: Answers, goal: Goal) -> RecallEstimate:
    """Say what can be said without control documents: what is found is there, and what is irrelevant is not."""
    n_possible = int(np.sum(answers.labels == UNKNOWN))
    found = answers.n_relevant
    sample = StratumSample(answers.labels.size, found, found, n_possible, 0, 0, 0, 0)
    return estimate_recall([sample], None, goal.target, goal.confidence)


def stratum_orders(collection: Collection, strata: Sequence[Sequence[str]] | None, seed: int) -> list[IntArray]:
    """Return the rows of each stratum in the random order in which its control documents are drawn.

    The order of a stratum depends on the seed and its ids alone: what is added later does not change it.
    """
    order = control_order(collection.ids, f"{seed}/control")
    if strata is None:
        return [order]
    stratum_of = {name: at for at, names in enumerate(strata) for name in names}
    n_named = sum(len(names) for names in strata)
    if set(stratum_of) != set(collection.ids) or n_named != collection.n_items:
        raise InputError(
            f"strata must name each of the {collection.n_items:,} items once, got {n_named:,} ids, "
            f"{len(set(stratum_of) & set(collection.ids)):,} of them items of the collection."
        )
    home = np.array([stratum_of[collection.ids[row]] for row in order.tolist()], dtype=np.int64)
    return [order[home == at] for at, names in enumerate(strata) if names]
