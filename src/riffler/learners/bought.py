"""Every label that was bought so far, with its row: what a model is refitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from riffler.ledger import UNKNOWN
from riffler.records import FloatArray, IntArray, Matrix, is_sparse


@dataclass(frozen=True, slots=True, eq=False)
class Bought:
    """Rows as they came, their labels 0/1, and when and with which chance each was bought."""

    X: Matrix
    labels: IntArray
    rounds: IntArray
    probability: FloatArray

    @classmethod
    def nothing(cls, X: Matrix) -> Bought:
        """Start without a label; X only says what rows look like."""
        none = np.empty(0)
        return cls(X[:0], none.astype(np.int8), none.astype(np.int64), none)

    def more(self, X: Matrix, labels: IntArray, round: int, probability: FloatArray) -> Bought:
        """Return these labels and some more; unknown answers are left out."""
        told = np.flatnonzero(labels != UNKNOWN)
        return Bought(
            stacked(self.X, X[told]),
            np.append(self.labels, labels[told]),
            np.append(self.rounds, np.full(told.size, round)),
            np.append(self.probability, probability[told]),
        )

    def since(self, round: int) -> Bought:
        """Return the labels bought in this round or later."""
        kept = np.flatnonzero(self.rounds >= round)
        return Bought(self.X[kept], self.labels[kept], self.rounds[kept], self.probability[kept])

    @property
    def has_both(self) -> bool:
        """Whether there is a relevant and an irrelevant row."""
        return bool(self.labels.size and self.labels.min() != self.labels.max())

    def weights(self, weighting: str) -> FloatArray:
        """How much each label counts in a refit."""
        return WEIGHTINGS[weighting](self.probability)

    def __len__(self) -> int:
        return len(self.labels)


WEIGHTINGS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "equal": np.ones_like,
    # cut: one label drawn with a chance of a thousandth must not outweigh all others
    "inverse": lambda probability: np.minimum(1.0 / probability, 10.0),
}


def stacked(above: Matrix, below: Matrix) -> Matrix:
    """Put rows under rows, dense or sparse; the first decide which."""
    if is_sparse(above):
        return sparse.vstack([above, sparse.csr_matrix(below)], format="csr")
    return np.vstack([above, below.toarray() if is_sparse(below) else below])
