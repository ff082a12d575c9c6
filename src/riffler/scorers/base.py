"""What an online learner keeps: a function that scores rows, and grows by multiples of rows."""

from __future__ import annotations

from typing import Protocol

from riffler.features.blocks import Scaling
from riffler.records import FloatArray, Matrix


class Scorer(Protocol):
    """A scoring function ``f`` in the space of some features phi, zero at first."""

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row, float64 of shape (n_rows,)."""
        ...

    def add(self, X: Matrix, amounts: FloatArray) -> None:
        """Let f grow by the sum of ``amounts[i] * phi(X[i])``."""
        ...


class Kernel(Protocol):
    """A choice of features; ``start`` makes a scorer from the first rows, whose labels nobody has seen."""

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> Scorer:
        """Return a scorer that is zero everywhere."""
        ...
