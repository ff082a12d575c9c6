"""Verdicts follow the numbers: runs are made up, and the words must change with them."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import numpy as np

from riffler.evaluation.active_runs import ActiveRun
from riffler.reproduction.active_at_k import SIZES, ActiveAtK, Plan
from riffler.reproduction.active_at_k_cases import Case
from riffler.reproduction.problems import two_gaussians
from riffler.reproduction.verdicts import Verdict

EXPECTED = tomllib.loads(
    files("riffler.reproduction").joinpath("expected_active_at_k.toml").read_text(encoding="utf-8")
)  # fmt: skip
PLAN = Plan(SIZES["quick"], {"two Gaussians": two_gaussians(n_rows=6000)})


def made_up(case: Case, seed: int, worth: dict[str, float], cost: dict[str, int]) -> ActiveRun:
    """Precision by scheme, a kernel 0.05 more, wrong answers or an unkind order 0.2 less if it walks, else 0.1."""
    name = case.way.name
    precision = worth[name] + 0.05 * (case.way.kernel == "rbf") + 0.001 * seed
    if case.feed.flipped or case.feed.order != "random":
        precision -= 0.2 if name == "sequential" else 0.1
    wobble = 0.1 if name == "uniform" else 0.01
    below = np.arange(1, 6) * cost[name] * (1 + 9 * (name == "sequential" and case.feed.order != "random"))
    n_rows = case.feed.n_rows or 6000
    top = case.k * round(float(np.log(n_rows)) * 1000) * np.arange(1, 6)
    return ActiveRun(precision + wobble * np.array([0, 1, -1, 1, -1]), top + below, below, np.ones(5), precision)


def judged(worth: dict[str, float], cost: dict[str, int]) -> dict[str, Verdict]:
    results = {case: [made_up(case, seed, worth, cost) for seed in range(3)] for case in PLAN.cases()}
    return {verdict.name: verdict for verdict in ActiveAtK(PLAN, EXPECTED, results, [], 1.0).verdicts}


PUBLISHED = {"sequential": 0.7, "exponential": 0.7, "inverse": 0.7, "uniform": 0.6, "active-top-k": 0.7}
CHEAPER = {"sequential": 100, "exponential": 20, "inverse": 20, "uniform": 20, "active-top-k": 20}


def test_when_all_is_as_published() -> None:
    found = judged(PUBLISHED, CHEAPER)
    assert [verdict.name for verdict in found.values()] == [claim["name"] for claim in EXPECTED["claims"]]
    assert {verdict.verdict for verdict in found.values()} == {"agrees"}
    assert "20%" in found["fewer"].evidence


def test_a_scheme_that_falls_behind_is_said() -> None:
    found = judged({**PUBLISHED, "inverse": 0.6}, CHEAPER)
    assert found["close"].verdict == found["rare"].verdict == "in part"
    assert "-0.100" in found["close"].evidence
    assert found["uniform"].verdict == "in part"


def test_as_many_queries_are_not_fewer() -> None:
    assert judged(PUBLISHED, dict.fromkeys(CHEAPER, 50))["fewer"].verdict == "disagrees"
