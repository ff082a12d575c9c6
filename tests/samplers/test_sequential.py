"""The walk in leaps asks for exactly the rows that a walk one by one asks for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler import Sequential
from riffler.records import FloatArray, IntArray
from riffler.samplers import Below


def one_by_one(below: Below, labels: IntArray, most: int) -> list[int]:
    asked: list[int] = []
    found = 0
    for row in sorted(range(len(labels)), key=lambda i: (below.gaps[i], below.draws[i])):
        if found == below.n_wanted or len(asked) == most:
            break
        asked.append(row)
        found += int(labels[row] == 1)
    return asked


@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(0, 40), wanted=st.integers(0, 8), budget=st.sampled_from([0, 5, 100])
)
def test_a_walk_in_leaps_is_a_walk_one_by_one(seed: int, n: int, wanted: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 1, -1], n, p=[0.6, 0.3, 0.1])
    gaps = rng.integers(0, 6, n) / 2.0  # with ties
    below = Below(gaps, wanted, None, 0.0, rng.random(n))
    asked: list[int] = []

    def ask(rows: IntArray, probability: FloatArray) -> IntArray:
        assert (probability == 1).all()
        affordable = rows[: budget - len(asked)]
        asked.extend(affordable.tolist())
        told: IntArray = labels[affordable]
        return told

    assert Sequential().sample(below, ask) == 0.0
    assert asked == one_by_one(below, labels, budget)
