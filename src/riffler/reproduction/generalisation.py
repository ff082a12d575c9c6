"""What a ranking learned from n rows is worth on rows not seen, against n.

Rows are Gaussian and P(y = 1 | x) = sigmoid(slope <u, x> + shift), so the best ranking of all is known: that of u. The
chances are known as well, so the held-out precision is the mean chance of the top rows, free of the labels' noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riffler.learners.perceptron_at_k import PerceptronAtK
from riffler.learners.sgd_at_k import SGDAtK
from riffler.metrics import resolve_k
from riffler.records import FloatArray
from riffler.reproduction import Progress
from riffler.reproduction.at_k_methods import K
from riffler.reproduction.slopes import log_slope

N_FEATURES = 20
N_HELD_OUT = 200_000
SLOPE, SHIFT = 1.5, -3.0
"""Noise such that about 10 % of the rows are positive and even the best ranking errs at the top."""


@dataclass(frozen=True, slots=True)
class Trained:
    """One fit on n rows: precision at k on these rows, on the held-out ones, and that of the best ranking there."""

    method: str
    n: int
    seed: int
    training: float
    held_out: float
    best: float


@dataclass(frozen=True, slots=True)
class Rate:
    """Slope of log(mean size) against log n: of the gap between training and held-out, or of the loss to the best."""

    method: str
    what: str  # "gap" or "excess"
    slope: float
    standard_error: float


def simulate(
    sizes: Sequence[int], seeds: Sequence[int], progress: Progress = lambda share, doing: None
) -> list[Trained]:
    """Train both methods, with averaged iterates, on every number of rows and seed."""
    runs = []
    X_new, chance = draw(N_HELD_OUT, np.random.default_rng(10_000))
    best = expected_precision(X_new[:, 0], chance)
    for number, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        X, chance_here = draw(max(sizes), rng)
        y = (rng.random(len(X)) < chance_here).astype(np.int64)
        for n in sizes:
            progress(number / len(seeds), f"learning from {n:,} rows, seed {seed}")
            for name, ranker in _rankers(n, seed).items():
                ranker.fit(X[:n], y[:n])
                held_out = expected_precision(ranker.decision_function(X_new), chance)
                runs.append(Trained(name, n, seed, ranker.score(X[:n], y[:n]), held_out, best))
    return runs


def draw(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw n rows and their chances to be positive; the first axis is the true direction u."""
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    return X, 1 / (1 + np.exp(-(SLOPE * X[:, 0].astype(float) + SHIFT)))


def expected_precision(scores: FloatArray, chance: FloatArray) -> float:
    """Mean chance of the best scored rows, as many as a quarter of the expected positives.

    >>> expected_precision(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.75, 1.0, 1.0, 1.0]))
    0.75
    """
    n_top = resolve_k(K, float(chance.sum()))
    top = np.argpartition(-scores, n_top - 1)[:n_top]
    return float(chance[top].mean())


def rates(runs: Sequence[Trained]) -> list[Rate]:
    """Fit the slopes by least squares on the means over the seeds."""
    found = []
    for method in dict.fromkeys(run.method for run in runs):
        mine = [run for run in runs if run.method == method]
        sizes = sorted({run.n for run in mine})
        gap = [float(np.mean([abs(run.training - run.held_out) for run in mine if run.n == n])) for n in sizes]
        excess = [float(np.mean([run.best - run.held_out for run in mine if run.n == n])) for n in sizes]
        found += [Rate(method, "gap", *log_slope(sizes, gap)), Rate(method, "excess", *log_slope(sizes, excess))]
    return found


def _rankers(n: int, seed: int) -> dict[str, PerceptronAtK | SGDAtK]:
    """SGD once as it is, and once as the theory has it: one pass over batches of sqrt(n) rows (100 at least)."""
    return {
        "PerceptronAtK": PerceptronAtK(K, random_state=seed),
        "SGDAtK": SGDAtK(K, random_state=seed),
        "SGDAtK, one pass": SGDAtK(K, n_epochs=1, batch_size=max(100, round(n**0.5)), random_state=seed),
    }
