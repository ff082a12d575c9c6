"""Stopping rules replayed over the recorded order of a review: no model is trained again.

The order is that of a policy which never learned from a control document before it met it. So the replay of a blind
rule is the review it would have had: exactly so in batches of one. In larger ones a live search counts the control
documents that the policy meets as part of its batch, and a replay does not. A rule that lets the policy learn from
control documents at once is replayed over the same order, without what the policy would have made of them.

A rule looks after every batch; control documents it wants are drawn from a random order that is fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT, Entry
from riffler.records import BoolArray, IntArray
from riffler.stopping import STOPPING_RULES, Progress, StoppingRule, rule_from_name
from riffler.stopping.progress import History

NOT_IN_A_LEDGER = {
    "autostop": "documents drawn with probabilities of their own",
    "chao": "the votes of several learners",
    "quant": "a probability of every document at every step",
    "quant-ci": "a probability of every document at every step",
}
"""Rules that cannot be replayed, and what they need beside the answers."""

REPLAYED = tuple(sorted(STOPPING_RULES.keys() - NOT_IN_A_LEDGER.keys()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Recall of everything read when the rule stopped, and how many documents that were."""

    recall: float
    cost: int
    stopped: bool  # before everything was read
    certified: bool = False  # the rule said that the target is proved


@dataclass(frozen=True, slots=True, eq=False)
class Moment(Progress):
    """A progress whose history was kept along the way: to read the ledger anew at every look takes most of a replay."""

    kept: History | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_history", self.kept)


class Review:
    """A review in progress; item i is the i-th in the order of the policy, the first ``n_prior`` were known before."""

    def __init__(self, labels: IntArray, rng: np.random.Generator, *, blind: bool, n_prior: int = 0) -> None:
        self.labels, self.blind = labels, blind
        self.order = rng.permutation(labels.size)
        self.labelled: BoolArray = np.zeros(labels.size, dtype=bool)
        self.entries: list[Entry] = []
        self.rank = self.reach = self.n_read = 0
        self._place = np.zeros(labels.size, dtype=np.int64)  # when an item was first asked
        self._answer: IntArray = np.zeros(labels.size, dtype=np.int8)
        self._control, self._met = np.zeros((2, labels.size), dtype=bool)
        self._probability = np.zeros(labels.size)
        self._ranked: IntArray = np.zeros(labels.size, dtype=np.int8)
        self._n_ranked = 0
        for item in range(n_prior):
            self._ask(item, "prior", 0)
        self.rank = n_prior

    def _ask(self, item: int, origin: str, round: int) -> None:
        control, again, answer = origin == "control", bool(self.labelled[item]), int(self.labels[item])
        probability = 1.0 / (self.labels.size - self.n_read) if control else 1.0
        self.entries.append(Entry(item, round, origin, False, probability, answer, 0.0 if again else 1.0, ""))
        if not again:
            at = self._place[item] = self.n_read
            self._answer[at], self._control[at], self._probability[at] = answer, control, probability
            self.labelled[item] = True
            self.n_read += 1
        if not control:
            at = self._place[item]
            self._met[at] = self._control[at]
            self._ranked[self._n_ranked] = answer
            self._n_ranked += 1

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

    def progress(self, target: float, confidence: float = 0.95) -> Progress:
        """State of the review."""
        self._skip()
        n = self.n_read
        kept = History(
            self._answer[:n].copy(), self._control[:n].copy(), self._met[:n].copy(), self._probability[:n].copy(),
            self._ranked[: self._n_ranked].copy(),
        )  # fmt: skip
        return Moment(
            self.labels.size, self.entries, target=target, confidence=confidence, control_reach=self.reach, kept=kept
        )  # fmt: skip


def replay_rule(
    labels: IntArray,
    rule: StoppingRule,
    rng: np.random.Generator,
    target: float = 0.95,
    batch: int = 50,
    *,
    confidence: float = 0.95,
    n_prior: int = 0,
) -> Outcome:
    """Review in the order of ``labels`` until the rule stops or everything is read; it looks every ``batch`` documents.

    >>> labels = np.repeat([1, 0], [20, 180])
    >>> replay_rule(labels, rule_from_name("in-a-row", n=30), np.random.default_rng(0), batch=10)
    Outcome(recall=1.0, cost=50, stopped=True, certified=False)
    """
    review = Review(labels, rng, blind=rule.blind, n_prior=n_prior)
    for round in range(1, 2 * labels.size + 2):
        progress = review.progress(target, confidence)
        decision = rule.decide(progress)
        if decision.stop or review.n_read == labels.size:
            break
        if n_control := min(batch, rule.controls(progress, batch)):
            review.draw(n_control, round)  # a batch is drawn or ranked, as in a live search
        else:
            review.go_on(batch, round)
    found = int(labels[review.labelled].sum())
    certified = decision.stop and decision.certificate
    return Outcome(found / max(int(labels.sum()), 1), review.n_read, review.n_read < labels.size, certified)


def full_order(answers: IntArray, n_items: int, n_relevant: int) -> IntArray:
    """Labels of the whole collection in the order of a run that found everything: what it left is irrelevant.

    >>> full_order(np.array([0, 1, 1]), n_items=5, n_relevant=2)
    array([0, 1, 1, 0, 0], dtype=int8)
    """
    found = (answers == RELEVANT).astype(np.int8)
    if int(found.sum()) < n_relevant:
        raise InputError(
            f"The run found {int(found.sum())} of {n_relevant} relevant items, so the order of the others is not "
            "known. Replay stopping rules over runs without a budget."
        )
    return np.concatenate([found, np.zeros(n_items - found.size, dtype=np.int8)])


def usual_batch(n_items: int) -> int:
    """Documents between two looks of a rule: half a percent of the collection, at least 1.

    >>> usual_batch(90), usual_batch(20_000)
    (1, 100)
    """
    return max(1, n_items // 200)


def replayable(name: str) -> StoppingRule:
    """Return the rule of this name, or say why it cannot be replayed."""
    rule = rule_from_name(name)
    if name in NOT_IN_A_LEDGER:
        raise InputError(
            f"The stopping rule {name!r} needs {NOT_IN_A_LEDGER[name]}, which the recorded answers do not hold. "
            f"Rules that can be replayed: {', '.join(REPLAYED)}."
        )
    return rule


@dataclass(frozen=True, slots=True)
class RuleSummary:
    """One rule at one target, over all replayed reviews.

    n_certified : reviews that ended with a proof
    n_short, p_value : reviews that ended below the target, and the exact binomial test of "in at most 1 - confidence of
        all reviews"
    recall, share : means of what was reached and of what was read; n_all : reviews that read everything
    share_needed : mean share that the same orders need to reach the target, known only in hindsight
    """

    rule: str
    target: float
    n_reviews: int
    n_certified: int
    n_short: int
    p_value: float
    recall: float
    lowest_recall: float
    share: float
    cost: float
    n_all: int
    share_needed: float


def summarise(
    rule: str, target: float, outcomes: Sequence[Outcome], n_items: Sequence[int], needed: Sequence[int],
    confidence: float = 0.95,
) -> RuleSummary:  # fmt: skip
    """Put the outcomes of one rule at one target into one row; sizes and needs are those of each review."""
    from scipy.stats import binomtest

    n_short = sum(one.recall < target - 1e-9 for one in outcomes)
    test = binomtest(n_short, len(outcomes), 1.0 - confidence, alternative="greater")
    return RuleSummary(
        rule=rule,
        target=target,
        n_reviews=len(outcomes),
        n_certified=sum(one.certified for one in outcomes),
        n_short=n_short,
        p_value=float(test.pvalue),
        recall=_mean([one.recall for one in outcomes]),
        lowest_recall=min(one.recall for one in outcomes),
        share=_mean([one.cost / n for one, n in zip(outcomes, n_items, strict=True)]),
        cost=_mean([one.cost for one in outcomes]),
        n_all=sum(not one.stopped for one in outcomes),
        share_needed=_mean([labels / n for labels, n in zip(needed, n_items, strict=True)]),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True, eq=False)
class RecordedOrder:
    """The order of one run through the end of the collection, with what keys its control documents."""

    labels: IntArray
    n_prior: int
    seed: int


def replay_rules(
    orders: Mapping[str, Sequence[RecordedOrder]],
    rules: Sequence[str],
    targets: Sequence[float],
    confidence: float = 0.95,
    *,
    n_jobs: int = 1,
    tell: Callable[[float, str], None] = lambda share, doing: None,
) -> dict[str, list[RuleSummary]]:
    """Replay every rule at every target over the runs of each policy; rows by policy, in the order of targets, rules.

    ``n_jobs`` processes share the work; ``tell`` hears the share done and what is going on.

    >>> order = RecordedOrder(np.repeat([1, 0], [20, 180]), n_prior=1, seed=0)
    >>> row = replay_rules({"greedy": [order]}, ["half"], [0.9])["greedy"][0]
    >>> row.recall, row.share, row.n_short
    (1.0, 0.5, 0)
    """
    cells = [(policy, target, name) for policy in orders for target in targets for name in rules]
    work = ((orders[policy], name, target, confidence) for policy, target, name in cells)
    found: dict[str, list[RuleSummary]] = {}
    for at, ((policy, target, name), outcomes) in enumerate(zip(cells, _outcomes(work, n_jobs), strict=True), start=1):
        those = orders[policy]
        needed = [_labels_needed(one.labels, target) for one in those]
        row = summarise(name, target, outcomes, [one.labels.size for one in those], needed, confidence)
        found.setdefault(policy, []).append(row)
        tell(at / len(cells), f"stopping rule {name}, {policy}")
    return found


def _outcomes(
    work: Iterable[tuple[Sequence[RecordedOrder], str, float, float]], n_jobs: int
) -> Iterator[list[Outcome]]:
    if n_jobs == 1:
        yield from (_replay_all(*cell) for cell in work)
        return
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_replay_all)(*cell) for cell in work)


def _replay_all(orders: Sequence[RecordedOrder], rule: str, target: float, confidence: float) -> list[Outcome]:
    return [replay_order(one, rule, target, confidence) for one in orders]


def replay_order(order: RecordedOrder, rule: str, target: float, confidence: float) -> Outcome:
    """Replay one rule over one run; its control documents are the same whatever the policy was."""
    rng = np.random.default_rng([order.seed, order.labels.size])
    return replay_rule(
        order.labels, replayable(rule), rng, target, usual_batch(order.labels.size),
        confidence=confidence, n_prior=order.n_prior,
    )  # fmt: skip


def _labels_needed(labels: IntArray, target: float) -> int:
    from riffler.evaluation.search_measures import discovery, labels_at_recall

    needed = labels_at_recall(discovery(labels, labels.size, int(labels.sum())), target)
    return labels.size if needed is None else needed
