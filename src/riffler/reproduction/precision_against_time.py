"""prec@0.25 of each method against its training time, on those of the paper's data sets that are here.

Protocol: 70 % of the rows to train, 30 % to test, stratified; a quarter of the training rows validates. Columns are
standardised on the other three quarters. Settings are chosen at the second length of training, then the length; the
winner is fitted on all training rows, once for each length, and each fit is timed. One thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from riffler.metrics import precision_at_k
from riffler.records import FloatArray, IntArray
from riffler.reproduction import Progress, part_of
from riffler.reproduction.at_k_methods import K, Method, Settings, methods
from riffler.reproduction.problems import Problem


@dataclass(frozen=True, slots=True)
class Point:
    """One fit on all training rows: how long it took and what it is worth on the test rows."""

    data: str
    method: str
    seed: int
    length: int | None
    chosen: bool  # the length that the validation rows chose
    seconds: float
    tuning_seconds: float
    precision: float
    settings: Settings


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Standardised rows: to fit and validate on, their union to train on, and to test on."""

    fit: tuple[FloatArray, IntArray]
    validation: tuple[FloatArray, IntArray]
    train: tuple[FloatArray, IntArray]
    test: tuple[FloatArray, IntArray]


def compare(
    found: Sequence[Problem],
    seeds: Sequence[int],
    max_rows: int,
    progress: Progress = lambda share, doing: None,
) -> list[Point]:
    """Tune, train and time every method on every problem and split."""
    from threadpoolctl import threadpool_limits

    runs = [(problem, seed) for problem in found for seed in seeds]
    rivals = methods()
    points: list[Point] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Maximum number of iteration reached")
        _compile()
        for number, (problem, seed) in enumerate(runs):
            here = part_of(progress, number / len(runs), (number + 1) / len(runs))
            split = _split(problem, seed, max_rows)
            for place, method in enumerate(rivals):
                here(place / len(rivals), f"{problem.name}, split {seed}: {method.name}")
                points += _points(problem.name, method, split, seed)
    return points


def _points(data: str, method: Method, split: Split, seed: int) -> list[Point]:
    start = perf_counter()
    settings, chosen = _tuned(method, split, seed)
    tuning = perf_counter() - start
    points = []
    for length in method.lengths or (None,):
        model = method.model(settings, length, seed)
        start = perf_counter()
        model.fit(*split.train)
        seconds = perf_counter() - start
        worth = _precision(model, split.test)
        points.append(Point(data, method.name, seed, length, length == chosen, seconds, tuning, worth, settings))
    return points


def _tuned(method: Method, split: Split, seed: int) -> tuple[Settings, int | None]:
    """Choose settings at the second length, then the length; the first of equals, so the shorter training."""
    usual = method.lengths[1] if method.lengths else None

    def worth(settings: Settings, length: int | None) -> float:
        return _precision(method.model(settings, length, seed).fit(*split.fit), split.validation)

    settings = method.grid[0]
    if len(method.grid) > 1:
        settings = max(method.grid, key=lambda one: worth(one, usual))
    if not method.lengths:
        return settings, None
    return settings, max(method.lengths, key=lambda length: worth(settings, length))


def _precision(model: Any, rows: tuple[FloatArray, IntArray]) -> float:  # noqa: ANN401 - an estimator
    return precision_at_k(rows[1], model.decision_function(rows[0]), K)


def _split(problem: Problem, seed: int, max_rows: int) -> Split:
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    rows = np.arange(len(problem.y))
    if len(rows) > max_rows:
        rows, _ = train_test_split(rows, train_size=max_rows, stratify=problem.y, random_state=seed)
    train, test = train_test_split(rows, test_size=0.3, stratify=problem.y[rows], random_state=seed)
    fit, validation = train_test_split(train, test_size=0.25, stratify=problem.y[train], random_state=seed)
    scaler = StandardScaler().fit(problem.X[fit])

    def part(chosen: IntArray) -> tuple[FloatArray, IntArray]:
        return np.ascontiguousarray(scaler.transform(problem.X[chosen])), problem.y[chosen]

    return Split(part(fit), part(validation), part(train), part(test))


def _compile() -> None:
    """Let numba compile before anything is timed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int64)
    for method in methods():
        method.model(method.grid[0], method.lengths[0] if method.lengths else None, 0).fit(X, y)
