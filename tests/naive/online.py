"""The online active perceptrons of ALGORITHMS 6.1 and 6.2 row by row, on rows that carry their constant column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from riffler.records import FloatArray

Answer = Callable[[int], int]
"""Label of a row: 1, 0 or -1 for unknown."""


@dataclass
class NaiveSelective:
    """``b`` is a number, or None for ``beta * X^2 * sqrt(1 + updates)``."""

    w: FloatArray
    b: float | None
    beta: float = 0.0
    largest: float = 0.0
    n_updates: int = 0
    asked: list[tuple[int, float]] = field(default_factory=list)

    def see(self, rows: FloatArray, draws: FloatArray, answer: Answer) -> None:
        for i, x in enumerate(rows):
            self.largest = max(self.largest, float(x @ x))
            b = self.beta * self.largest * np.sqrt(1 + self.n_updates) if self.b is None else self.b
            margin = float(self.w @ x)
            probability = 1.0 if np.isinf(b) else b / (b + abs(margin))
            if draws[i] < probability:
                self.asked.append((i, probability))
                told = answer(i)
                sign = {1: 1, 0: -1, -1: 0}[told]
                if sign != 0 and sign * margin <= 0:
                    self.w = self.w + sign * x
                    self.n_updates += 1


@dataclass
class NaiveModified:
    """Rows are scaled to norm 1 here."""

    w: FloatArray
    threshold: float
    patience: int
    n_right: int = 0
    asked: list[int] = field(default_factory=list)

    def see(self, rows: FloatArray, answer: Answer) -> None:
        for i, row in enumerate(rows):
            x = row / np.linalg.norm(row)
            margin = float(self.w @ x)
            if abs(margin) > self.threshold:
                continue
            self.asked.append(i)
            told = answer(i)
            if told == -1:
                continue
            sign = 2 * told - 1
            if not self.w.any():
                self.w = sign * x
            elif sign * margin > 0:
                self.n_right += 1
            else:
                self.w = self.w - 2 * margin * x
                self.n_right = 0
            if self.n_right == self.patience:
                self.threshold /= 2
                self.n_right = 0
