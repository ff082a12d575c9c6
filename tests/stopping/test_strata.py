"""One certificate over documents that came in parts: it fails no more often than promised, however they were added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from riffler.ledger import UNKNOWN, Entry
from riffler.records import FloatArray, IntArray
from riffler.stopping import ControlSample, Decision, OpenControl, Progress, StoppingRule, control_reach
from riffler.stopping.strata import controls_strata, decide_strata, part_confidence

BATCH = 50


def entry(item: int, answer: int, origin: str = "policy", probability: float = 1.0) -> Entry:
    return Entry(item, 0, origin, False, probability, answer, 1.0, "")


@dataclass
class GrowingReview:
    """A review in the order of scores; items of the second stratum can be added at any time."""

    labels: IntArray
    scores: FloatArray
    stratum: IntArray
    rule: StoppingRule
    rng: np.random.Generator
    target: float = 0.95
    confidence: float = 0.95
    n_strata: int = 1
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = self.labels.size
        self.labelled, self.passed = np.zeros((2, n), dtype=bool)
        self.orders = [self.rng.permutation(np.flatnonzero(self.stratum == at)) for at in range(2)]

    def progress(self) -> tuple[Progress, list[Progress]]:
        parts = []
        for at in range(self.n_strata):
            own = [one for one in self.entries if self.stratum[int(one.item)] == at]
            sure = part_confidence(self.confidence, self.n_strata)
            order = self.orders[at]
            reach = control_reach(order, self.labelled)
            parts.append(Progress(order.size, own, target=self.target, confidence=sure, control_reach=reach))
        n_items = sum(part.n_items for part in parts)
        return Progress(n_items, self.entries, target=self.target, confidence=self.confidence), parts

    def decide(self) -> Decision:
        return decide_strata(self.rule, *self.progress())

    def step(self) -> None:
        """Draw what the rule wants drawn, or read what comes next in the order of the scores."""
        whole, parts = self.progress()
        wanted = controls_strata(self.rule, whole, parts, BATCH)
        if sum(wanted):
            for at, n in enumerate(wanted):
                rest = [item for item in self.orders[at].tolist() if not self.labelled[item]]
                for item in rest[:n]:
                    n_left = int(np.sum(~self.labelled[self.orders[at]]))
                    self._tell(item, "control", 1.0 / n_left)
            return
        open_items = np.flatnonzero(~self.passed & (self.stratum < self.n_strata))
        n_read = 0
        for item in open_items[np.argsort(-self.scores[open_items])].tolist():
            if n_read == BATCH:
                break
            n_read += not self.labelled[item]
            if self.rule.blind or not self.labelled[item]:
                self._tell(item, "policy", 1.0)
            self.passed[item] = True

    def _tell(self, item: int, origin: str, probability: float) -> None:
        self.entries.append(entry(item, int(self.labels[item]), origin, probability))
        self.labelled[item] = True

    def recall(self) -> float:
        there = self.stratum < self.n_strata
        return float(self.labels[self.labelled & there].sum() / self.labels[there].sum())


def made(
    rng: np.random.Generator, sizes: Sequence[int], easy: Sequence[int], hidden: Sequence[int]
) -> tuple[IntArray, FloatArray, IntArray]:
    """Labels, scores and strata: of each stratum some relevant ones come first, and some at the very end."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.zeros(stratum.size, dtype=np.int8)
    scores = rng.random(stratum.size)
    for at in range(len(sizes)):
        rows = np.flatnonzero(stratum == at)
        labels[rows[: easy[at] + hidden[at]]] = 1
        scores[rows[: easy[at]]] += 1.0
        scores[rows[easy[at] : easy[at] + hidden[at]]] -= 1.0
    return labels, scores, stratum


def when_certified(review: GrowingReview) -> bool:
    """The adversary waits until the first certificate is there."""
    return review.decide().stop


def early(review: GrowingReview) -> bool:
    return len(review.entries) > 200


def finished(review: GrowingReview, add: Callable[[GrowingReview], bool]) -> GrowingReview:
    for _ in range(400):
        if review.n_strata == 1 and add(review):
            review.n_strata = 2
        if review.decide().stop:
            break
        review.step()
    assert review.n_strata == 2
    return review


@pytest.mark.parametrize("add", [when_certified, early])
@pytest.mark.parametrize(
    ("easy", "hidden"),
    [((300, 30), (12, 6)), ((200, 0), (11, 0)), ((300, 60), (0, 20))],
)
def test_the_target_is_missed_no_more_often_than_promised(
    add: Callable[[GrowingReview], bool], easy: tuple[int, int], hidden: tuple[int, int]
) -> None:
    n_runs, n_short = 15, 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        review = finished(GrowingReview(*made(rng, (700, 300), easy, hidden), ControlSample(), rng), add)
        n_short += review.recall() < 0.95
    assert binomtest(n_short, n_runs, 0.05, alternative="greater").pvalue > 0.01


def test_a_certificate_over_two_parts_is_there_before_all_is_read() -> None:
    rng = np.random.default_rng(0)
    labels, scores, stratum = made(rng, (1500, 500), (400, 60), (0, 0))
    review = finished(GrowingReview(labels, scores, stratum, ControlSample(), rng), early)
    decision = review.decide()
    assert decision.certificate
    assert decision.recall_low == 0.95
    assert review.labelled.sum() < 0.6 * labels.size
    assert review.labelled[stratum == 1].sum() > review.orders[1].size * 0.1


def test_a_part_where_nothing_is_found_can_be_certified() -> None:
    """The misses that all finds allow are shared, so a part without a find need not be read out."""
    rng = np.random.default_rng(0)
    review = GrowingReview(*made(rng, (1500, 500), (600, 0), (0, 0)), ControlSample(), rng)
    finished(review, when_certified)
    assert review.decide().certificate
    assert review.labelled[review.stratum == 1].sum() < 400


def test_other_certificates_ask_each_part() -> None:
    rng = np.random.default_rng(0)
    review = GrowingReview(*made(rng, (600, 200), (200, 60), (0, 0)), OpenControl(every=10), rng, target=0.8)
    finished(review, early)
    decision = review.decide()
    assert decision.certificate
    assert decision.recall_low is not None
    assert 0.8 <= decision.recall_low <= review.recall()


def test_failure_is_at_most_the_error_by_enumeration() -> None:
    """Every pair of samples of two small strata: the share with which the rule ever stops short is at most 20 %."""
    labels = [np.array([1, 1, 0, 1, 0, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 1, 0, 0])]
    target, confidence, n_checked = 0.7, 0.8, 0
    total = sum(int(one.sum()) for one in labels)
    for draws in [(5, 4), (7, 5)]:
        samples = [list(combinations(range(one.size), n)) for one, n in zip(labels, draws, strict=True)]
        wrong = 0
        for first in samples[0]:
            for second in samples[1]:
                wrong += _ever_stops_short(labels, (set(first), set(second)), target, confidence, total)
                n_checked += 1
        assert wrong <= (1 - confidence) * len(samples[0]) * len(samples[1]) + 1e-9
    assert n_checked > 1000


def _ever_stops_short(
    labels: list[IntArray], drawn: tuple[set[int], set[int]], target: float, confidence: float, total: int
) -> bool:
    """Read both strata in step; the drawn ones are labelled from the beginning."""
    for depth in range(0, 10, 2):
        found = sum(int(one[:depth].sum()) for one in labels)
        if found >= target * total:
            return False
        parts = []
        for at, one in enumerate(labels):
            own = [entry(100 * at + item, int(one[item]), "control") for item in sorted(drawn[at])]
            own += [entry(100 * at + item, int(one[item])) for item in range(min(depth, one.size))]
            sure = part_confidence(confidence, 2)
            parts.append(Progress(one.size, own, target=target, confidence=sure, control_reach=len(drawn[at])))
        entries = [one for part in parts for one in part.entries]
        whole = Progress(sum(one.size for one in labels), entries, target=target, confidence=confidence)
        if (
            len({one.item for one in entries}) < whole.n_items
            and decide_strata(ControlSample(share=0.5), whole, parts).stop
        ):
            return True
    return False


@pytest.mark.parametrize("rule", [ControlSample(), OpenControl()])
def test_one_part_is_decided_as_before(rule: StoppingRule) -> None:
    told = [entry(item, int(item % 3 == 0)) for item in range(100)]
    told += [entry(item, 0, "control", 1 / (500 - item)) for item in range(100, 160)]
    progress = Progress(500, told, target=0.6, control_reach=50)
    assert decide_strata(rule, progress, [progress]) == rule.decide(progress)
    assert controls_strata(rule, progress, [progress], 30) == [rule.controls(progress, 30)]


def test_an_unresolved_control_document_counts_as_missed() -> None:
    rng = np.random.default_rng(0)
    review = finished(GrowingReview(*made(rng, (900, 300), (300, 60), (0, 0)), ControlSample(), rng), early)
    assert review.decide().stop
    drawn = [at for at, one in enumerate(review.entries) if one.origin == "control"][:20]
    for at in drawn:
        review.entries[at] = entry(int(review.entries[at].item), UNKNOWN, "control", review.entries[at].probability)
    met = {int(review.entries[at].item) for at in drawn}
    review.entries = [one for one in review.entries if one.origin == "control" or int(one.item) not in met]
    decision = review.decide()
    assert not decision.stop
    assert "must find more" in decision.reason


def test_what_is_still_needed_is_said_in_words() -> None:
    rng = np.random.default_rng(0)
    review = GrowingReview(*made(rng, (900, 300), (300, 0), (0, 0)), ControlSample(), rng, n_strata=2)
    assert "Nothing relevant" in review.decide().reason
    for _ in range(10):
        review.step()
    decision = review.decide()
    assert not decision.stop
    assert decision.n_more is not None
    assert decision.n_more > 0
    assert "In the 300 documents added later (2 of 2) the first" in decision.reason
