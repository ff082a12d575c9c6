"""The active perceptron at k of ALGORITHMS 5.1 to 5.5, a row at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riffler import PaperReadings
from riffler.records import FloatArray, IntArray


def by_sorting(weights: FloatArray, n_expected: float, floor: float) -> FloatArray:
    """ALGORITHMS 5.3: give 1 to the t heaviest rows, for the first t at which the scaled next one stays below."""
    n = weights.size
    left, room = min(n_expected, n) - floor * n, 1 - floor
    if left <= 0:
        return np.full(n, floor)
    if not weights.any():
        weights = np.ones(n)
    order = np.argsort(-weights)
    probability = np.full(n, floor)
    for t in range(n):
        rest = weights[order[t:]].sum()
        if rest == 0:
            break
        scale = max(0.0, left - room * t) / rest
        if scale * weights[order[t]] <= room:
            probability[order[t:]] = floor + scale * weights[order[t:]]
            break
        probability[order[t]] = 1.0
    return probability


@dataclass
class NaiveActive:
    """``weight`` of a gap, or None for the sequential walk; ``tie`` orders the top, ``draw`` samples."""

    w: FloatArray
    k: int
    weight: Callable[[float], float] | None
    n_queries: str | int | float
    floor: float
    balance: str
    readings: PaperReadings

    def step(
        self, X: FloatArray, labels: IntArray, tie: FloatArray, draw: FloatArray
    ) -> tuple[list[int], dict[int, float]]:
        """Return the predicted rows, and each asked row in asking order with its probability."""
        score = [float(x @ self.w) for x in X]
        ranked = sorted(range(len(X)), key=lambda i: (-score[i], tie[i]))
        top, below = ranked[: self.k], sorted(ranked[self.k :])
        wrong = [i for i in top if labels[i] == 0]
        spread = float(np.std(score)) or 1.0
        gap = {i: (score[top[-1]] - score[i]) / spread for i in below}
        if self.readings.growing:
            gap = {i: max(gap.values()) - gap[i] for i in below}
        asked = dict.fromkeys(top, 1.0)
        if self.weight is None:
            asked |= self._walk(below, gap, labels, draw, len(wrong))
        else:
            chances = self._chances([self.weight(gap[i]) for i in below], len(wrong))
            asked |= {i: p for i, p in zip(below, chances, strict=True) if draw[i] < p}
        added = [i for i in list(asked)[len(top) :] if labels[i] == 1 or (self.readings.any_label and labels[i] == 0)]
        if self.readings.capped:
            added = sorted(added, key=lambda i: (-score[i], draw[i]))[: len(wrong)]
        self._update(X, wrong, added, asked)
        return top, asked

    def _walk(
        self, below: list[int], gap: dict[int, float], labels: IntArray, draw: FloatArray, wanted: int
    ) -> dict[int, float]:
        walked: dict[int, float] = {}
        for i in sorted(below, key=lambda i: (gap[i], draw[i])):
            if sum(labels[j] == 1 for j in walked) == wanted:
                break
            walked[i] = 1.0
        return walked

    def _chances(self, weights: list[float], n_wrong: int) -> FloatArray:
        if not self.readings.normalised and n_wrong > 0:
            return np.array([min(1.0, max(weight, self.floor)) for weight in weights])
        many: dict[str, float] = {"mistakes": n_wrong, "k": self.k}
        if isinstance(self.n_queries, str):
            expected = many[self.n_queries]
        else:
            expected = self.n_queries * n_wrong if isinstance(self.n_queries, float) else self.n_queries
        return by_sorting(np.array(weights), expected if n_wrong > 0 else 0.0, self.floor)

    def _update(self, X: FloatArray, wrong: list[int], added: list[int], asked: dict[int, float]) -> None:
        n_wrong = len(wrong)
        if n_wrong == 0 or (self.balance != "none" and not added):
            return
        up, down = X[added].sum(axis=0), X[wrong].sum(axis=0)
        if self.balance == "scale":
            down = down * len(added) / n_wrong
        elif self.balance == "mean":
            up = n_wrong * up / len(added)
        elif self.balance == "ipw":
            up = n_wrong * sum(X[i] / asked[i] for i in added) / sum(1 / asked[i] for i in added)
        self.w = self.w + up - down
