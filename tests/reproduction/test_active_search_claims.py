"""Verdicts follow from ratios and their intervals, on runs made by hand."""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files

import pytest

from riffler.reproduction.active_search import ActiveSearchAgain, Plan
from riffler.reproduction.active_search_claims import ratio, ratios, verdicts
from riffler.reproduction.active_search_data import made_up
from riffler.reproduction.active_search_runs import Case, Found
from riffler.reproduction.active_search_ways import CALIBRATED, GREEDY, MMR, THOMPSON, WEIGHTS, Way

TOPICS = ("A", "B")


def found(at_90: int, at_95: int, at_99: int) -> Found:
    """A run of 100 relevant items in 10,000 that reaches three recalls after so many labels."""
    places = [*range(1, 90), at_90, *range(at_90 + 1, at_90 + 5), at_95, *range(at_95 + 1, at_95 + 4), at_99]
    return Found(tuple(places), n_read=4_000, n_items=10_000, n_relevant=100, seconds=1.0)


def again(
    results: dict[Case, list[Found]], ways: tuple[Way, ...] = (GREEDY, THOMPSON, CALIBRATED)
) -> ActiveSearchAgain:
    text = files("riffler.reproduction").joinpath("expected_active_search.toml").read_text(encoding="utf-8")
    plan = Plan(n_runs=3, n_side_runs=3, topics=TOPICS, side_topics=("A",), ways=ways)
    return ActiveSearchAgain(plan, tomllib.loads(text), made_up(TOPICS, n_items=300), results, [])


def as_published() -> dict[Case, list[Found]]:
    results: dict[Case, list[Found]] = {}
    for topic in TOPICS:
        results[topic, GREEDY] = [found(300 + seed, 1000 + seed, 3000 + seed) for seed in range(3)]
        results[topic, THOMPSON] = [found(330 + seed, 960 + seed, 2100 + seed) for seed in range(3)]
        results[topic, CALIBRATED] = results[topic, THOMPSON]
    return results


def words_of(run: ActiveSearchAgain) -> dict[str, str]:
    return {verdict.name: verdict.verdict for verdict in verdicts(run)}


def test_the_published_shape_agrees() -> None:
    found_words = words_of(again(as_published()))
    assert {found_words[name] for name in ("early", "middle", "late", "budget")} == {"agrees"}
    assert {found_words[name] for name in ("mmr", "weights", "tuned")} == {"not shown"}  # were not run


def test_the_opposite_shape_disagrees() -> None:
    turned = as_published()
    for topic in TOPICS:
        turned[topic, GREEDY], turned[topic, THOMPSON] = turned[topic, THOMPSON], turned[topic, GREEDY]
    found_words = words_of(again(turned))
    assert {found_words[name] for name in ("early", "middle", "late")} == {"disagrees"}


def test_a_small_saving_is_not_the_published_one() -> None:
    small = as_published()
    for topic in TOPICS:
        small[topic, THOMPSON] = [found(330 + seed, 960 + seed, 2900 + seed) for seed in range(3)]
    assert words_of(again(small))["late"] == "disagrees"
    assert ratios(again(small), 0.99)["A"][2] < 1


def test_weaker_methods_are_judged_on_the_side_topic() -> None:
    results = as_published()
    results["A", MMR] = [found(400 + seed, 1500 + seed, 3500 + seed) for seed in range(3)]
    results["A", WEIGHTS] = [Found(tuple(range(1, 60)), 4_000, 10_000, 100, 1.0)] * 3
    run = again(results, (GREEDY, THOMPSON, CALIBRATED, MMR, WEIGHTS))
    assert words_of(run)["mmr"] == words_of(run)["weights"] == "agrees"
    assert "not even recall 0.90" in next(one.evidence for one in verdicts(run) if one.name == "weights")
    assert "> 40.00" in run.page()


def test_a_ratio_is_taken_run_by_run_and_one_run_shows_nothing() -> None:
    slow, fast = [found(200, 500, 2000), found(400, 800, 3000)], [found(100, 300, 1000), found(200, 400, 1500)]
    mean, low, high = ratio(slow, fast, 0.99)
    assert (mean, low, high) == pytest.approx((2.0, 2.0, 2.0))
    assert ratio(slow[:1], fast, 0.99) == pytest.approx((2.0, 0.0, math.inf))
