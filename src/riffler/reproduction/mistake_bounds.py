"""Perceptron@k-avg against its two bounds: updates on separable streams, mistakes on any stream.

With rows of norm at most 1 and a precision-at-k margin gamma (the mean of any n+ - k + 1 positives of a batch beats its
negatives by gamma), updates and mistakes stay within 4 k / gamma^2. On any stream, and for every w,

    mistakes <= (|w| sqrt(4 k) + sqrt(sum of w's avg surrogates over the batches))^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riffler.learners.perceptron_at_k import PerceptronAtK
from riffler.losses import Avg
from riffler.records import FloatArray, IntArray
from riffler.reproduction import Progress
from riffler.reproduction.surrogate_properties import margin_vector

Batch = tuple[FloatArray, IntArray]
N_FEATURES = 50
COMPARED_NORMS = tuple(2.0**power for power in range(-2, 8))
"""Norms of the true direction that the bound is minimised over; any w gives a valid bound."""


@dataclass(frozen=True, slots=True)
class SeparableRun:
    """A run until no mistake is left: ``stream`` is random, or chosen step by step by an adversary."""

    stream: str
    k: int
    gamma: float
    seed: int
    updates: int
    mistakes: float
    bound: float  # 4 k / gamma^2
    without_square: float  # 2 sqrt(k) / gamma


@dataclass(frozen=True, slots=True)
class MistakeCurve:
    """Cumulative mistakes on a stream with wrong labels, after each number of batches in ``batches``."""

    k: int
    seed: int
    batches: tuple[int, ...]
    mistakes: tuple[float, ...]
    bound: tuple[float, ...]
    without_square: tuple[float, ...]


def separable_runs(
    gammas: Sequence[float], ks: Sequence[int], seeds: Sequence[int], progress: Progress = lambda share, doing: None
) -> list[SeparableRun]:
    """Run both kinds of stream for every margin and k; the random one for every seed."""
    settings = [(k, gamma) for k in ks for gamma in gammas]
    runs = []
    for number, (k, gamma) in enumerate(settings):
        progress(number / len(settings), f"perceptron, k = {k}, margin {gamma}")
        bounds = 4 * k / gamma**2, 2 * k**0.5 / gamma
        for seed in seeds:
            batches = random_batches(k, gamma, n_batches=20, seed=seed)
            runs.append(SeparableRun("random", k, gamma, seed, *_until_right(batches, k, seed), *bounds))
        runs.append(SeparableRun("adversary", k, gamma, 0, *_against_adversary(k, gamma), *bounds))
    return runs


def random_batches(k: int, gamma: float, n_batches: int, seed: int) -> list[Batch]:
    """Draw batches of unit rows whose precision-at-k margin along the first axis is gamma, exactly."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [2 * k, 6 * k + 10])
    batches = []
    for _ in range(n_batches):
        along = margin_vector("mean", gamma / 3 * rng.normal(size=len(labels)), labels, k, gamma)
        along -= (along.max() + along.min()) / 2
        sideways = rng.normal(size=(len(labels), N_FEATURES - 1))
        sideways *= (np.sqrt(1 - along**2) / np.linalg.norm(sideways, axis=1))[:, None]
        batches.append((np.column_stack([along, sideways]), labels))
    return batches


def mistake_curve(k: int, n_batches: int, seed: int) -> MistakeCurve:
    """Follow the perceptron on a stream in which a tenth of the labels is wrong, beside the two bounds."""
    perceptron = PerceptronAtK(k, average=False, random_state=seed)
    mistakes, surrogates, largest_norm = np.empty(n_batches), np.empty((n_batches, len(COMPARED_NORMS))), 0.0
    for number, (X, labels) in enumerate(_noisy_batches(k, n_batches, seed)):
        mistakes[number] = perceptron.partial_fit(X, labels, classes=[0, 1]).mistakes_
        surrogates[number] = [Avg().value(norm * X[:, 0], labels, k) for norm in COMPARED_NORMS]
        largest_norm = max(largest_norm, float(np.linalg.norm(X, axis=1).max()))
    roots = np.array(COMPARED_NORMS) * largest_norm * np.sqrt(4 * k) + np.sqrt(np.cumsum(surrogates, axis=0))
    shown = np.unique(np.geomspace(1, n_batches, 60).round().astype(int))
    bound, without = (roots**2).min(axis=1), roots.min(axis=1)
    columns = (tuple(float(value) for value in values[shown - 1]) for values in (mistakes, bound, without))
    return MistakeCurve(k, seed, tuple(int(number) for number in shown), *columns)


def _until_right(batches: list[Batch], k: int, seed: int) -> tuple[int, float]:
    """Pass over the batches until one pass is free of mistakes; the lemma says that this ends."""
    perceptron, before = PerceptronAtK(k, average=False, random_state=seed), -1.0
    for _ in range(2000):
        for X, labels in batches:
            perceptron.partial_fit(X, labels, classes=[0, 1])
        if perceptron.mistakes_ == before:
            break
        before = perceptron.mistakes_
    return perceptron.n_updates_, perceptron.mistakes_


def _against_adversary(k: int, gamma: float) -> tuple[int, float]:
    """Let k equal positives and k equal negatives differ by 2 c v + gamma w*, with v such that w just errs.

    The part of v against w is as small as an error allows, so |w|^2 grows by nearly 4 k^2 each time: the bound is met
    almost with equality. It ends when w has grown so far along w* that no v of norm 1 makes it err.
    """
    perceptron, labels = PerceptronAtK(k, average=False, random_state=0), np.repeat([1, 0], k)
    w, length = np.zeros(4), np.sqrt(1 - gamma**2 / 4)
    while True:
        sideways = np.append(0.0, w[1:])
        norm = float(np.linalg.norm(sideways))
        against = (gamma * w[0] + 1e-9) / (2 * length * norm) if norm > 0 else 0.0
        if against > 1:
            return perceptron.n_updates_, perceptron.mistakes_
        fresh = np.array([0.0, -w[2], w[1], 0.0]) if norm > 0 else np.array([0.0, 1.0, 0.0, 0.0])
        if np.linalg.norm(fresh) == 0:
            fresh = np.array([0.0, 0.0, 0.0, 1.0])
        v = np.sqrt(1 - against**2) * fresh / np.linalg.norm(fresh)
        if norm > 0:
            v -= against * sideways / norm
        positive = length * v + np.array([gamma / 2, 0, 0, 0])
        negative = -length * v - np.array([gamma / 2, 0, 0, 0])
        X = np.vstack([np.tile(positive, (k, 1)), np.tile(negative, (k, 1))])
        w = perceptron.partial_fit(X, labels).coef_[0]


def _noisy_batches(k: int, n_batches: int, seed: int) -> Iterator[Batch]:
    rng = np.random.default_rng(seed)
    n_rows = 10 * k
    for _ in range(n_batches):
        X = rng.normal(size=(n_rows, 10))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        labels = np.zeros(n_rows, dtype=int)
        labels[np.argsort(-X[:, 0])[: 3 * k]] = 1
        wrong = rng.random(n_rows) < 0.1
        labels[wrong] = 1 - labels[wrong]
        if labels.sum() < k:  # the bound needs k positives in a batch
            labels[np.argsort(-X[:, 0])[:k]] = 1
        yield X, labels
