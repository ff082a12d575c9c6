"""Verdicts follow the numbers."""

from __future__ import annotations

from riffler.reproduction.at_k_claims import verdicts
from riffler.reproduction.at_k_methods import methods
from riffler.reproduction.mistake_bounds import MistakeCurve, SeparableRun
from riffler.reproduction.precision_against_time import Point
from riffler.reproduction.verdicts import Verdict

NAMES = ("updates", "mistakes", "without_square", "one_pass", "svmperf", "time", "robust")
CLAIMS = [{"name": name, "text": name, "source": "test"} for name in NAMES]


def judged(precision: dict[str, float], mistakes: float = 20.0, struct_seconds: float = 1.0) -> dict[str, Verdict]:
    runs = [SeparableRun(stream, 1, 0.4, 0, int(mistakes), mistakes, 25.0, 5.0) for stream in ("random", "adversary")]
    curve = MistakeCurve(1, 0, (1, 2), (1.0, mistakes), (10.0, 25.0), (2.0, 5.0))
    points = [
        Point("set", m.name, seed, None, True, struct_seconds if m.name.startswith("struct") else 0.1, 0.0,
              precision.get(m.name, 0.8), {})
        for m in methods() for seed in (0, 1)
    ]  # fmt: skip
    return {verdict.name: verdict for verdict in verdicts(CLAIMS, runs, [curve], points)}


def test_when_all_is_as_published() -> None:
    found = judged({})
    assert found["without_square"].verdict == "disagrees"
    assert {found[name].verdict for name in NAMES if name != "without_square"} == {"agrees"}


def test_a_broken_bound_is_said() -> None:
    found = judged({}, mistakes=30.0)
    assert found["updates"].verdict == "disagrees"
    assert found["mistakes"].verdict == "in part"


def test_a_worse_method_is_named_with_its_loss() -> None:
    found = judged({"Perceptron@k-avg": 0.7})
    assert found["one_pass"].verdict == "in part"
    assert "set -0.100" in found["one_pass"].evidence
    assert found["robust"].verdict == "in part"  # a larger distance, an equal spread


def test_equal_time_is_no_fraction() -> None:
    assert judged({}, struct_seconds=0.1)["time"].verdict == "disagrees"
