"""Claims from the ledger: right in simulation, exact where everything was asked, refused where nothing can be said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from riffler import (
    ActivePerceptronAtK,
    ArrayOracle,
    CallableOracle,
    InputError,
    Ledger,
    NoClaim,
    TopClaim,
    claim_path,
    claim_top,
)
from riffler.ledger import UNKNOWN, Item, Round
from riffler.records import IntArray


def sampled_run(seed: int, n_rounds: int = 15, n_rows: int = 300, n_top: int = 40) -> tuple[Ledger, IntArray, IntArray]:
    """Half of each top is bought for sure; the others, and the rows below, are drawn. Returns mistakes and missed."""
    rng = np.random.default_rng(seed)
    ledger, mistakes, missed = Ledger(), [], []
    for round in range(n_rounds):
        labels = (rng.random(n_rows) < np.where(np.arange(n_rows) < n_top, 0.9, 0.04)).astype(int)
        probability = np.where(np.arange(n_rows) < n_top // 2, 1.0, rng.uniform(0.05, 0.3, n_rows))
        rows = np.flatnonzero(rng.random(n_rows) < probability)
        ledger.record(
            [round * n_rows + row for row in rows.tolist()],
            round=round, origin="sample", in_top=rows < n_top, probability=probability[rows], answers=labels[rows],
            cost=1.0,
        )  # fmt: skip
        ledger.close_round(Round(round, n_rows, n_top, float(probability.min())))
        mistakes.append(n_top - labels[:n_top].sum())
        missed.append(labels[n_top:].sum())
    return ledger, np.cumsum(mistakes), np.cumsum(missed)


def stepped(
    seed: int,
    oracle_settings: dict[str, Any] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the ranker
) -> tuple[ArrayOracle, IntArray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(6000) < 0.05).astype(int)
    X = rng.normal(size=(6000, 4)) + 1.2 * y[:, None]
    oracle, ranker = ArrayOracle(y, **(oracle_settings or {})), ActivePerceptronAtK(k=20, random_state=seed, **settings)
    missed = []
    for start in range(0, 6000, 600):
        step = ranker.step(X[start : start + 600], oracle)
        missed.append(y[start : start + 600].sum() - y[start + step.predicted].sum())
    return oracle, np.cumsum(missed)


def small_ledger(answers: list[int], *, in_top: bool, probability: float, floor: float = 0.1) -> Ledger:
    ledger = Ledger()
    ledger.record(
        list(range(len(answers))),
        round=0, origin="sample", in_top=in_top, probability=probability, answers=answers, cost=1.0,
    )  # fmt: skip
    ledger.close_round(Round(0, n_rows=100, n_top=10, floor=floor))
    return ledger


def test_precision_and_missed_hold_at_every_round_of_a_sampled_top() -> None:
    wrong = np.zeros(2, dtype=int)
    for seed in range(150):
        ledger, mistakes, missed = sampled_run(seed)
        path = claim_path(ledger, confidence=0.8)
        n_top = np.array([claim.n_predicted for claim in path])
        precision = 1 - mistakes / n_top
        wrong[0] += any(
            not c.precision_low - 1e-9 <= truth <= c.precision_high + 1e-9
            for c, truth in zip(path, precision, strict=True)
        )
        wrong[1] += any(not c.missed_low <= truth <= c.missed_high for c, truth in zip(path, missed, strict=True))
    for misses in wrong.tolist():
        assert binomtest(misses, 150, 0.2, alternative="greater").pvalue > 0.001


def test_both_estimates_are_unbiased() -> None:
    errors = []
    for seed in range(200):
        ledger, mistakes, missed = sampled_run(seed, n_rounds=4)
        claim = claim_top(ledger)
        errors.append((claim.precision - (1 - mistakes[-1] / claim.n_predicted), claim.missed - missed[-1]))
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(len(errors))
    assert np.all(np.abs(mean) < 4 * spread)


def test_path_is_the_claim_of_each_shorter_ledger() -> None:
    ledger, _, _ = sampled_run(0)
    path = claim_path(ledger)
    assert claim_top(ledger) == path[-1]
    for n_rounds in (1, 2, 7):
        shorter = Ledger()
        for entry in ledger:
            if entry.round < n_rounds:
                shorter.append(entry)
        for one in ledger.rounds[:n_rounds]:
            shorter.close_round(one)
        assert claim_top(shorter) == path[n_rounds - 1]


def test_active_perceptron_with_a_floor_is_covered_and_its_top_is_known_exactly() -> None:
    wrong = 0
    for seed in range(20):
        oracle, missed = stepped(seed, floor=0.02)
        path = claim_path(oracle.ledger, confidence=0.9)
        wrong += any(not c.missed_low <= truth <= c.missed_high for c, truth in zip(path, missed, strict=True))
        answers = np.array([entry.answer for entry in oracle.ledger if entry.in_top])
        assert path[-1].precision == path[-1].precision_low == path[-1].precision_high == pytest.approx(answers.mean())
    assert binomtest(wrong, 20, 0.1, alternative="greater").pvalue > 0.001


def test_interval_is_narrower_with_a_larger_floor() -> None:
    widths = []
    for floor in (0.02, 0.1, 0.5):
        claims = [claim_top(stepped(seed, floor=floor)[0].ledger) for seed in range(3)]
        widths.append(np.mean([claim.missed_high - claim.missed_low for claim in claims]))
    assert widths[0] > widths[1] > widths[2]


def test_everything_asked_is_known_exactly() -> None:
    oracle, missed = stepped(0, floor=1.0)
    claim = claim_top(oracle.ledger)
    assert claim.missed == claim.missed_low == claim.missed_high == missed[-1] == claim.n_found


def test_known_labels_met_again_count_by_the_chance_they_were_drawn_with() -> None:
    # A known row is recorded only where it is drawn again: at its probability the estimate stays unbiased.
    oracle = ArrayOracle(np.ones(10, dtype=int))
    oracle.ask([0], round=0, probability=1.0)
    oracle.ledger.close_round(Round(0, n_rows=10, n_top=1, floor=0.5))
    oracle.ask([0], round=1, probability=0.5)
    oracle.ledger.close_round(Round(1, n_rows=10, n_top=1, floor=0.5))
    assert [claim.missed for claim in claim_path(oracle.ledger)] == [1.0, 3.0]


def test_unknown_answers_count_against_the_estimate_and_widen_the_interval() -> None:
    below = claim_top(small_ledger([UNKNOWN] * 90, in_top=False, probability=1.0))
    assert (below.missed, below.missed_low, below.missed_high) == (0, 0, 90)
    top = claim_top(small_ledger([1, 1, 1, 1, 1, 0, 0, 0, UNKNOWN, UNKNOWN], in_top=True, probability=1.0))
    assert (top.precision, top.precision_low, top.precision_high) == pytest.approx((0.5, 0.5, 0.7))


def test_bounds_stay_within_what_is_possible() -> None:
    claim = claim_top(small_ledger([1] * 20 + [0] * 5, in_top=False, probability=0.1))
    assert claim.missed == 200  # unbiased, though only 90 rows are there
    assert 20 <= claim.missed_low <= claim.missed_high == 85
    assert (claim.precision_low, claim.precision_high) == (0, 1)
    assert "about 85 relevant rows" in claim.in_words()


def test_rounds_that_the_budget_cut_are_left_out_and_named() -> None:
    oracle, _ = stepped(0, {"budget": 150}, floor=0.02)
    claim = claim_top(oracle.ledger)
    assert [one.cut for one in oracle.ledger.rounds].index(True) == claim.n_rounds > 0
    assert claim.n_rounds + claim.n_left_out == 10
    assert f"covers {claim.n_rounds} rounds" in str(claim)


def test_words_say_all_numbers() -> None:
    claim = TopClaim(0.94, 0.92, 0.96, 120.4, 79.2, 210.9, 31, 1650, 33, 0, 0.95)
    assert str(claim) == (
        "Precision of the 1,650 rows predicted so far: 0.940 (0.920 to 0.960); outside them about 120 relevant rows "
        "(at least 80, at most 210; 31 of them are known), each with 95 % confidence at every step."
    )


@pytest.mark.parametrize("settings", [{"sampler": "sequential"}, {"sampler": "exponential", "floor": 0.0}])
def test_no_floor_no_claim(settings: dict[str, Any]) -> None:
    oracle, _ = stepped(0, **settings)
    with pytest.raises(NoClaim, match=r"round \d some rows had .* of being asked.*floor above 0"):
        claim_top(oracle.ledger)


def test_a_budget_that_ends_in_the_first_round_allows_no_claim() -> None:
    oracle, _ = stepped(0, {"budget": 10}, floor=0.02)
    with pytest.raises(NoClaim, match=r"budget ended within round 0.*Raise the budget"):
        claim_top(oracle.ledger)


def test_a_tiny_floor_is_refused_unless_it_is_meant() -> None:
    ledger = small_ledger([0], in_top=False, probability=0.5, floor=1e-6)
    with pytest.raises(NoClaim, match="a chance of 1e-06"):
        claim_top(ledger)
    assert claim_top(ledger, least_floor=1e-7).missed_high == 89


def test_an_empty_ledger_allows_no_claim() -> None:
    with pytest.raises(NoClaim, match="no finished round"):
        claim_top(Ledger())


def test_two_learners_in_one_ledger_are_refused() -> None:
    ledger = small_ledger([1], in_top=False, probability=0.5)
    ledger.close_round(ledger.rounds[0])
    with pytest.raises(NoClaim, match="several rounds of one number"):
        claim_top(ledger)


def test_answers_of_a_batch_that_was_given_up_are_refused() -> None:
    """Without this, they would count as rows of the batch that came in its place: more mistakes than predicted rows."""
    X = np.random.default_rng(0).normal(size=(300, 2))

    def fails_at_105(item: Item) -> int:
        if item == 105:
            raise ConnectionError("gone")
        return 0

    oracle, ranker = CallableOracle(fails_at_105), ActivePerceptronAtK(k=10, floor=0.9, random_state=0)
    ranker.step(X[:100], oracle, items=range(100))
    with pytest.raises(ConnectionError, match="gone"):
        ranker.step(X[100:200], oracle, items=range(100, 200))
    ranker.step(X[200:], oracle, items=range(200, 300))
    with pytest.raises(NoClaim, match=r"Round 1 asked \d+ rows, .* another one was stepped in its place"):
        claim_top(oracle.ledger)


def test_a_floor_above_a_recorded_probability_is_refused() -> None:
    with pytest.raises(NoClaim, match=r"at least 0\.5.*item 0 was asked with 0\.2"):
        claim_top(small_ledger([1], in_top=False, probability=0.2, floor=0.5))


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
def test_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        claim_top(small_ledger([1], in_top=False, probability=0.5), confidence)
