"""The bet against the model: rarely won while predictions hold, soon won when they do not, and it knows since when."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from riffler.learners.drift import BETS, DriftWatch
from riffler.records import FloatArray, IntArray

Chances = Callable[[np.random.Generator, int], FloatArray]

PREDICTIONS: dict[str, Chances] = {
    "any": lambda rng, n: rng.random(n),
    "open": lambda rng, n: np.full(n, 0.5),
    "rare": lambda rng, n: np.full(n, 0.1),
    "very rare": lambda rng, n: rng.random(n) * 0.05,
    "nearly sure": lambda rng, n: np.full(n, 0.92),
    "extreme": lambda rng, n: rng.beta(0.1, 0.1, n),
}


def answers_of(rng: np.random.Generator, chances: FloatArray) -> IntArray:
    return (rng.random(chances.size) < chances).astype(np.int8)


def n_alarms(answers: IntArray, chances: FloatArray, level: float, slack: float) -> int:
    """Walk through a stream answer by answer, and start anew after every alarm."""
    watch, n = DriftWatch.new(0, slack), 0
    for at in range(answers.size):
        watch = watch.after(answers[at : at + 1], chances[at : at + 1], 0)
        if watch.stake >= level:
            watch, n = DriftWatch.new(0, slack), n + 1
    return n


@pytest.mark.parametrize("name", PREDICTIONS)
@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_while_predictions_hold_alarms_are_as_rare_as_promised(name: str, slack: float) -> None:
    rng, level, n = np.random.default_rng(0), 500.0, 8_000
    chances = PREDICTIONS[name](rng, n)
    assert n_alarms(answers_of(rng, chances), chances, level, slack) < n / level


@pytest.mark.parametrize("name", PREDICTIONS)
@pytest.mark.parametrize("off", [-0.1, 0.1])
def test_predictions_that_are_off_by_the_slack_are_forgiven(name: str, off: float) -> None:
    rng, level, n = np.random.default_rng(1), 500.0, 8_000
    chances = PREDICTIONS[name](rng, n)
    truth = np.clip(chances + off, 0.0, 1.0)
    assert n_alarms(answers_of(rng, truth), chances, level, 0.1) < n / level


@pytest.mark.parametrize("slack", [0.0, 0.1, 0.3])
def test_no_bet_grows_on_average_within_the_slack(slack: float) -> None:
    """The mean of a stake after one answer, exactly, from a stake so high that it does not start again."""
    high = DriftWatch(np.full(BETS.size, 1000.0), np.zeros(BETS.size, dtype=int), slack)
    for chance in np.linspace(0, 1, 21):
        after = [high.after(np.array([answer]), np.array([chance]), 0).stakes / 1000 for answer in (0, 1)]
        for truth in np.clip([chance - slack, chance, chance + slack], 0, 1):
            assert (truth * after[1] + (1 - truth) * after[0] <= 1 + 1e-12).all()


@pytest.mark.parametrize("kind", ["flipped", "all irrelevant now", "all relevant now"])
def test_a_change_raises_the_alarm_soon_and_is_dated(kind: str) -> None:
    delays = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        watch, n_each = DriftWatch.new(0), 50
        for round in range(20):  # the change comes with round 10
            chances = rng.uniform(0.6, 0.95, n_each) if kind != "all relevant now" else rng.uniform(0.05, 0.4, n_each)
            truth = chances if round < 10 else np.full(n_each, float(kind == "all relevant now"))
            truth = 1 - chances if kind == "flipped" and round >= 10 else truth
            watch = watch.after(answers_of(rng, truth), chances, round)
            if watch.stake >= 10_000:
                break
            assert round < 19, "no alarm"
        assert round >= 10
        assert watch.changed_in in (9, 10)
        delays.append(round)
    assert max(delays) <= 11  # within 100 answers


def test_nothing_told_changes_nothing() -> None:
    watch = DriftWatch.new(3)
    after = watch.after(np.empty(0, dtype=np.int8), np.empty(0), 7)
    np.testing.assert_array_equal(after.stakes, 1.0)
    assert (after.stake, after.changed_in) == (1.0, 3)


def test_stakes_multiply_and_start_again_at_one() -> None:
    watch = DriftWatch.new(0, slack=0.0)
    after = watch.after(np.array([1, 1]), np.array([0.5, 0.2]), 4)
    np.testing.assert_allclose(after.stakes, [1, 1, 1.25 * 1.4, 1.45 * 1.72])
    assert after.since.tolist() == [4, 4, 0, 0]
    assert after.changed_in == 0
    np.testing.assert_array_equal(watch.stakes, 1.0)  # the earlier watch stays as it was
