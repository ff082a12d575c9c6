"""The interval of the recall: exact by enumeration, true as often as promised, never at odds with the certificate."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from riffler.stopping import Decision
from riffler.stopping.recall_interval import StratumSample, estimate_recall, total_between

OPEN = Decision(False, "", certificate=True)


def sample(n_items: int, n_met: int, n_drawn: int, n_missed: int, n_unresolved: int = 0) -> StratumSample:
    """A stratum of which the policy read its finds, and the random order its head; nothing of both was the same."""
    n_found = n_met + n_missed
    n_possible = n_items - n_met - n_drawn + n_unresolved
    return StratumSample(n_items, n_found, n_met, n_possible, n_drawn, n_missed, n_drawn, n_unresolved)


@pytest.mark.parametrize("n_drawn", [1, 4, 7])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_each_end_is_wrong_in_no_more_samples_than_promised(n_drawn: int, confidence: float) -> None:
    """Every sample of 10 items, whatever the number of missed ones among them."""
    samples = list(combinations(range(10), n_drawn))
    for n_missing in range(11):
        too_low = too_high = 0
        for drawn in samples:
            n_seen = sum(item < n_missing for item in drawn)
            low, high = total_between(StratumSample(10, n_seen, 0, 10 - n_drawn, n_drawn, n_seen, 0, 0), confidence)
            too_high += low > n_missing
            too_low += high < n_missing
        for wrong in (too_low, too_high):
            assert wrong <= (1 - confidence) / 2 * len(samples) + 1e-9


def test_the_truth_lies_within_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    n_inside, n_runs = 0, 400
    for _ in range(n_runs):
        n_missing = int(rng.integers(0, 60))  # the policy found 50, in the first 100 that it read
        drawn = rng.permutation(500)[: int(rng.integers(20, 200))]
        n_seen = int(np.sum((drawn >= 100) & (drawn < 100 + n_missing)))
        n_possible = 400 - int(np.sum(drawn >= 100))
        part = StratumSample(500, 50 + n_seen, 50, n_possible, drawn.size, n_seen, 0, 0)
        found = estimate_recall([part], OPEN, 0.5, 0.9)
        n_inside += found.total_low <= 50 + n_missing <= found.total_high
    assert binomtest(n_inside, n_runs, 0.9, alternative="less").pvalue > 0.01


def test_the_guess_is_in_the_middle_of_what_is_likely() -> None:
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(300):
        drawn = rng.permutation(1000)[:200]
        guess = estimate_recall([sample(1000, 0, 200, int(np.sum(drawn < 50)))], OPEN, 0.95, 0.95)
        assert guess.total is not None
        assert guess.total_low <= guess.total <= guess.total_high
        errors.append(guess.total - 50)
    assert abs(float(np.mean(errors))) < 3.0
    assert 0.4 < np.mean(np.array(errors) <= 0) < 0.6


def test_before_anything_is_drawn_it_is_what_logic_allows() -> None:
    found = estimate_recall([sample(100, 5, 0, 0)], OPEN, 0.95, 0.95)
    assert (found.total_low, found.total_high, found.total, found.recall) == (5, 100, None, None)
    assert (found.recall_low, found.recall_high) == (0.05, 1.0)
    nothing = estimate_recall([sample(100, 0, 0, 0)], None, 0.95, 0.95)
    assert (nothing.recall, nothing.recall_low, nothing.recall_high) == (None, 0.0, 1.0)


def test_an_unresolved_document_is_missed_at_one_end_and_irrelevant_at_the_other() -> None:
    clear = estimate_recall([sample(1000, 40, 200, 1)], OPEN, 0.95, 0.95)
    doubtful = estimate_recall([sample(1000, 40, 200, 1, n_unresolved=2)], OPEN, 0.95, 0.95)
    worst = estimate_recall([sample(1000, 40, 200, 3)], OPEN, 0.95, 0.95)
    assert doubtful.total_low == clear.total_low
    assert doubtful.total_high == worst.total_high > clear.total_high
    assert doubtful.recall_low < clear.recall_low
    assert doubtful.n_unresolved == 2


def test_it_never_contradicts_the_certificate() -> None:
    """While the target is not proved the lower end stays below it; once it is, the lower end is what was proved."""
    good = sample(2000, 400, 1000, 0)
    assert total_between(good, 0.95)[1] < 410
    assert estimate_recall([good], OPEN, 0.95, 0.95).recall_low < 0.95
    proved = Decision(True, "", certificate=True, recall_low=0.95)
    after = estimate_recall([good], proved, 0.95, 0.95)
    assert 0.95 <= after.recall_low < 0.96
    poor = sample(2000, 400, 20, 0)  # the rule knows better than the interval of this moment
    assert estimate_recall([poor], proved, 0.95, 0.95).recall_low >= 0.95


def test_strata_add_up_with_a_share_of_the_error_each() -> None:
    parts = [sample(1000, 40, 200, 1), sample(300, 3, 60, 2)]
    both = estimate_recall(parts, OPEN, 0.95, 0.95)
    ends = [total_between(part, 0.975) for part in parts]
    assert (both.total_low, both.total_high) == (sum(low for low, _ in ends), sum(high for _, high in ends))
    assert both.n_found == 46
    assert both.n_control == 260
    none_drawn = estimate_recall([parts[0], sample(300, 3, 0, 0)], OPEN, 0.95, 0.95)
    assert none_drawn.total is None
