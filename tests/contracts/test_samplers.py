"""What every sampler keeps: a row is asked once, with the probability it says, wherever it stands in the batch."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.records import FloatArray, IntArray
from riffler.samplers import SAMPLERS, Below, WeightedSampler, budgeted, sampler_from

N = 40
GAPS = np.sort(np.random.default_rng(0).exponential(1.0, N))
LABELS = (np.arange(N) % 3 == 0).astype(np.int8)

every_sampler = pytest.mark.parametrize("name", SAMPLERS)
weighted = pytest.mark.parametrize("name", [name for name in SAMPLERS if name != "sequential"])


def sampled(
    name: str, draws: FloatArray, gaps: FloatArray = GAPS, floor: float = 0.02
) -> tuple[IntArray, FloatArray, float]:
    """Rows asked, with which probability, and the floor that the sampler names."""
    asked: list[IntArray] = []
    chances: list[FloatArray] = []

    def ask(rows: IntArray, probability: FloatArray) -> IntArray:
        asked.append(rows)
        chances.append(probability)
        told: IntArray = LABELS[rows]
        return told

    least = sampler_from(name).sample(Below(gaps, 5, 8.0, floor, draws), ask)
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *asked]), np.concatenate([np.empty(0), *chances]), least


@weighted
def test_rows_are_asked_as_often_as_their_probability_says(name: str) -> None:
    sampler = sampler_from(name)
    assert isinstance(sampler, WeightedSampler)
    expected = budgeted(sampler.weights(GAPS), 8.0, 0.02)
    rng, n_runs = np.random.default_rng(1), 4000
    counts = np.zeros(N)
    for _ in range(n_runs):
        rows, probability, least = sampled(name, rng.random(N))
        np.testing.assert_array_equal(probability, expected[rows])
        assert least == expected.min()
        counts[rows] += 1
    error = np.sqrt(expected * (1 - expected) / n_runs)
    assert (np.abs(counts / n_runs - expected) <= 4.5 * error + 1e-12).all()
    assert expected.sum() == pytest.approx(8.0)


@every_sampler
def test_no_row_is_asked_twice_and_the_order_of_rows_is_nothing(name: str) -> None:
    rng = np.random.default_rng(2)
    draws = rng.random(N)
    rows, _, least = sampled(name, draws)
    assert len(set(rows.tolist())) == rows.size > 0
    if name != "sequential":  # its walk depends on answers, which do not move with the rows here
        mixed = rng.permutation(N)
        moved, _, least_moved = sampled(name, draws[mixed], GAPS[mixed])
        assert sorted(mixed[moved].tolist()) == sorted(rows.tolist())
        assert least_moved == pytest.approx(least)


@every_sampler
def test_nothing_below_is_nothing_asked(name: str) -> None:
    rows, _, _ = sampled(name, np.empty(0), np.empty(0))
    assert rows.size == 0


@weighted
@pytest.mark.parametrize("floor", [0.0, 0.3, 1.0])
def test_the_floor_holds(name: str, floor: float) -> None:
    rows, probability, least = sampled(name, np.full(N, 0.25), floor=floor)
    assert least >= floor
    assert (probability >= floor).all()
    if floor >= 0.3:
        assert rows.size == N
