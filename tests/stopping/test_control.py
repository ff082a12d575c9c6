"""The certificates of the control sample: their mathematics exactly, and how often they fail in simulated reviews."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from riffler.errors import InputError, NoClaim
from riffler.ledger import Entry
from riffler.records import IntArray
from riffler.stopping import (
    ControlSample,
    OpenControl,
    Progress,
    StoppingRule,
    certifiable_recall,
    control_order,
    rule_from_name,
)
from riffler.stopping.control import control_design, control_reach
from riffler.stopping.open_control import Draws, evidence_against
from tests.stopping.reviews import Review, ranked_labels, run


def entries(answers: list[int], origin: str = "policy", start: int = 0, probability: float = 1.0) -> list[Entry]:
    return [Entry(start + at, 0, origin, False, probability, answer, 1.0, "") for at, answer in enumerate(answers)]


@pytest.mark.parametrize("n_items", [1, 7, 300, 10_000])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_design_is_monotone_and_keeps_the_error(n_items: int, share: float) -> None:
    design = control_design(n_items, 0.95, share)
    assert np.all(np.diff(design.allowed) >= 0)
    assert np.all(np.diff(design.draws) <= 0)
    assert np.all(hypergeom.cdf(design.allowed, n_items, design.missed, design.draws) <= 0.05 + 1e-12)
    if share == 0:
        assert not design.allowed.any()


def test_failure_of_a_blind_policy_is_at_most_the_error_by_enumeration() -> None:
    """Every sample of a small collection: the share of samples with which the rule ever stops short is at most 20 %."""
    labels, target, confidence = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0]), 0.9, 0.8
    n = labels.size
    design = control_design(n, confidence, 0.6)
    total, n_samples = int(labels.sum()), 0
    for draws in sorted(set(design.draws.tolist())):
        wrong = 0
        samples = list(combinations(range(n), draws))
        for sample in samples:
            wrong += any(_stops_short(depth, labels, set(sample), design.at, target, total) for depth in range(n))
        assert wrong <= 0.2 * len(samples) + 1e-9
        n_samples += len(samples)
    assert n_samples > 100


def _stops_short(depth: int, labels: IntArray, sample: set[int], at: object, target: float, total: int) -> bool:
    assert callable(at)
    found = int(labels[:depth].sum())
    if not 0 < found < target * total:
        return False
    draws, allowed = at(int(np.floor(found / target)) + 1 - found)
    missed = sum(int(labels[item]) for item in sample if item >= depth)
    return bool(draws <= len(sample) and missed <= allowed)


def lazy(rng: np.random.Generator) -> IntArray:
    """A ranking that leaves just too many for the very end: the worst case for a stop."""
    labels = np.zeros(1500, dtype=np.int8)
    labels[:374], labels[-26:] = 1, 1  # recall .935 after 374, and nothing more to see until the end
    return labels


def shuffled(rng: np.random.Generator) -> IntArray:
    labels = np.zeros(1500, dtype=np.int8)
    labels[rng.permutation(1500)[:300]] = 1
    return labels


def usual(rng: np.random.Generator) -> IntArray:
    return ranked_labels(rng, 1500, 300, gap=2.5)


@pytest.mark.parametrize("make", [lazy, shuffled, usual], ids=lambda make: make.__name__)
@pytest.mark.parametrize("rule", [ControlSample(), OpenControl(every=10)], ids=lambda rule: type(rule).__name__)
def test_certificates_fail_no_more_often_than_promised(rule: StoppingRule, make: object) -> None:
    assert callable(make)
    outcomes = [run(make(rng), rule, rng) for rng in map(np.random.default_rng, range(60))]
    failed = sum(outcome.recall < 0.95 for outcome in outcomes)
    assert binomtest(failed, len(outcomes), 0.05, alternative="greater").pvalue > 0.01


def test_open_evidence_is_a_martingale_under_every_policy_by_enumeration() -> None:
    """All draws from a small collection, the policy taking what it likes in between: the mean of E(truth) is 1."""
    labels = np.array([1, 0, 1, 0, 0, 1])
    mean = 0.0
    for picks in product(range(6), range(4)):  # one draw, then the policy takes the first left, then one more draw
        left = list(range(6))
        first = left.pop(picks[0])
        policy = left.pop(0)
        second = left[picks[1]]
        known = np.array([0, labels[first] + labels[policy]])
        draws = Draws(known, np.array([6, 4]), labels[[first, second]])
        mean += _last_evidence(3, draws) / 24
    assert mean == pytest.approx(1.0)


def _last_evidence(total: int, draws: Draws) -> float:
    """E after the last draw, by plain loops."""
    from riffler.stopping.open_control import LEFT, WEIGHTS

    value = 0.0
    for left, weight in zip(LEFT, WEIGHTS, strict=True):
        wealth = weight
        for known, unlabelled, relevant in zip(draws.n_known, draws.n_unlabelled, draws.relevant, strict=True):
            missing = total - known
            bet = left * missing + (1 - left) * max(0.8 * total - known, 0)
            p, q = missing / unlabelled, bet / unlabelled
            wealth *= (q / p if relevant else (1 - q) / (1 - p)) if p != q else 1.0
        value += wealth
    return value


def test_evidence_equals_plain_loops_and_rises_with_the_total() -> None:
    rng = np.random.default_rng(0)
    relevant = (rng.random(60) < 0.1).astype(np.int64)
    draws = Draws(np.cumsum(relevant) - relevant + 30, np.arange(400, 340, -1), relevant)
    paths = []
    for total in range(45, 120, 6):
        slow = max(
            _last_evidence(total, Draws(draws.n_known[:n], draws.n_unlabelled[:n], relevant[:n])) for n in range(1, 61)
        )
        assert evidence_against(total, draws, 0.8) == pytest.approx(max(np.log(slow), 0.0))
        paths.append(evidence_against(total, draws, 0.8))
    assert np.all(np.diff(paths) >= -1e-12)


def test_control_order_is_keyed_by_id_and_uniform() -> None:
    ids = [f"doc {at}" for at in range(200)]
    order = control_order(ids, seed=1)
    assert sorted(order.tolist()) == list(range(200))
    mixed = np.random.default_rng(0).permutation(200)
    again = control_order([ids[at] for at in mixed], seed=1)
    np.testing.assert_array_equal(mixed[again], order)
    first = np.bincount([control_order(ids[:10], seed)[0] for seed in range(2000)], minlength=10)
    assert np.all(np.abs(first - 200) < 4.5 * np.sqrt(180))
    assert control_order([], seed=0).size == 0


def test_reach_counts_what_is_labelled_without_a_gap() -> None:
    order = np.array([3, 1, 0, 2])
    assert control_reach(order, np.array([False, True, False, True])) == 2
    assert control_reach(order, np.ones(4, dtype=bool)) == 4


def test_few_relevant_items_are_said_to_cost_nearly_everything_early() -> None:
    read = entries([1] * 15 + [0] * 100)
    decision = ControlSample().decide(Progress(5000, read))
    assert not decision.stop
    assert decision.n_more == control_design(5000).at(1)[0] == 4750
    assert "nearly everything" in decision.reason
    best = certifiable_recall(5000, 15, 500)
    assert f"could prove a recall of {int(100 * best)}" in decision.reason  # cut, not rounded
    assert 0.3 < best < 0.4  # 28 missed ones cannot be told from none


def test_certifiable_recall_is_what_the_rule_then_certifies() -> None:
    best = certifiable_recall(2000, 150, 300)
    n_control = 300
    read = entries([1] * 150) + entries([0] * n_control, "control", 500)
    decided = ControlSample(share=0.0).decide(Progress(2000, read, target=best - 1e-9, control_reach=n_control))
    assert decided.stop
    higher = ControlSample(share=0.0).decide(Progress(2000, read, target=best + 0.01, control_reach=n_control))
    assert not higher.stop
    assert certifiable_recall(2000, 0, 300) == 0.0
    assert certifiable_recall(2000, 10, 0) == 0.0


@pytest.mark.parametrize("odd", [1, -1])
def test_a_missed_or_unresolved_control_document_holds_the_stop(odd: int) -> None:
    found = entries([1] * 150)
    clean = found + entries([0] * 700, "control", 500)
    assert ControlSample().decide(Progress(2000, clean, control_reach=700)).stop
    marked = found + entries([odd] + [0] * 699, "control", 500)
    decision = ControlSample().decide(Progress(2000, marked, control_reach=700))
    assert not decision.stop
    assert "it must find more" in decision.reason
    met = ControlSample().decide(Progress(2000, marked + entries([odd], "policy", 500), control_reach=700))
    assert met.stop == (odd == 1)  # an unresolved one stays missed


def test_open_control_refuses_draws_that_were_not_uniform() -> None:
    with pytest.raises(NoClaim, match="drawn with probability 1, and 1999 items were unlabelled"):
        OpenControl().decide(Progress(2000, entries([1]) + entries([0], "control", 1)))


def test_open_bound_counts_the_unresolved_as_missed() -> None:
    lows = []
    for odd in (0, -1, 1):
        answers = [1] * 100 + [0] * 20 + [odd] + [0] * 400
        probability = [1.0] * 120 + [1.0 / (600 - at) for at in range(120, 521)]
        told = [
            Entry(at, 0, "policy" if at < 120 else "control", False, probability[at], answer, 1.0, "")
            for at, answer in enumerate(answers)
        ]
        lows.append(OpenControl().decide(Progress(600, told)).recall_low)
    none, unresolved, relevant = lows
    assert none is not None
    assert unresolved is not None
    assert relevant is not None
    assert unresolved < relevant < 1
    assert unresolved < none


def test_control_documents_come_from_the_first_label_on() -> None:
    review = Review(ranked_labels(np.random.default_rng(0), 2000, 100), np.random.default_rng(1), blind=True)
    assert ControlSample(every=20).controls(review.progress(0.95), 100) == 5
    assert OpenControl(every=10).controls(review.progress(0.95), 100) == 10


@pytest.mark.parametrize("settings", [{"every": 0}, {"window": 0}, {"share": 1.5}])
def test_a_plan_that_cannot_be_kept_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must"):
        rule_from_name("control", **settings)
    with pytest.raises(InputError, match="every must be at least 1"):
        OpenControl(every=0)
