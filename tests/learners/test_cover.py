"""The cover takes the row that is known least, as explicit inverses say, and so finds what lies apart."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.learners import cover
from riffler.learners.cover import COVERS, random_cover, spread_cover
from riffler.records import FloatArray
from tests.naive import contest as naive


@pytest.mark.parametrize("n_known", [0, 1, 12])
@pytest.mark.parametrize("n_columns", [1, 4, 9])
def test_the_spread_cover_equals_greedy_inverses(n_known: int, n_columns: int) -> None:
    rng = np.random.default_rng(n_known * 10 + n_columns)
    features = rng.normal(size=(60, n_columns)) * rng.uniform(0.2, 2, n_columns)
    free = np.ones(60, dtype=bool)
    free[rng.choice(60, n_known, replace=False)] = False
    found = spread_cover(features, free, 25, np.random.default_rng(0))
    assert found.tolist() == naive.spread_cover(features, free, 25)


def test_single_precision_is_enough() -> None:
    features = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    free = np.ones(200, dtype=bool)
    found = spread_cover(features, free, 30, np.random.default_rng(0))
    assert found.tolist() == naive.spread_cover(features.astype(float), free, 30)


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_covers_ask_free_rows_once_and_at_most_n(name: str, n: int) -> None:
    rng = np.random.default_rng(3)
    features, free = rng.normal(size=(50, 3)), rng.random(50) < 0.5
    rows = COVERS[name](features, free, n, rng)
    assert len(rows) == min(n, int(free.sum()))
    assert len(set(rows.tolist())) == len(rows)
    assert free[rows].all()


@pytest.mark.parametrize("name", COVERS)
def test_rows_that_are_all_alike(name: str) -> None:
    for features in (np.zeros((30, 2)), np.ones((30, 2))):
        rows = COVERS[name](features, np.ones(30, dtype=bool), 12, np.random.default_rng(0))
        assert len(set(rows.tolist())) == 12


def first_of_cluster(name: str, features: FloatArray, n_far: int, seed: int) -> int:
    rows = COVERS[name](features, np.ones(len(features), dtype=bool), len(features), np.random.default_rng(seed))
    return int(np.flatnonzero(rows < n_far)[0])


def test_a_small_cluster_that_lies_apart_is_found_soon() -> None:
    firsts: dict[str, list[int]] = {name: [] for name in COVERS}
    for seed in range(20):
        features = np.random.default_rng(seed).normal(size=(500, 5))
        features[:5] += 4.0
        for name in COVERS:
            firsts[name].append(first_of_cluster(name, features, 5, seed))
    assert np.median(firsts["spread"]) < 3
    assert np.median(firsts["random"]) > 30


def test_of_many_rows_only_some_are_looked_at_and_chance_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "LOOKED_AT", 10)
    features, free = np.random.default_rng(0).normal(size=(100, 2)), np.ones(100, dtype=bool)
    seen: set[int] = set()
    for seed in range(60):
        rows = spread_cover(features, free, 50, np.random.default_rng(seed))
        assert len(rows) == 10
        seen |= set(rows.tolist())
    assert len(seen) > 95


def test_the_random_cover_prefers_no_row() -> None:
    free = np.arange(20) % 2 == 0
    rng = np.random.default_rng(0)
    counts = sum(np.bincount(random_cover(np.zeros((20, 1)), free, 3, rng), minlength=20) for _ in range(3000))
    np.testing.assert_allclose(np.asarray(counts)[free] / 3000, 0.3, atol=0.04)
