"""Which surrogate is convex, an upper bound, tight under a margin: counterexamples looked for at random.

A property holds for all score vectors, so one counterexample refutes it and no number of trials proves it; the
findings say which of the two was met. The counterexample kept is the one with the fewest rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riffler.losses import SURROGATES
from riffler.metrics import prec_at_k_loss
from riffler.records import FloatArray, IntArray
from riffler.reproduction import Progress

MARGINS = ("weak", "mean", "strong")
NAMES = ("struct", "ramp", "avg", "max")
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Labels, k and score vectors at which a property fails, and the two numbers that show it."""

    labels: tuple[int, ...]
    k: int
    vectors: tuple[tuple[float, ...], ...]
    words: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found: ``margin`` is empty for convexity and the upper bound."""

    surrogate: str
    quality: str  # convex, upper_bound or tight
    margin: str
    trials: int
    failures: int
    counterexample: Counterexample | None

    @property
    def holds(self) -> bool:
        """No counterexample was met."""
        return self.failures == 0


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A random problem: labels, k, and two score vectors without ties."""

    labels: IntArray
    k: int
    scores: FloatArray
    other: FloatArray
    slack: float


def search(trials: int, seed: int, progress: Progress = lambda share, doing: None) -> list[Finding]:
    """Look for counterexamples to each property of each surrogate in ``trials`` random cases.

    >>> findings = search(trials=200, seed=0)
    >>> [f.surrogate for f in findings if f.quality == "convex" and not f.holds]
    ['ramp']
    """
    keys = [(name, quality, margin) for name in NAMES for quality, margin in _qualities()]
    met: dict[tuple[str, str, str], list[Counterexample]] = {key: [] for key in keys}
    for number, case in enumerate(_cases(trials, seed)):
        if number % 500 == 0:
            progress(number / trials, "searching counterexamples")
        for key in keys:
            found = _refute(*key, case)
            if found is not None:
                met[key].append(found)
    return [Finding(*key, trials, len(found), min(found, key=_size) if found else None) for key, found in met.items()]


def margin_vector(margin: str, scores: FloatArray, labels: IntArray, k: int, gap: float) -> FloatArray:
    """Move positives up or down together until the margin of that kind is ``gap`` (for weak: at least).

    weak: the best k positives; mean: the mean of the worst n+ - k + 1; strong: the worst positive; each is compared
    with the best negative.

    >>> margin_vector("strong", np.array([0.0, 5.0, 3.0]), np.array([0, 1, 1]), k=1, gap=1.0)
    array([0., 3., 1.])
    """
    moved = scores.copy()
    best_negative = scores[labels == 0].max()
    positives = np.flatnonzero(labels)
    positives = positives[np.argsort(-scores[positives])]
    if margin == "weak":
        moved[positives[:k]] += best_negative + gap - scores[positives[k - 1]]
    elif margin == "mean":
        moved[positives] += best_negative + gap - scores[positives[k - 1 :]].mean()
    else:
        moved[positives] += best_negative + gap - scores[positives[-1]]
    return moved


def _qualities() -> list[tuple[str, str]]:
    return [("convex", ""), ("upper_bound", ""), *(("tight", margin) for margin in MARGINS)]


def _cases(trials: int, seed: int) -> Iterator[Case]:
    """Half on a grid of halves with few rows, to be read easily; half larger with any scores."""
    rng = np.random.default_rng(seed)
    for number in range(trials):
        coarse = number % 2 == 0
        n_positive, n_negative = (int(count) for count in rng.integers(1, 4 if coarse else 13, size=2))
        n = n_positive + n_negative
        labels = rng.permutation(np.repeat([1, 0], [n_positive, n_negative]))
        if coarse:
            scores, other = (rng.choice(np.arange(-10, 11) / 2, size=n, replace=False) for _ in range(2))
        else:
            scores, other = rng.normal(scale=rng.choice([0.3, 1.0, 3.0]), size=(2, n))
        slack = float(rng.integers(0, 3)) / 2
        yield Case(labels, int(rng.integers(1, n_positive + 1)), scores, other, slack)


def _refute(name: str, quality: str, margin: str, case: Case) -> Counterexample | None:
    if quality == "convex":
        return _not_convex(name, case)
    if quality == "upper_bound":
        return _not_above(name, case)
    return _not_tight(name, margin, case)


def _not_convex(name: str, case: Case) -> Counterexample | None:
    middle = _value(name, (case.scores + case.other) / 2, case)
    chord = (_value(name, case.scores, case) + _value(name, case.other, case)) / 2
    if middle <= chord + NEAR:
        return None
    return _example(case, [case.scores, case.other], f"{middle:.4g} half way, {chord:.4g} on the chord")


def _not_above(name: str, case: Case) -> Counterexample | None:
    value, loss = _value(name, case.scores, case), prec_at_k_loss(case.labels, case.scores, case.k)
    if value >= loss - NEAR:
        return None
    return _example(case, [case.scores], f"surrogate {value:.4g}, loss {loss:.4g}")


def _not_tight(name: str, margin: str, case: Case) -> Counterexample | None:
    """Take the class of two score vectors of which one has the unit margin: both smallest values must be 0."""
    with_margin = margin_vector(margin, case.scores, case.labels, case.k, 1.0 + case.slack)
    lowest = min(_value(name, scores, case) for scores in (with_margin, case.other))
    if abs(lowest) <= NEAR:
        return None
    return _example(case, [with_margin, case.other], f"smallest surrogate {lowest:.4g}, smallest loss 0")


def _value(name: str, scores: FloatArray, case: Case) -> float:
    return SURROGATES[name]().value_and_slope(scores, case.labels, case.k)[0]


def _example(case: Case, vectors: list[FloatArray], words: str) -> Counterexample:
    rounded = tuple(tuple(round(float(score), 3) for score in vector) for vector in vectors)
    return Counterexample(tuple(int(label) for label in case.labels), case.k, rounded, words)


def _size(example: Counterexample) -> tuple[int, int, float]:
    """Fewest rows first, then the fewest digits, then the smallest numbers."""
    scores = [abs(score) for vector in example.vectors for score in vector]
    return len(example.labels), sum(len(f"{score:g}") for score in scores), sum(scores)
