"""Regret and shares equal the plain loop over draws; rules pick free rows, at most n, as often as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler import UnknownName
from riffler.learners.laplace import probability_of
from riffler.learners.purchase import PURCHASES, Contest, Thompson, purchase_from
from riffler.records import FloatArray
from tests.naive import contest as naive

every_rule = pytest.mark.parametrize("name", PURCHASES)


def contest(n_rows: int = 40, n_draws: int = 30, k: int = 6, seed: int = 0, share_free: float = 0.6) -> Contest:
    rng = np.random.default_rng(seed)
    mean: FloatArray = rng.normal(size=n_rows) * 2
    return Contest.of(mean, mean[:, None] + rng.normal(size=(n_rows, n_draws)), k, rng.random(n_rows) < share_free)


@given(st.integers(0, 1000), st.integers(1, 25), st.integers(1, 12), st.integers(1, 30))
def test_regret_and_shares_equal_the_plain_loop(seed: int, n_rows: int, n_draws: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=n_rows)
    logits, free = mean[:, None] + rng.normal(size=(n_rows, n_draws)), rng.random(n_rows) < 0.5
    found = Contest.of(mean, logits, k, free)
    assert found.regret == pytest.approx(naive.regret(mean, logits, k), abs=1e-12)
    assert found.regret >= -1e-12  # no top is better under a draw than its own
    np.testing.assert_allclose(found.shares, naive.shares(logits, k), atol=1e-12)
    places = [free[row] for draw in logits.T for row in naive.top(draw, k)]
    assert found.open_share == pytest.approx(np.mean(places))
    np.testing.assert_allclose(found.relevance, probability_of(logits).mean(axis=1))


def test_draws_that_agree_leave_no_regret() -> None:
    mean = np.random.default_rng(0).normal(size=50)
    free = np.ones(50, dtype=bool)
    assert Contest.of(mean, np.repeat(mean[:, None], 20, axis=1), 5, free).regret == 0.0
    louder = mean[:, None] * np.linspace(0.5, 3, 20)  # other chances, the same order
    assert Contest.of(mean, louder, 5, free).regret == pytest.approx(0.0, abs=1e-12)
    assert Contest.of(mean, -louder, 5, free).regret > 0.1


def test_shares_sum_to_k() -> None:
    assert contest(k=6).shares.sum() == pytest.approx(6)
    assert contest(n_rows=4, k=6).shares.tolist() == [1.0] * 4


@every_rule
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_rules_pick_free_rows_once_and_at_most_n(name: str, n: int) -> None:
    for seed in range(10):
        market = contest(seed=seed)
        rows = PURCHASES[name]().pick(market, n, np.random.default_rng(seed))
        assert len(rows) <= n
        assert len(set(rows.tolist())) == len(rows)
        assert market.free[rows].all()


@every_rule
def test_rules_pick_nothing_where_nothing_is_free(name: str) -> None:
    assert PURCHASES[name]().pick(contest(share_free=0.0), 5, np.random.default_rng(0)).size == 0


@pytest.mark.parametrize("name", ["thompson", "contested"])
def test_rows_that_no_draw_wants_are_not_bought(name: str) -> None:
    market = contest(n_rows=200, k=3)
    rows = PURCHASES[name]().pick(market, 1000, np.random.default_rng(0))
    assert set(rows.tolist()) == set(np.flatnonzero((market.shares > 0) & market.free).tolist())


@pytest.mark.parametrize("name", ["thompson", "contested"])
def test_a_row_is_bought_first_as_often_as_its_weight_says(name: str) -> None:
    market = contest(n_rows=12, k=4)
    chance = market.relevance
    weight = market.shares * market.free * (1.0 if name == "thompson" else chance * (1 - chance))
    rng, rule, n = np.random.default_rng(1), PURCHASES[name](), 8_000
    counts = np.bincount([int(rule.pick(market, 1, rng)[0]) for _ in range(n)], minlength=12)
    expected = weight / weight.sum()
    np.testing.assert_allclose(counts / n, expected, atol=4 * np.sqrt(0.25 / n))


def test_the_highest_are_those_predicted_best_first() -> None:
    rng = np.random.default_rng(2)
    mean = rng.normal(size=30)
    free = rng.random(30) < 0.5
    market = Contest.of(mean, np.repeat(mean[:, None], 3, axis=1), 10, free)
    wanted = [row for row in naive.top(mean, 10) if free[row]]
    assert purchase_from("highest").pick(market, 3, rng).tolist() == wanted[:3]


def test_the_most_uncertain_are_nearest_to_one_half() -> None:
    market = contest()
    rows = purchase_from("uncertain").pick(market, 5, np.random.default_rng(0))
    gaps = np.abs(market.relevance - 0.5)
    assert gaps[rows].tolist() == sorted(gaps[market.free])[:5]


def test_a_rule_by_name_or_itself() -> None:
    rule = Thompson()
    assert purchase_from(rule) is rule
    assert isinstance(purchase_from("thompson"), Thompson)
    with pytest.raises(UnknownName, match=r"No purchase rule called 'greedy'. Known: contested, highest, thompson"):
        purchase_from("greedy")
