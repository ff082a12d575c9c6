"""Candidates come with the chances they should have, and are accepted with exactly the chance of their margin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from riffler._fast import pair_draws
from riffler._fast.rows import as_rows
from riffler.learners import pair_pool
from riffler.learners.pair_pool import PairPool, sampling_from
from riffler.losses.pairwise import PreferencePairs
from riffler.records import FloatArray

GRADES = np.array([0, 1, 2, 0, 1, 0, 1, 1, 0, 2])
GROUPS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2])  # the last group has one row


def pool_of(weight: FloatArray) -> PairPool:
    return PairPool(np.eye(10), PreferencePairs(GRADES, GROUPS, weight), weight, seed=3)


@pytest.mark.parametrize("weight", [np.ones(10), 1.0 + np.arange(10) % 4, 0.0 + np.arange(10) % 3])
def test_pairs_are_drawn_in_proportion_to_the_weights_of_their_rows(weight: FloatArray) -> None:
    pool = pool_of(weight)
    rows = pool._pairs.rows
    drawn = Counter[tuple[int, int]]()
    for number in range(20_000):
        i, j = pair_draws.draw_pair(pool.compiled, 1, 0, number)
        drawn[int(rows[i]), int(rows[j])] += 1
    expected = {
        (i, j): weight[i] * weight[j]
        for i in range(10)
        for j in range(10)
        if GROUPS[i] == GROUPS[j] and GRADES[i] > GRADES[j] and weight[i] * weight[j] > 0
    }
    assert set(drawn) <= set(expected)
    shares = np.array(list(expected.values())) / sum(expected.values())
    assert chisquare([drawn[pair] for pair in expected], 20_000 * shares).pvalue > 1e-3


@pytest.mark.parametrize("weight", [np.ones(10), 1.0 + np.arange(10) % 4])
def test_points_are_drawn_from_both_classes_equally(weight: FloatArray) -> None:
    grades = np.array([0] * 8 + [1] * 2)
    pool = PairPool(np.eye(10), PreferencePairs(grades, None, weight), weight, seed=3)
    upper, lower = Counter[int](), Counter[int]()
    for number in range(10_000):
        i, j = pair_draws.draw_point(pool.compiled, 1, 0, number)
        (lower if i == pair_draws.NONE else upper)[int(pool._pairs.rows[max(i, j)])] += 1
    assert binomtest(sum(upper.values()), 10_000).pvalue > 1e-3
    for found, rows in ((upper, [8, 9]), (lower, list(range(8)))):
        shares = weight[rows] / weight[rows].sum()
        assert set(found) == set(rows)
        assert chisquare([found[row] for row in rows], sum(found.values()) * shares).pvalue > 1e-3


@pytest.mark.parametrize("scale", [0.5, 2.0])
@pytest.mark.parametrize("margin", [-3.0, -0.2, 0.0, 0.5, 1.0, 4.0])
def test_chances_are_those_of_the_formulas(margin: float, scale: float) -> None:
    def chance(sampling: int, loss: int) -> float:
        return float(pair_draws.acceptance(pair_draws.Rule(sampling, loss, scale, 0.0), margin))

    short, log_loss = max(0.0, 1 - margin), np.log1p(np.exp(-margin))
    assert chance(pair_draws.RANDOM, pair_draws.HINGE) == 1.0
    assert chance(pair_draws.SOFT_CLOSE, pair_draws.HINGE) == pytest.approx(2 / (1 + np.exp(abs(margin) / scale)))
    assert chance(pair_draws.SOFT_CORRECT, pair_draws.HINGE) == pytest.approx(np.tanh(short / (2 * scale)))
    assert chance(pair_draws.SOFT_CORRECT, pair_draws.SQUARED_HINGE) == pytest.approx(np.tanh(short / (2 * scale)))
    assert chance(pair_draws.SOFT_CORRECT, pair_draws.LOGISTIC) == pytest.approx(np.tanh(log_loss / (2 * scale)))


@pytest.mark.parametrize("sampling", ["soft-correct", "soft-close"])
def test_accepted_as_often_as_the_chance_says(sampling: str) -> None:
    """Fresh tables, so that no pair is refused for being there already."""
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(10, 3)), np.array([0] * 6 + [1] * 4)
    w = np.array([1.0, -0.5, 0.3])
    pairs = PreferencePairs(grades)
    pool = PairPool(X, pairs, np.ones(10), seed=0)
    rule = pair_draws.Rule(sampling_from(sampling).code, pair_draws.HINGE, 1.0, 0.0)
    accepted = Counter[tuple[int, int]]()
    n_candidates = 0
    for _ in range(4000):
        found = pool.draw(1, w, sampling_from(sampling), rule)
        accepted[int(found.upper[0]), int(found.lower[0])] += 1
        n_candidates += found.n_candidates
        pool._table.fill(-1)
        pool._taken.clear()
    assert pool._n_candidates == n_candidates
    scores = X @ w
    chances = {(i, j): pair_draws.acceptance(rule, scores[i] - scores[j]) for i in range(6, 10) for j in range(6)}
    total = sum(chances.values())
    assert n_candidates / 4000 == pytest.approx(24 / total, rel=0.1)
    likely = [pair for pair in chances if chances[pair] > 0]
    assert set(accepted) <= set(likely)
    observed = [accepted[pair] for pair in likely]
    assert chisquare(observed, [4000 * chances[pair] / total for pair in likely]).pvalue > 1e-3


def test_no_pair_is_taken_twice_and_hard_rules_take_the_extremes() -> None:
    rng = np.random.default_rng(1)
    X, grades = rng.normal(size=(40, 3)), np.arange(40) % 2
    w = rng.normal(size=3)
    scores = X @ w
    taken = []
    pool = PairPool(X, PreferencePairs(grades), np.ones(40), seed=0)
    rule = pair_draws.Rule(pair_draws.RANDOM, pair_draws.HINGE, 1.0, 0.0)
    pool._table = np.full(4, -1, np.int64)  # too small: it has to grow with what is in it
    for name in ("random", "hard-correct", "hard-close", "random"):
        found = pool.draw(30, w, sampling_from(name), rule)
        taken += list(zip(found.upper.tolist(), found.lower.tolist(), strict=True))
        margins = scores[found.upper] - scores[found.lower]
        if name == "hard-correct":
            assert margins.max() < np.quantile(scores[grades == 1][:, None] - scores[grades == 0], 0.2)
        if name == "hard-close":
            assert np.abs(margins).max() < 1.0
    assert len(set(taken)) == len(taken) == 120
    assert (grades[[i for i, _ in taken]] == 1).all()
    assert (grades[[j for _, j in taken]] == 0).all()


def test_points_of_a_rare_class_are_taken_again() -> None:
    X, grades = np.random.default_rng(0).normal(size=(400, 3)), (np.arange(400) < 5).astype(int)
    pool = PairPool(X, PreferencePairs(grades), np.ones(400), seed=0)
    rule = pair_draws.Rule(pair_draws.RANDOM, pair_draws.HINGE, 1.0, 1.0)
    for _ in range(2):
        found = pool.draw(300, np.ones(3), sampling_from("random"), rule)
        assert len(found.upper) == 300
        assert 100 < np.count_nonzero(found.upper >= 0) < 200
    hard = pool.draw(50, np.ones(3), sampling_from("hard-close"), rule)
    assert len(set(zip(hard.upper.tolist(), hard.lower.tolist(), strict=True))) == 50


@pytest.mark.parametrize("weight", [np.ones(150), 1.0 + np.arange(150) % 3])
def test_spread_candidates_let_rows_come_up_as_often_as_they_weigh(weight: FloatArray) -> None:
    grades = (np.arange(150) < 30).astype(int)
    pool = PairPool(np.zeros((150, 1)), PreferencePairs(grades, weight=weight), weight, seed=5)
    rule = pair_draws.Rule(pair_draws.RANDOM, pair_draws.HINGE, 1.0, 0.0, True)
    drawn = [pool.draw(150, np.zeros(1), sampling_from("random"), rule) for _ in range(4)]
    assert all(one.n_candidates < 160 for one in drawn)  # few pairs came twice
    for rows, of_class in (("upper", grades == 1), ("lower", grades == 0)):
        times = np.bincount(np.concatenate([getattr(one, rows) for one in drawn]), minlength=150)
        wanted = np.where(of_class, 600 * weight / weight[of_class].sum(), 0.0)
        assert np.abs(times - wanted).max() < 5
        assert np.abs(times - wanted).mean() < 1.2


def test_only_rows_that_come_up_are_scored() -> None:
    X = np.ones((100_000, 2))
    pool = PairPool(X, PreferencePairs(np.arange(100_000) % 2), np.ones(100_000), seed=0)
    pool.draw(100, np.zeros(2), sampling_from("random"), pair_draws.Rule(0, 0, 1.0, 0.0))
    assert np.isfinite(pool._scores).sum() <= 200
    assert as_rows(X).values is X


def test_where_none_is_worth_it_few_candidates_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand tries a pair are for pairs that are rare, not for pairs that are not there."""
    grades = np.arange(400) % 2
    rule = pair_draws.Rule(pair_draws.SOFT_CORRECT, pair_draws.HINGE, 1.0, 0.0)
    pool = PairPool(5.0 * grades[:, None], PreferencePairs(grades), np.ones(400), seed=0)
    found = pool.draw(5000, np.ones(1), sampling_from("soft-correct"), rule)
    assert (len(found.upper), found.n_candidates) == (0, pair_pool.TRIES_AT_ONCE)
    drawn = []
    for n_at_once in (100, 10**6):
        monkeypatch.setattr(pair_pool, "TRIES_AT_ONCE", n_at_once)
        pool = PairPool(5.0 * grades[:, None], PreferencePairs(grades), np.ones(400), seed=0)
        drawn.append(pool.draw(500, np.zeros(1), sampling_from("soft-correct"), rule))
    np.testing.assert_array_equal(drawn[0].upper, drawn[1].upper)
    assert drawn[0].n_candidates == drawn[1].n_candidates


@pytest.mark.parametrize("weight", [np.ones(400), 1.0 + np.arange(400) % 3])
def test_candidates_are_those_drawn_one_by_one(weight: FloatArray) -> None:
    """Whatever is fetched ahead, and however a single block of equal weights is drawn from."""
    grades = np.arange(400) % 2
    n = 3 * pair_draws.AHEAD + 5
    pool = PairPool(np.eye(400), PreferencePairs(grades, None, weight), weight, seed=3)
    rule = pair_draws.Rule(pair_draws.RANDOM, pair_draws.HINGE, 1.0, 0.0)
    upper, lower = np.full(n, -2, np.int32), np.full(n, -2, np.int32)
    place = pool._rows, pool.compiled, rule, np.ones(400), np.full(400, np.nan), 3, 7
    table = np.full(1 << 12, -1, np.int64)
    n_done, n_used, n_again = pair_draws.accept_pairs(*place, n, table, upper, lower, np.empty(n), np.empty(n))
    expected = dict.fromkeys(pair_draws.draw_pair(pool.compiled, 3, 0, 7 + number) for number in range(n))
    assert n_used == n_done + n_again == n
    assert list(zip(upper[:n_done], lower[:n_done], strict=True)) == list(expected)
