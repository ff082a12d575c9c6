"""Simulated streams with known truth: how often the bounds fail, at any round, and how wide they are.

Run ``python -m tests.stopping.streams`` for the table of docs/methods/claims.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riffler.records import FloatArray, IntArray
from riffler.stopping.sampled_count import Finds, bounded_above, bounded_below, estimated

N_ROUNDS, N_ROWS = 30, 400

Chances = Callable[[int, int, float], FloatArray]
"""Round, finds of the round before, and estimate so far -> probability of each row, first ranked first."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Rounds of rows in rank order; the share that counts is a function of the rank, from 0 for the first to 1."""

    name: str
    prevalence: Callable[[FloatArray], FloatArray]
    chances: Chances


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Truth, estimate and bounds after each round of one run."""

    truth: IntArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    normal_misses: bool

    @property
    def misses(self) -> bool:
        return bool(np.any((self.truth < self.low - 1e-9) | (self.truth > self.high + 1e-9)))


def same(share: float) -> Callable[[FloatArray], FloatArray]:
    return lambda rank: np.full_like(rank, share)


def everywhere(p: float) -> Chances:
    return lambda round, finds, estimate: np.full(N_ROWS, p)


def exponential(round: int, finds: int, estimate: float) -> FloatArray:
    """The exponential sampler with a floor."""
    return np.minimum(0.02 + np.exp(-np.linspace(0, 4, N_ROWS) / 0.3), 1.0)


def eager(round: int, finds: int, estimate: float) -> FloatArray:
    """More where the round before found little, and the ranks change sides: the floor jumps up and down."""
    return np.where(np.arange(N_ROWS) % 2 == round % 2, 0.03, 0.4 if finds < 3 else 0.06)


def misleading(round: int, finds: int, estimate: float) -> FloatArray:
    """Hardly look any more once the estimate lies above the truth (of 8 a round): tries to freeze an error."""
    return np.full(N_ROWS, 0.01 if estimate > 8 * round else 0.1)


def fading(round: int, finds: int, estimate: float) -> FloatArray:
    """Looks less and less."""
    return np.full(N_ROWS, 0.3 * 0.9**round)


STREAMS = (
    Stream("rare (0.2 %), p = .02", same(0.002), everywhere(0.02)),
    Stream("2 %, p = .02", same(0.02), everywhere(0.02)),
    Stream("2 %, p = .1", same(0.02), everywhere(0.1)),
    Stream("common (30 %), p = .05", same(0.3), everywhere(0.05)),
    Stream("ranked, exponential, floor .02", lambda rank: 0.3 * np.exp(-6 * rank), exponential),
    Stream("p depends on the last finds", same(0.02), eager),
    Stream("p falls once the estimate is high", same(0.02), misleading),
    Stream("p falls from .3 to .014", same(0.02), fading),
    Stream("none", same(0.0), everywhere(0.05)),
    Stream("all", same(1.0), everywhere(0.1)),
)


def simulate(stream: Stream, rng: np.random.Generator, error: float) -> Path:
    """Run a stream once; ``error`` is that of both bounds together."""
    share = stream.prevalence(np.linspace(0, 1, N_ROWS))
    rounds, chances, floors, truth = [], [], np.empty(N_ROUNDS), np.empty(N_ROUNDS, dtype=int)
    estimate, n_finds = 0.0, 0
    for round in range(N_ROUNDS):
        p = stream.chances(round, n_finds, estimate)
        counts = rng.random(N_ROWS) < share
        found = p[counts & (rng.random(N_ROWS) < p)]
        rounds.append(np.full(found.size, round))
        chances.append(found)
        estimate, n_finds = estimate + float(np.sum(1 / found)), found.size
        floors[round], truth[round] = p.min(), counts.sum()
    truth = np.cumsum(truth)
    finds = Finds(np.concatenate(rounds), np.concatenate(chances))
    return Path(
        truth,
        estimated(finds, N_ROUNDS),
        bounded_below(finds, floors, error / 2),
        bounded_above(finds, floors, error / 2),
        normal_misses(finds, truth, error),
    )


def normal_misses(finds: Finds, truth: IntArray, error: float) -> bool:
    """Whether the normal approximation, made anew each round from the tenth find on, ever misses."""
    from scipy.stats import norm

    deviation = np.sqrt(finds.total((1 - finds.probability) / finds.probability**2, truth.size))
    apart = np.abs(estimated(finds, truth.size) - truth) > norm.isf(error / 2) * deviation
    enough = finds.total(np.ones(finds.round.size), truth.size) >= 10
    return bool(np.any(apart & enough))


def main() -> None:
    n_runs, error = 2000, 0.05
    sys.stdout.write("| stream | count | estimate | interval | ever wrong | normal approximation ever wrong |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- |\n")
    for seed, stream in enumerate(STREAMS):
        rng = np.random.default_rng(seed)
        paths = [simulate(stream, rng, error) for _ in range(n_runs)]
        truth, estimate, low, high = (
            np.mean([getattr(path, name)[-1] for path in paths]) for name in ("truth", "estimate", "low", "high")
        )
        wrong, normal = (100 * np.mean([getattr(path, name) for path in paths]) for name in ("misses", "normal_misses"))
        sys.stdout.write(
            f"| {stream.name} | {truth:,.0f} | {estimate:,.1f} | {low:,.0f} to {high:,.0f} | "
            f"{wrong:.1f} % | {normal:.1f} % |\n"
        )


if __name__ == "__main__":
    main()
