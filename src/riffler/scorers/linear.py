"""A linear score of standardised columns; the rows themselves are never copied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.features.blocks import Scaling
from riffler.records import FloatArray, Matrix


@dataclass(frozen=True, slots=True)
class Linear:
    """The columns as features, shifted and scaled."""

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> LinearScorer:
        """Return a scorer with all weights 0."""
        return LinearScorer(scaling)


class LinearScorer:
    """``f(x) = w . (x - center) / scale``; centring and scaling are folded into the weights."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.weights: FloatArray = np.zeros(scaling.scale.shape[0])

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row, by the one compiled row loop."""
        from riffler._fast.rows import as_rows, scores_of_all

        folded, offset = self.scaling.fold(self.weights[:, None])
        scores = np.empty(X.shape[0])
        scores_of_all(as_rows(X), X.shape[0], folded[:, 0], scores)
        if offset[0] != 0.0:
            scores += offset[0]
        return scores

    def add(self, X: Matrix, amounts: FloatArray) -> None:
        """Let w grow by the sum of ``amounts[i]`` times row i."""
        total = np.asarray(X.T @ amounts, dtype=float).ravel()
        if self.scaling.center is not None:
            total -= amounts.sum() * self.scaling.center
        self.weights += total / self.scaling.scale
