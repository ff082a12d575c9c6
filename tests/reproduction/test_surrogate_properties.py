"""The search finds the counterexamples that exist, and they are counterexamples by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.reproduction.surrogate_properties import MARGINS, Finding, margin_vector, search
from tests.naive import at_k as naive


@pytest.fixture(scope="module")
def findings() -> dict[tuple[str, str, str], Finding]:
    return {(f.surrogate, f.quality, f.margin): f for f in search(trials=400, seed=1)}


@pytest.mark.parametrize(
    ("surrogate", "convex", "upper_bound", "tight"),
    [
        ("struct", True, False, (False, False, False)),
        ("ramp", False, True, (True, True, True)),
        ("avg", True, True, (False, True, True)),
        ("max", True, True, (False, False, True)),
    ],
)
def test_the_published_table(
    surrogate: str,
    convex: bool,
    upper_bound: bool,
    tight: tuple[bool, bool, bool],
    findings: dict[tuple[str, str, str], Finding],
) -> None:
    assert findings[surrogate, "convex", ""].holds == convex
    assert findings[surrogate, "upper_bound", ""].holds == upper_bound
    assert tuple(findings[surrogate, "tight", margin].holds for margin in MARGINS) == tight


def test_a_shown_counterexample_refutes_by_enumeration(findings: dict[tuple[str, str, str], Finding]) -> None:
    example = findings["struct", "upper_bound", ""].counterexample
    assert example is not None
    scores, labels = np.array(example.vectors[0]), np.array(example.labels)
    assert naive.surrogate("struct", scores, labels, example.k) < naive.loss(scores, labels, example.k)

    example = findings["ramp", "convex", ""].counterexample
    assert example is not None
    left, right, labels = *map(np.array, example.vectors), np.array(example.labels)
    ends = [naive.surrogate("ramp", scores, labels, example.k) for scores in (left, right)]
    assert naive.surrogate("ramp", (left + right) / 2, labels, example.k) > sum(ends) / 2


@pytest.mark.parametrize("margin", MARGINS)
def test_a_margin_vector_has_its_margin(margin: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = rng.permutation([1] * 5 + [0] * 4)
        k = int(rng.integers(1, 6))
        moved = margin_vector(margin, rng.normal(size=9), labels, k, gap=0.5)
        positives, best_negative = np.sort(moved[labels == 1])[::-1], moved[labels == 0].max()
        reached = {"weak": positives[k - 1], "mean": positives[k - 1 :].mean(), "strong": positives[-1]}[margin]
        assert reached - best_negative >= 0.5 - 1e-9
        assert margin == "weak" or reached - best_negative == pytest.approx(0.5)
