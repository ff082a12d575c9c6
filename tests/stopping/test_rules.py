"""The stopping rules against the numbers of their papers and against hand-made cases."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.ledger import Entry
from riffler.stopping import (
    Budget,
    Chao,
    Elusion,
    FixedBudget,
    Half,
    HorvitzThompson,
    HypergeometricRanked,
    InARow,
    Knee,
    Progress,
    Qbcb,
    Quant,
    Target,
    required_sample,
)
from riffler.stopping.chao import chao_estimate
from riffler.stopping.elusion import most_missed
from riffler.stopping.horvitz_thompson import estimated_total, inclusion_probability
from riffler.stopping.hypergeometric import missed_target_chance
from riffler.stopping.knee import slope_ratio
from riffler.stopping.qbcb import hits_needed
from riffler.stopping.quant import quant_recall


def entries(answers: list[int], origin: str = "policy", start: int = 0, probability: float = 1.0) -> list[Entry]:
    return [Entry(start + at, 0, origin, False, probability, answer, 1.0, "") for at, answer in enumerate(answers)]


@pytest.mark.parametrize(
    ("target", "table"),
    [
        (0.8, {14: 14, 20: 20, 30: 28, 50: 45, 100: 87, 200: 170, 400: 334}),
        (0.9, {29: 29, 50: 49, 100: 96, 200: 188, 400: 371}),
        (0.95, {59: 59, 100: 99, 200: 196, 400: 388}),
    ],
)
def test_qbcb_needs_as_many_hits_as_published(target: float, table: dict[int, int]) -> None:
    assert {n: hits_needed(n, target, 0.95) for n in table} == table
    assert hits_needed(min(table) - 1, target, 0.95) is None


def test_qbcb_stops_when_enough_of_the_sample_is_met() -> None:
    drawn = entries([1] * 14 + [0] * 100, "control")
    assert not Qbcb().decide(Progress(1000, drawn + entries([1] * 13), target=0.8)).stop
    met = drawn + entries([1] * 14)
    assert Qbcb().decide(Progress(1000, met, target=0.8)).stop
    assert not Qbcb().decide(Progress(1000, met, target=0.9)).stop
    assert not Qbcb().decide(Progress(1000, [*met, *entries([-1], "control", 500)], target=0.8)).stop


def test_target_says_which_recall_its_ten_documents_prove() -> None:
    met = entries([1] * 10, "control") + entries([1] * 10)
    decision = Target().decide(Progress(1000, met, target=0.7))
    assert decision.stop
    assert decision.certificate  # 1 - 0.7^10 = 0.972
    assert decision.recall_low == pytest.approx(0.05**0.1)
    assert not Target().decide(Progress(1000, met, target=0.8)).certificate  # 1 - 0.8^10 = 0.893
    assert not Target(n_targets=None).decide(Progress(1000, met, target=0.8)).stop
    assert Target().controls(Progress(1000, met[:9]), 5) == 5
    assert Target().controls(Progress(1000, met), 5) == 0


@pytest.mark.parametrize(("n_irrelevant", "chance"), [(500, 0.5586), (1000, 0.2448)])
def test_hypergeometric_chance_is_as_published(n_irrelevant: int, chance: float) -> None:
    labels = np.array([1] * 20 + [0] * n_irrelevant)
    assert missed_target_chance(labels, 2000, 0.95) == pytest.approx(chance, abs=5e-5)


def test_hypergeometric_chance_is_the_least_over_all_suffixes() -> None:
    from scipy.stats import hypergeom

    rng = np.random.default_rng(0)
    labels = (rng.random(300) < np.linspace(0.5, 0.0, 300)).astype(np.int8)
    found, chances = int(labels.sum()), []
    for start in range(300):
        u, x = 300 - start, int(labels[start:].sum())
        k = int(np.floor(found / 0.9 + 1 - (found - x)))
        chances.append(hypergeom.cdf(x, 1000 - start, k, u))
    assert missed_target_chance(labels, 1000, 0.9) == pytest.approx(min(chances))


def test_hypergeometric_ranked_stops_after_enough_without_a_find() -> None:
    short, long = entries([1] * 100 + [0] * 300), entries([1] * 100 + [0] * 1500)
    assert not HypergeometricRanked().decide(Progress(3000, short)).stop
    assert HypergeometricRanked().decide(Progress(3000, long)).stop


def test_elusion_bounds_are_as_published_and_the_size_is_enough() -> None:
    assert (most_missed(5000, 300, 0, 0.95), most_missed(5000, 300, 2, 0.95)) == (48, 102)
    for n_expected in (0, 3):
        size = required_sample(5000, 400, 0.95, 0.95, n_expected)
        for n, enough in ((size, True), (size - 1, False)):
            missed = most_missed(5000, n, n_expected, 0.95)
            assert ((400 + n_expected) / (400 + missed) >= 0.95) == enough


def test_elusion_says_its_size_in_advance_and_claims_once() -> None:
    rule, read = Elusion(after=InARow(50)), entries([1] * 200 + [0] * 50)
    waiting = rule.decide(Progress(2000, read))
    size = required_sample(1750, 200, 0.95, 0.95)
    assert (waiting.stop, waiting.n_more) == (False, size)
    assert f"sample of {size}" in waiting.reason
    clean = rule.decide(Progress(2000, read + entries([0] * size, "control", 1000)))
    assert clean.stop
    assert clean.certificate
    assert clean.recall_low is not None
    assert clean.recall_low >= 0.95
    for odd in (1, -1):
        failed = rule.decide(Progress(2000, read + entries([odd] + [0] * (size - 1), "control", 1000)))
        assert failed.stop
        assert not failed.certificate


def test_horvitz_thompson_is_unbiased_when_the_chances_are_fixed() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(50), size=3)
    n_draws, labels = np.array([5, 10, 20]), rng.random(50) < 0.3
    included = inclusion_probability(chances, n_draws)
    totals = []
    for _ in range(4000):
        seen = np.zeros(50, dtype=bool)
        for p, n in zip(chances, n_draws, strict=True):
            seen[rng.choice(50, size=n, p=p)] = True
        totals.append(estimated_total(labels[seen].astype(float), included[seen])[0])
    assert abs(np.mean(totals) - labels.sum()) < 4 * np.std(totals) / np.sqrt(len(totals))


def test_horvitz_thompson_counts_the_sampled_for_more() -> None:
    sure, drawn = entries([1] * 90), entries([1] * 2 + [0] * 8, "control", 500, probability=0.1)
    assert not HorvitzThompson(n_errors=0).decide(Progress(1000, sure + drawn)).stop  # 92 of about 110
    assert HorvitzThompson(n_errors=0).decide(Progress(1000, sure + drawn, target=0.8)).stop
    assert not HorvitzThompson(n_errors=2).decide(Progress(1000, sure + drawn, target=0.8)).stop
    with pytest.raises(InputError, match="probability above 0"):
        HorvitzThompson().decide(Progress(1000, entries([1], probability=0.0)))


def test_chao_estimate_is_as_published() -> None:
    estimate = chao_estimate(100, once=20, twice=10)
    assert estimate.total == 120
    assert estimate.low == pytest.approx(106.8, abs=0.05)
    assert estimate.high == pytest.approx(158.5, abs=0.05)
    assert chao_estimate(100, 0, 0).high == 100
    assert chao_estimate(10, 5, 0).total == 20


def test_chao_needs_votes() -> None:
    found = entries([1] * 100)
    assert not Chao().decide(Progress(1000, found)).stop
    assert Chao().decide(Progress(1000, found, votes=dict.fromkeys(range(100), 3), n_learners=3)).stop
    assert not Chao().decide(Progress(1000, found, votes={i: 1 + i % 2 for i in range(100)}, n_learners=3)).stop


def test_quant_follows_its_formula() -> None:
    rng = np.random.default_rng(0)
    known, unknown = rng.random(30), rng.random(50) * 0.1
    pk, pu = known.sum(), unknown.sum()
    v_known, v_all = (known * (1 - known)).sum(), (known * (1 - known)).sum() + (unknown * (1 - unknown)).sum()
    error = np.sqrt(pk**2 / (pk + pu) ** 4 * v_all + v_known / (pk + pu) ** 2)
    assert quant_recall(known, unknown, 2.0) == pytest.approx(pk / (pk + pu) - 2 * error)


def test_quant_needs_probabilities() -> None:
    found = entries([1] * 5)
    assert not Quant().decide(Progress(10, found)).stop
    assert Quant().decide(Progress(10, found, scores=np.zeros(5), known_scores=np.ones(5))).stop
    with pytest.raises(InputError, match="Calibrate"):
        Quant().decide(Progress(10, found, scores=np.full(5, 3.0), known_scores=np.ones(5)))


def test_slope_ratio_is_that_of_the_farthest_point() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(200) < np.linspace(0.9, 0.0, 200)).astype(np.int8)
    gain = np.cumsum(labels)
    line = gain[-1] / 200
    knee = max(range(1, 200), key=lambda i: gain[i - 1] - line * i)
    expected = (gain[knee - 1] / knee) / ((1 + gain[-1] - gain[knee - 1]) / (200 - knee))
    assert slope_ratio(labels) == pytest.approx(expected)


def test_simple_heuristics_stop_at_their_limits() -> None:
    labels = entries([1] * 20 + [0] * 100)
    assert InARow(100).decide(Progress(1000, labels)).stop
    assert not InARow(101).decide(Progress(1000, labels)).stop
    assert Half().decide(Progress(240, labels)).stop
    assert not Half().decide(Progress(242, labels)).stop
    assert FixedBudget(120).decide(Progress(1000, labels)).stop
    assert FixedBudget(121).decide(Progress(1000, labels)).n_more == 1
    assert Budget().decide(Progress(160, labels)).stop
    assert not Budget().decide(Progress(1000, labels)).stop
    assert Knee(least=100).decide(Progress(1000, entries([1] * 150 + [0] * 20))).stop
    assert not Knee().decide(Progress(2000, entries([1] * 150 + [0] * 20))).stop


@pytest.mark.parametrize("bad", [lambda: InARow(0), lambda: Half(0.0), lambda: FixedBudget(0), lambda: Target(0)])
def test_impossible_limits_are_refused(bad: object) -> None:
    assert callable(bad)
    with pytest.raises(InputError, match="must"):
        bad()
