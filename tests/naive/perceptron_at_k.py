"""The perceptron at k of ALGORITHMS 3.1 with every row written out as often as it weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from riffler.records import FloatArray, IntArray


@dataclass
class NaivePerceptron:
    """``key(step, row)`` orders tied rows at the cut, ``key(-step, row)`` the random pick; the highest goes first."""

    surrogate: str
    pick: str
    key: Callable[[int, int], float]
    w: FloatArray
    mistakes: int = 0
    n_updates: int = 0
    iterates: list[FloatArray] = field(default_factory=list)

    def see(self, X: FloatArray, labels: IntArray, weight: FloatArray, batch: IntArray, k: float) -> None:
        rows = [int(i) for i in batch for _ in range(int(weight[i]))]
        n_pos = sum(int(labels[i]) for i in rows)
        if n_pos == 0:
            return
        k_here = min(max(1, round(k * n_pos)) if isinstance(k, float) else k, n_pos)
        step = len(self.iterates) + 1
        score = {i: float(X[i] @ self.w) for i in rows}
        ranked = sorted(rows, key=lambda i: (-score[i], -self.key(step, i)))
        false_positives = [i for i in ranked[:k_here] if labels[i] == 0]
        missed = [i for i in ranked[k_here:] if labels[i] == 1]
        n_wrong = len(false_positives)
        self.mistakes += n_wrong
        if n_wrong:
            self.n_updates += 1
            if self.surrogate == "avg":
                change = n_wrong / len(missed) * X[missed].sum(axis=0)
            else:
                change = X[self._picked(missed, score, step)[:n_wrong]].sum(axis=0)
            self.w = self.w + change - X[false_positives].sum(axis=0)
        self.iterates.append(self.w)

    def _picked(self, missed: list[int], score: dict[int, float], step: int) -> list[int]:
        first: dict[str, Callable[[int], float]] = {
            "top": lambda i: -score[i],
            "bottom": lambda i: score[i],
            "random": lambda i: -self.key(-step, i),
        }
        return sorted(missed, key=first[self.pick])

    @property
    def average(self) -> FloatArray:
        mean: FloatArray = np.mean(self.iterates, axis=0)
        return mean
