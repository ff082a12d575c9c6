"""SGD on a precision-at-k surrogate with the weights and the sum of the iterates kept plainly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from riffler.records import FloatArray, IntArray, Matrix


def value_and_slope(
    name: str, scores: FloatArray, labels: IntArray, k: int, weight: FloatArray
) -> tuple[float, FloatArray]:
    """Closed forms of ALGORITHMS 2.2 on rows written out as often as they weigh; tied rows get their mean slope."""
    rows = np.repeat(np.arange(len(scores)), weight.astype(int))
    s, positive = scores[rows], labels[rows] > 0
    pos = np.flatnonzero(positive)[np.argsort(-s[positive])]
    neg = np.flatnonzero(~positive)[np.argsort(-s[~positive])]
    n_pos, most = len(pos), min(k, len(neg))
    slope = np.zeros(len(rows))
    if name == "avg":
        values = [0.0]
        values += [D + s[neg[:D]].sum() - D * s[pos[k - D :]].mean() for D in range(1, most + 1)]
        used = int(np.argmax(values))
        value = float(values[used])
        slope[pos[k - used :]] = -used / max(n_pos - k + used, 1)
    else:
        against = pos[n_pos - most :][::-1] if name == "max" else pos[k - most : k][::-1]
        terms = np.maximum(0.0, 1 + s[neg[:most]] - s[against])
        used = int(np.count_nonzero(terms))
        value = float(terms.sum())
        first, last = (n_pos - used, n_pos) if name == "max" else (k - used, k)
        if name == "struct":
            value -= float(s[pos[k:]].sum())
            last = n_pos
        slope[pos[first:last]] = -1.0
    slope[neg[:used]] = 1.0
    for tied in ((s == score) & (positive == label) for score in np.unique(s) for label in (True, False)):
        if tied.any():
            slope[tied] = slope[tied].mean()
    folded: FloatArray = np.zeros(len(scores))
    np.add.at(folded, rows, slope)
    return value, folded


@dataclass(frozen=True)
class NumpySurrogate:
    """A user's own surrogate: no code, so that learners call its method."""

    name: str

    def value_and_slope(
        self, scores: FloatArray, labels: IntArray, k: float, weight: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        assert k == int(k)
        weight = np.ones(len(scores)) if weight is None else weight
        return value_and_slope(self.name, np.asarray(scores), labels, int(k), weight)


@dataclass
class NaiveSGD:
    """Step t: w <- project((1 - step decay) w - step slope / k) with step = first / sqrt(t); the sum counts every w."""

    name: str
    first: float
    decay: float
    radius: float
    w: FloatArray
    iterates: list[FloatArray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def see(self, X: Matrix, labels: IntArray, weight: FloatArray, k: float) -> None:
        """Take one step on a batch; a float k is a share of its positives, a batch without positives is passed by."""
        n_pos = weight[labels > 0].sum()
        if n_pos == 0:
            return
        k_here = int(min(max(1, round(k * n_pos)) if isinstance(k, float) else k, n_pos))
        value, slope = value_and_slope(self.name, np.asarray(X @ self.w), labels, k_here, weight)
        step = self.first / np.sqrt(len(self.iterates) + 1)
        w = (1 - step * self.decay) * self.w - step * (X.T @ slope) / k_here
        norm = float(np.linalg.norm(w))
        self.w = w * min(1.0, self.radius / norm) if norm > 0 else w
        self.iterates.append(self.w)
        self.losses.append(value / k_here)

    def see_all(self, X: Matrix, labels: IntArray, weight: FloatArray, batches: Iterable[IntArray], k: float) -> None:
        for rows in batches:
            self.see(X[rows], labels[rows], weight[rows], k)
